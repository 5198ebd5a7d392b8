// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/** For programs whose last report matters, and not that it holds up the exit for two seconds at most. */
public final class PatientExit {

    private static final long MILLIS = 120_000;

    private PatientExit() {}

    /** Lets the exit of this JVM wait for last reports as long as they take. To be called before a sampler starts. */
    public static void set() {
        ExitReport.setLongestMillis(MILLIS);
    }
}
