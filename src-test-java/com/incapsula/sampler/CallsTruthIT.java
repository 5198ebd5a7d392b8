// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.Recorder;
import counted.Work;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Times of counted trees are those of the sampler's own tree. */
@Measures
class CallsTruthIT {

    private static final long SECONDS = 12;

    @Test
    void sampledTimesAreThoseOfTheSampledTree() throws IOException {
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.setSamplingFrequencyMillis(1);
            sampler.setOverheadLimitPercent(100);
            sampler.setRootMethods("counted.Work.busy");
            sampler.init();
            CallCounts.take(sampler);
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (System.nanoTime() < until) {
                Work.busy(3_000_000, 2_000_000);
            }
            try (SamplingReport report = sampler.snapshot()) {
                double sampled = share(sampledNanos(report, "Work.compute"), sampledNanos(report, "Work.waits"));
                double counted = share(countedMillis(report, "compute"), countedMillis(report, "waits"));
                assertThat(counted).as("percent of compute").isCloseTo(sampled, within(2.0));
            }
        }
    }

    private static double share(double part, double rest) {
        return 100 * part / (part + rest);
    }

    private static long sampledNanos(SamplingReport report, String method) {
        return CallCounts.weighed(report, ReportWeight.WALL).entrySet().stream()
                .filter(row -> row.getKey().contains(method))
                .mapToLong(row -> row.getValue())
                .sum();
    }

    private static long countedMillis(SamplingReport report, String method) {
        String text = report.toString(ReportFormat.TEXT);
        Matcher row = Pattern.compile("counted\\.Work\\." + method + "\\([^)]*\\) +Cumulative time\\(ms\\): (\\d+),")
                .matcher(text.substring(text.indexOf("Counted thread: ")));
        assertThat(row.find()).as(text).isTrue();
        return Long.parseLong(row.group(1));
    }
}
