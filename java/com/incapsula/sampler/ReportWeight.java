// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * What a stack weighs in the formats with one number per stack.
 *
 * @since 1.0
 */
public enum ReportWeight {

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
    IDLE
}
