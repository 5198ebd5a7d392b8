// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingReport;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A report with the number by which models name it.
 *
 * @param number 0: the whole time so far
 * @param report valid until the next call of {@link KeptIntervals}
 */
record Interval(int number, SamplingReport report) {

    private static final double MILLIS_PER_SECOND = 1000.0;
    private static final long FEW_MILLIS = 2000;

    /** @return a sentence on it */
    String title() {
        long millis = report.getElapsed().toMillis();
        return String.format(
                Locale.ROOT,
                "Interval %d%s: %.1f s until %s; wall %.1f s, cpu %.1f s in all threads.%s",
                number,
                number == 0 ? " (the whole time so far)" : "",
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
