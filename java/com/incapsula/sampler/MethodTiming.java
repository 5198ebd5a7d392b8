// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * Where the times of counted calls come from.
 *
 * @since 1.0
 */
public enum MethodTiming {

    /**
     * At each tick of the sampler a thread's time since the last tick goes to the counted method that it runs: wall
     * time, and CPU time if it uses a CPU. The application reads a clock at roots only. Times are right on average, and
     * most right for the methods that take most.
     */
    SAMPLED,

    /**
     * A time stamp at each entry and exit: wall time of each call, for 20 to 80 ns more a call, by the processor, where
     * its time stamp counter can be used. There is no CPU time: reading a thread's CPU clock would cost a microsecond a
     * call. So {@code init()} refuses it together with {@link SamplingClock#CPU}, with which all times are CPU times.
     */
    EXACT,

    /** Counts only; roots have their times all the same. */
    NONE
}
