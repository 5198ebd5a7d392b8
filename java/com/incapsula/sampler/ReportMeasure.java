// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A number that is summed along the call trees: the one that a format shows if it has one number for each stack, and
 * by which tables are ordered.
 *
 * @since 1.0
 */
public enum ReportMeasure {

    // The measures of the core (native/src/model/measure.h), in their order.

    /** The time the stack was seen, waiting or computing. */
    WALL,
    /** The CPU time spent in it; 0 everywhere where the engine does not measure it. */
    CPU,
    /** How often it was seen: {@link SamplingReport#getSamples()}. */
    SAMPLES,
    /**
     * How often the method at its end was called, from a root method down; nothing where no calls are counted. The
     * stacks are those of the counted trees then, of methods without lines.
     */
    CALLS,
    /** The time on a CPU; like all that follow, a part of the wall time, which is their sum. */
    RUNNING,
    /** The time without a CPU, though the thread wanted one. */
    RUNNABLE,
    /** The time spent waiting for a lock. */
    BLOCKED,
    /** The time spent waiting for a file, a pipe, a socket or the look-up of a name. */
    IO,
    /** The time spent waiting for anything else. */
    WAITING,
    /** The time spent waiting for work. */
    IDLE;

    /**
     * The measure with a name.
     *
     * @param text the name, in upper or lower case; {@code time} is {@link #WALL}
     * @return the measure
     * @throws IllegalArgumentException if there is none, with the names
     */
    public static ReportMeasure of(String text) {
        if ("time".equalsIgnoreCase(text)) {
            return WALL;
        }
        for (ReportMeasure each : values()) {
            if (each.name().equalsIgnoreCase(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException("measure must be one of time, "
                + Arrays.stream(values())
                        .map(each -> each.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", "))
                + ", got \"" + text + "\"");
    }
}
