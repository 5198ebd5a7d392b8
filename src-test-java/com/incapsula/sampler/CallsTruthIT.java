// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Work;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Times of counted trees equal those of the sampled tree and of the program's clock. With {@code
 * -Dsampler.test.long=true} the test collects as many samples as {@link #BAR} needs, whatever else the machine does;
 * otherwise it runs for some seconds, and the allowed error follows from the number of samples.
 */
@Measures(besideOthers = true)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class CallsTruthIT {

    static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final long SECONDS = 12;
    private static final long MOST_SECONDS = LONG ? 1200 : SECONDS;
    /** The allowed error of a time, in percent of the time, and of a share, in points. */
    static final double BAR = 2;
    /** The allowed random error, in standard deviations: 6 of 100,000 results are farther off. */
    static final double DEVIATIONS = 4;
    /**
     * The least share of hooks if calls take a nanosecond: two JNI calls, each with a time stamp, take 15 ns or more.
     */
    private static final double EXACT_SHARE = 0.8;
    /**
     * The largest share of hooks without time stamps: 2 ns, and the processor overlaps the unmarked part with other
     * work.
     */
    private static final double SAMPLED_SHARE = 0.05;
    /** The rounding of a row and the rows above it: the text rounds down. */
    private static final int ROUNDING_MILLIS = 3;

    /**
     * Runs the program for some seconds; in the long form also until there were this many ticks. Returns their number.
     */
    static long run(ThreadsSampler sampler, long ticks, Runnable program) {
        long before = Samplers.ticks(sampler);
        long start = System.nanoTime();
        long seconds = 0;
        while (seconds < SECONDS || seconds < MOST_SECONDS && Samplers.ticks(sampler) - before < ticks) {
            program.run();
            seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
        }
        long seen = Samplers.ticks(sampler) - before;
        if (LONG) {
            assertThat(seen).as("ticks in " + seconds + " s").isGreaterThanOrEqualTo(ticks);
        }
        return seen;
    }

    /**
     * Methods that compute and wait, and their callers, beside whatever else wants the CPUs. Callees of {@code known}
     * are compared with the program's clock only ({@link CallTimesTruthIT}), because C2's debug information may
     * attribute their leaf calls to another inlined method, which affects every profiler.
     */
    @Test
    @Order(1) /* First, because code that was compiled before events were on has no information about inlined frames. */
    void timesOfCountedRowsAreThoseOfTheSampledRows() throws IOException {
        List<String> methods = List.of("compute", "waits", "busy", "known");
        Work.Known known = new Work.Known();
        try (ThreadsSampler sampler = counting(MethodTiming.SAMPLED, "counted.Work.busy, counted.Work.known")) {
            Runnable program = () -> {
                Work.known(known);
                for (int i = 0; i < 50; i++) {
                    Work.busy(3_000_000, 2_000_000);
                }
            };
            warmUp(sampler, program);
            run(sampler, 1, program);
            try (SamplingReport report = sampler.snapshot()) {
                for (String method : methods) {
                    double sampled = sampledNanos(report, "Work." + method) / 1e6;
                    double counted = countedMillis(report, method);
                    System.out.printf("%s: %.1f ms sampled, %.1f counted%n", method, sampled, counted);
                    assertThat(counted).as(method).isCloseTo(sampled, within(0.01 * sampled + ROUNDING_MILLIS));
                }
            }
        }
    }

    /** Time inside probes has a line of its own and is in no row. */
    @ParameterizedTest
    @EnumSource(names = {"SAMPLED", "EXACT"})
    void theTimeInsideOfHooksIsInNoRow(MethodTiming timing) throws IOException {
        try (ThreadsSampler sampler = counting(timing, "counted.Work.hot, counted.Work.busy")) {
            warmUp(sampler, () -> Work.hot(1000));
            long start = System.nanoTime();
            long before = Samplers.ticks(sampler);
            while (System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS / 3)) {
                Work.hot(1_000_000);
            }
            long took = System.nanoTime() - start;
            long ticks = Samplers.ticks(sampler) - before;
            try (SamplingReport report = sampler.snapshot()) {
                String text = report.toString(ReportFormat.TEXT);
                double share = hookShare(text) / 100;
                double rows = counted(text, "hot", "Cumulative time\\(ms\\): (\\d+)") * 1e6 / took;
                System.out.printf("%s: hook share %.2f, rows %.3f, %d ticks%n", timing, share, rows, ticks);
                assertThat(share).isGreaterThan(timing == MethodTiming.EXACT ? EXACT_SHARE : SAMPLED_SHARE);
                assertThat(100 * (rows + share)).as(text).isCloseTo(100, within(allowedRest(share, ticks)));
            }
            Work.busy(500_000_000, 1_000_000);
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(hookShare(report.toString(ReportFormat.TEXT))).isLessThan(2);
            }
        }
    }

    /*
     * How many points rows and hooks together may differ from the whole time: the hook share is printed as a whole
     * number, and with exact times only the share of hooks has a random error.
     */
    private static double allowedRest(double share, long ticks) {
        return 0.5 + BAR + 100 * DEVIATIONS * Math.sqrt(share * (1 - share) / ticks);
    }

    static ThreadsSampler counting(MethodTiming timing, String roots) {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        sampler.setMethodTiming(timing);
        sampler.setRootMethods(roots);
        sampler.init();
        return sampler;
    }

    /*
     * Runs until the JIT compilers have compiled the code again with its probes. On a busy machine wall time alone
     * would not show that.
     */
    static void warmUp(ThreadsSampler sampler, Runnable root) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
        long enough = threads.getCurrentThreadCpuTime() + TimeUnit.SECONDS.toNanos(1);
        while (System.nanoTime() < until || threads.getCurrentThreadCpuTime() < enough) {
            root.run();
        }
        CallCounts.take(sampler);
    }

    /* Percent; 0 if no tick hit a hook. */
    private static double hookShare(String text) {
        Matcher line = Pattern.compile("hook share: (\\d+) %").matcher(text);
        return line.find() ? Double.parseDouble(line.group(1)) : 0;
    }

    static double counted(String text, String method, String figure) {
        Matcher row = Pattern.compile("counted\\.Work\\." + method + "\\([^)]*\\) .*?" + figure)
                .matcher(text.substring(text.indexOf("Counted thread: ")));
        assertThat(row.find()).as(text).isTrue();
        return Double.parseDouble(row.group(1));
    }

    static double countedMillis(SamplingReport report, String method) {
        return counted(report.toString(ReportFormat.TEXT), method, "Cumulative time\\(ms\\): (\\d+)");
    }

    private static long sampledNanos(SamplingReport report, String method) {
        return CallCounts.of(report, ReportMeasure.WALL).entrySet().stream()
                .filter(row -> row.getKey().contains(method))
                .mapToLong(row -> row.getValue())
                .sum();
    }
}
