// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.ThreadsSampler;

/** The engine for tests of a running sampler: {@code -Dsampler.test.engine=JVMTI}, or the default one. */
public final class ChosenEngine {

    private static final String PROPERTY = "sampler.test.engine";

    private ChosenEngine() {}

    /** Sets the engine of a sampler. */
    public static void set(ThreadsSampler sampler) {
        String name = System.getProperty(PROPERTY);
        if (name != null) {
            sampler.setEngine(SamplingEngine.valueOf(name));
        }
    }

    /** @return the options that pass the choice on to a child JVM: none or one */
    static String[] option() {
        String name = System.getProperty(PROPERTY);
        return name == null ? new String[0] : new String[] {"-D" + PROPERTY + "=" + name};
    }
}
