// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportMeasure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line of code, with what its frames have themselves in one thread group of a snapshot.
 *
 * @param text the frame as it is printed
 * @param group the thread group
 * @param className null: a frame in brackets
 * @param method null: a frame in brackets
 * @param line as {@link StackTraceElement} has it: -1 unknown, -2 a native method
 * @param amounts of each measure, see {@link RawReport#measures}
 */
public record HotLine(
        String text,
        String group,
        @Nullable String className,
        @Nullable String method,
        int line,
        List<Long> amounts) {

    /**
     * One of its amounts.
     *
     * @param measure which
     * @return nanoseconds, or how many
     */
    public long of(ReportMeasure measure) {
        return amounts.get(measure.ordinal());
    }
}
