// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * The source of the times of counted calls.
 *
 * @since 1.0
 */
public enum MethodTiming {

    /**
     * A counted row has the time of the samples that found a thread in its call, with their states and CPU time. So it
     * agrees with the sampled rows of the same method. The application reads a clock only at roots. Times are right on
     * average, and most accurate for the methods that take the most time. They include unmounted virtual threads only
     * if {@link ThreadsSampler#setSampleUnmountedVirtualThreads} samples these.
     */
    SAMPLED,

    /**
     * A time stamp at each entry and exit gives the wall time of each call. A call costs 20 to 30 ns, or up to 56 ns if
     * the processor's counter is slow. The time of a call includes what the two probes do between the stamps, up to
     * 50 ns: a call of a microsecond appears up to 5 % longer. There is no CPU time, because reading a thread's CPU clock would cost a
     * microsecond a call. So {@code init()} refuses this timing together with {@link SamplingClock#CPU}.
     */
    EXACT,

    /** No times, only counts; roots have times nevertheless. */
    NONE
}
