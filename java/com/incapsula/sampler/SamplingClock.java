// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Which time is sampled.
 *
 * @since 1.0
 */
public enum SamplingClock {

    /** Time as it passes: the report has what threads wait for and what they compute. */
    WALL,

    /**
     * Time that threads use a CPU: waiting is not in the report. All times of a report are CPU times. Each thread has a
     * timer of the system on its own CPU time, which interrupts it where it runs; threads that wait are not disturbed.
     * Needs {@link SamplingEngine#AUTO}, and a JVM that allows it.
     */
    CPU
}
