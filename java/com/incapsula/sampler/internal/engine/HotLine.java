// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportMeasure;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A line of code with its own amounts in one thread group of a snapshot.
 *
 * @param text the frame as it is printed
 * @param group the thread group
 * @param className null for a frame in brackets
 * @param method null for a frame in brackets
 * @param line as in {@link StackTraceElement}: -1 unknown, -2 a native method
 * @param amounts by measure, see {@link RawReport#measures}
 */
public record HotLine(
        String text,
        String group,
        @Nullable String className,
        @Nullable String method,
        int line,
        List<Long> amounts) {

    /** {@return one of its amounts: nanoseconds, or a number} */
    public long of(ReportMeasure measure) {
        return amounts.get(measure.ordinal());
    }
}
