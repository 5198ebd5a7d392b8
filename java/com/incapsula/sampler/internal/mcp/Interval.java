// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.RecentWindow;
import com.incapsula.sampler.SamplingReport;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A report and the number by which models refer to it.
 *
 * @param number 0 for a window
 * @param report valid until the next call of {@link KeptIntervals}
 * @param window the length of the window; null if the report is not a window
 */
record Interval(int number, SamplingReport report, RecentWindow.@Nullable Length window) {

    private static final String WHOLE = " (the whole time so far)";
    private static final double MILLIS_PER_SECOND = 1000.0;
    private static final long FEW_MILLIS = 2000;

    /** @return a sentence that describes the interval */
    String title() {
        long millis = report.getElapsed().toMillis();
        return String.format(
                Locale.ROOT,
                "Interval %d%s: %.1f s until %s; wall %.1f s, cpu %.1f s in all threads.%s",
                number,
                window == null ? "" : window == RecentWindow.Length.SINCE_START ? WHOLE : " (" + window + ")",
                millis / MILLIS_PER_SECOND,
                report.getTill().truncatedTo(ChronoUnit.SECONDS),
                seconds(report.getWallNanos()),
                seconds(report.getCpuNanos()),
                millis < FEW_MILLIS && number == 0 ? " That is little: call with seconds to sample first." : "");
    }

    private static double seconds(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) / MILLIS_PER_SECOND;
    }
}
