// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.Recorder;
import counted.Work;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

    /** Of methods of a microsecond, ten, a millisecond and a tenth of a second. */
    @ParameterizedTest
    @EnumSource(names = {"SAMPLED", "EXACT"})
    void timesPerCallAreThoseOfTheProgramsClock(MethodTiming timing) throws IOException {
        try (ThreadsSampler sampler = counting(timing, "counted.Work.known")) {
            Work.Known known = new Work.Known();
            warmUp(sampler, () -> Work.known(new Work.Known()));
            double reading = Work.Known.readingNanos();
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (System.nanoTime() < until) {
                Work.known(known);
            }
            try (SamplingReport report = sampler.snapshot()) {
                String text = report.toString(ReportFormat.TEXT);
                for (int i = 0; i < Work.METHODS.length; i++) {
                    String method = Work.METHODS[i];
                    double took = (known.nanos[i] / (double) known.calls[i] + reading) / 1000;
                    double perCall = counted(text, method, "Time per call\\(us\\): ([0-9.]+)");
                    System.out.printf(
                            "%s %s: %.3f us by its own clock, %.3f counted, %+.2f %%%n",
                            timing, method, took, perCall, 100 * (perCall / took - 1));
                    assertThat(perCall).as(method + " of " + text).isCloseTo(took, withinPercentage(6));
                }
            }
        }
    }

    /** The time inside of probes is a line of its own, and in no row. */
    @ParameterizedTest
    @EnumSource(names = {"SAMPLED", "EXACT"})
    void theTimeInsideOfHooksIsInNoRow(MethodTiming timing) throws IOException {
        try (ThreadsSampler sampler = counting(timing, "counted.Work.hot, counted.Work.busy")) {
            warmUp(sampler, () -> Work.hot(1000));
            long start = System.nanoTime();
            while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS / 3)) {
                Work.hot(1_000_000);
            }
            long took = System.nanoTime() - start;
            try (SamplingReport report = sampler.snapshot()) {
                String text = report.toString(ReportFormat.TEXT);
                double share = hookShare(text) / 100;
                double rows = counted(text, "hot", "Cumulative time\\(ms\\): (\\d+)") * 1e6;
                System.out.printf("%s: hook share %.2f, rows %.0f ms of %.0f%n", timing, share, rows / 1e6, took / 1e6);
                /* Sampled hooks may be compiled away almost. */
                assertThat(share).isGreaterThan(timing == MethodTiming.EXACT ? 0.1 : -1);
                assertThat(rows / (1 - share)).as(text).isCloseTo(took, withinPercentage(5));
            }
            Work.busy(500_000_000, 1_000_000);
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(hookShare(report.toString(ReportFormat.TEXT))).isLessThan(2);
            }
        }
    }

    private static ThreadsSampler counting(MethodTiming timing, String roots) {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        sampler.setMethodTiming(timing);
        sampler.setRootMethods(roots);
        sampler.init();
        return sampler;
    }

    /* Until the JIT compilers have compiled it again, with its probes. */
    private static void warmUp(ThreadsSampler sampler, Runnable root) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
        while (System.nanoTime() < until) {
            root.run();
        }
        CallCounts.take(sampler);
    }

    /* Percent; 0: none was seen. */
    private static double hookShare(String text) {
        Matcher line = Pattern.compile("hook share: (\\d+) %").matcher(text);
        return line.find() ? Double.parseDouble(line.group(1)) : 0;
    }

    private static double counted(String text, String method, String figure) {
        Matcher row = Pattern.compile("counted\\.Work\\." + method + "\\([^)]*\\) .*?" + figure)
                .matcher(text.substring(text.indexOf("Counted thread: ")));
        assertThat(row.find()).as(text).isTrue();
        return Double.parseDouble(row.group(1));
    }

    private static double share(double part, double rest) {
        return 100 * part / (part + rest);
    }

    private static double countedMillis(SamplingReport report, String method) {
        return counted(report.toString(ReportFormat.TEXT), method, "Cumulative time\\(ms\\): (\\d+)");
    }

    private static long sampledNanos(SamplingReport report, String method) {
        return CallCounts.weighed(report, ReportWeight.WALL).entrySet().stream()
                .filter(row -> row.getKey().contains(method))
                .mapToLong(row -> row.getValue())
                .sum();
    }
}
