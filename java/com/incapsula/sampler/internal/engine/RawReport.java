// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportMeasure;
import java.util.Arrays;
import java.util.List;

/**
 * The figures of a snapshot, in the core's order.
 *
 * @param figures see {@link NativeBridge#snapshotFigures}
 * @param measures names, see {@link NativeBridge#measureNames}; empty if the sampler cannot sample
 * @param groups sampled groups
 * @param counted groups with counted calls
 * @param holders groups whose threads have held locks
 * @param accountNames see {@link NativeBridge#accountNames}
 * @param account the values, in the same order
 */
@SuppressWarnings("ArrayRecordComponent") // neither compared nor kept
public record RawReport(
        long[] figures,
        List<String> measures,
        Groups groups,
        Groups counted,
        Groups holders,
        List<String> accountNames,
        long[] account) {

    private static final int FIRST_MEASURE = Figure.values().length;

    /**
     * The total of a measure over all groups.
     *
     * @param measure its number
     * @return nanoseconds, or a number
     */
    public long total(int measure) {
        return figures[FIRST_MEASURE + measure];
    }

    /** {@return the total over all groups: nanoseconds, or a number; 0 if the sampler cannot sample} */
    public long total(ReportMeasure measure) {
        return measures.isEmpty() ? 0 : total(measure.ordinal());
    }

    /**
     * The groups of one kind of a snapshot: sampled groups, groups with counted calls, or holders of locks.
     *
     * @param names in descending wall time
     * @param figures of all groups, see {@link NativeBridge#snapshotGroupFigures}
     */
    @SuppressWarnings("ArrayRecordComponent") // neither compared nor kept
    public record Groups(List<String> names, long[] figures) {

        /** No group. */
        public static final Groups NONE = new Groups(List.of(), new long[0]);

        /**
         * The figures of one group.
         *
         * @param index the group's index in {@link #names}
         * @return a copy
         */
        public long[] figuresOf(int index) {
            int width = figures.length / names.size();
            return Arrays.copyOfRange(figures, index * width, (index + 1) * width);
        }
    }

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
}
