// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;

/** A program that enables sampling of unmounted virtual threads. It runs on any JDK. */
public final class UntrackedProgram {

    private UntrackedProgram() {}

    /** Prints the name of the engine, then ends. */
    public static void main(String[] arguments) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setReportFrequencySeconds(0);
            sampler.setSampleUnmountedVirtualThreads(true);
            sampler.init();
            System.out.println("engine: " + sampler.getStatistics().getEngine());
        }
    }
}
