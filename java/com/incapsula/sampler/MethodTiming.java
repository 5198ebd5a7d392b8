// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Where the times of counted calls come from.
 *
 * @since 1.0
 */
public enum MethodTiming {

    /**
     * A counted row has the time of the samples that found a thread in its call, with their states and CPU time. So it
     * agrees with the sampled rows of the same method. The application reads a clock at roots only. Times are right on
     * average, and most right for the methods that take most. The time of virtual threads that are not mounted is in
     * them only where {@link ThreadsSampler#setSampleUnmountedVirtualThreads} samples these.
     */
    SAMPLED,

    /**
     * A time stamp at each entry and exit: the wall time of each call. A call costs 20 to 30 ns, or up to 56 where the
     * processor's counter is slow. There is no CPU time: reading a thread's CPU clock would cost a microsecond a
     * call. So {@code init()} refuses it together with {@link SamplingClock#CPU}, with which all times are CPU times.
     */
    EXACT,

    /** Counts only; roots have their times all the same. */
    NONE
}
