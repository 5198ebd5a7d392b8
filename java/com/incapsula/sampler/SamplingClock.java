// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/** Which time is sampled. */
public enum SamplingClock {

    /** Time as it passes: what threads wait for is in the report, and what they compute. */
    WALL,

    /**
     * Time that threads use a CPU: what waits is not in the report. All times of a report are CPU times. Each thread
     * has a timer of the system on its own CPU time, which interrupts it where it runs; threads that wait are left
     * alone. Needs {@link SamplingEngine#AUTO}, and a JVM that lets it be.
     */
    CPU
}
