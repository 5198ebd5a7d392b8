// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.options.Values;

/**
 * A number that is summed along the call trees. Formats with one number per stack show one measure, and tables are
 * ordered by one.
 *
 * @since 1.0
 */
public enum ReportMeasure {

    // The measures of the core (native/src/model/measure.h), in their order.

    /** Wall time, whether the thread computes or waits. */
    WALL,
    /** CPU time; 0 if the engine does not measure it. */
    CPU,
    /** The number of samples: {@link SamplingReport#getSamples()}. */
    SAMPLES,
    /**
     * The number of calls of the innermost method, counted from a root method on; 0 if no calls are counted. The stacks
     * are then those of the counted trees, which have methods without lines.
     */
    CALLS,
    /** Time on a CPU. This state and those that follow add up to the wall time. */
    RUNNING,
    /** Time waiting for a CPU. */
    RUNNABLE,
    /** Time waiting for a lock. */
    BLOCKED,
    /** Time waiting for a file, a pipe, a socket or the look-up of a name. */
    IO,
    /** Time waiting for anything else. */
    WAITING,
    /** Time waiting for work. */
    IDLE;

    /**
     * The measure with a name.
     *
     * @param text the name, in upper or lower case; {@code time} is {@link #WALL}
     * @return the measure
     * @throws IllegalArgumentException if there is none, with the names
     */
    public static ReportMeasure of(String text) {
        return "time".equalsIgnoreCase(text) ? WALL : Values.choice("measure", values(), text, "time");
    }
}
