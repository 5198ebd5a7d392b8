// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportMeasure;
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
        RawGroups groups,
        RawGroups counted,
        RawGroups holders,
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
}
