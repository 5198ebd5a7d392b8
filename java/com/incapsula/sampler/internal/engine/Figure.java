// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/** The figures of a snapshot before its measures, in the order of {@link NativeBridge#snapshotFigures}. */
public enum Figure {

    /** Begin, milliseconds since 1970. */
    FROM,
    /** End, milliseconds since 1970. */
    TILL,
    /** Length without pauses, nanoseconds. */
    ELAPSED,
    /** The sampler's own CPU time, nanoseconds. */
    OWN_CPU,
    /** Bytes. */
    MEMORY_USED,
    /** Bytes. */
    MEMORY_LIMIT,
    /** Polls of threads. */
    POLLS,
    /** Thread groups. */
    GROUPS,
    /** Nodes of the call trees. */
    NODES,
    /** 1 if times are CPU times. */
    CPU_CLOCK;

    /** {@return this figure of a snapshot} */
    public long of(RawReport report) {
        return report.figures()[ordinal()];
    }
}
