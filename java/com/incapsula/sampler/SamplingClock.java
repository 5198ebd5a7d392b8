// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Which time is sampled.
 *
 * @since 1.0
 */
public enum SamplingClock {

    /** Wall time: the report shows both waiting and computing. */
    WALL,

    /**
     * CPU time: the report does not show waiting, and all its times are CPU times. Each thread has a timer of the
     * operating system on its CPU time, which interrupts the thread while it runs; waiting threads are not disturbed.
     * Needs {@link SamplingEngine#AUTO} and a JVM that allows interrupting threads.
     */
    CPU
}
