// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Late;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** If a probe was inserted late, its row says how many calls may be missing; and no call has a wrong parent. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class CountedSinceIT {

    private static final int DEPTH = 40;
    private static final int TIMES = 25;
    private static final long CALLS = 200;
    private static final int PIECES = 40;
    private static final String SINCE = "counted since ";
    private static final Pattern ROW = Pattern.compile("counted\\.Late\\.(\\w+)\\(.*, Calls: (\\d+)"
            + "(?:, Time per call[^\n]*?)?(?:, counted since ([0-9:]{8})(?:, at most (\\d+) calls missing)?)?\n");
    private static final Pattern MISPLACED = Pattern.compile(
            "^calls without a place: .*below calls that began before their probes came: (\\d+)", Pattern.MULTILINE);

    /** A row of the text report; missing is below 0 if it is not known. */
    private record Row(long calls, boolean isWhole, long missing) {}

    private final ThreadsSampler sampler = quick(new Recorder());
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (Thread thread : threads) {
            thread.join();
        }
        sampler.close();
    }

    private void count(String root, Instrumentation instrumentation, MethodTiming timing) {
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setRootMethods(root);
        sampler.setInstrumentation(instrumentation);
        sampler.setInstrumentationFilter("counted");
        sampler.setMethodTiming(timing);
        sampler.init();
    }

    private static Map<String, Row> rowsOf(String text) {
        Map<String, Row> rows = new TreeMap<>();
        Matcher row = ROW.matcher(text.substring(text.indexOf("Counted thread: ")));
        while (row.find()) {
            rows.put(
                    row.group(1),
                    new Row(
                            Long.parseLong(row.group(2)),
                            row.group(3) == null,
                            row.group(4) == null ? -1 : Long.parseLong(row.group(4))));
        }
        return rows;
    }

    private static Map<String, Long> handled(long times) {
        return Map.of(
                "Late.handle", times,
                "Late.handle|Late.find", times * Late.PARTS,
                "Late.handle|Late.find|Late.price", times * Late.PARTS,
                "Late.handle|Late.find|Late.price|Late.tax", times * Late.PARTS);
    }

    private static void handle(long times) {
        for (int i = 0; i < times; i++) {
            Late.handle();
        }
    }

    /** The program is small and completely loaded, so every call after init() is counted. */
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "EAGER"})
    void aWarmProgramLosesNoCallAfterInit(Instrumentation instrumentation) {
        handle(100);
        count("counted.Late.handle", instrumentation, MethodTiming.SAMPLED);
        handle(1000);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(CallCounts.of(report)).isEqualTo(handled(1000));
            assertThat(report.toString(ReportFormat.TEXT)).doesNotContain(SINCE);
            assertThat(report.toString(ReportFormat.JSON)).doesNotContain("countedSince");
        }
    }

    /** Rows without the time of their first probe are exact; others lack no more calls than they say. */
    @ParameterizedTest
    @EnumSource(MethodTiming.class)
    void rowsOfALazyCountingSayWhatTheyLack(MethodTiming timing) throws IOException {
        List<Row> late = new ArrayList<>();
        handle(CALLS);
        /* Repeated, because the probes may be inserted between two intervals, and then no row lacks calls. */
        patiently().until(() -> {
            count("counted.Late.handle", Instrumentation.LAZY, timing);
            boolean isWhole = false;
            while (!isWhole) {
                isWhole = countPieces(late);
            }
            sampler.close();
            return late.stream().anyMatch(row -> row.missing() >= 0);
        });
    }

    /* Probes are inserted between the pieces. Returns true if all rows are exact. */
    private boolean countPieces(List<Row> late) {
        for (int i = 0; i < PIECES; i++) {
            handle(CALLS / PIECES);
            Samplers.awaitTicks(sampler, 5);
        }
        try (SamplingReport report = sampler.snapshot()) {
            Map<String, Row> rows = rowsOf(report.toString(ReportFormat.TEXT));
            rows.forEach((method, row) -> {
                long calls = method.equals("handle") ? CALLS : CALLS * Late.PARTS;
                if (row.isWhole()) {
                    assertThat(row.calls()).as(method).isEqualTo(calls);
                    return;
                }
                late.add(row);
                assertThat(row.calls()).as(method).isBetween(1L, calls);
                if (row.missing() >= 0) {
                    assertThat(row.calls() + row.missing()).as(method).isGreaterThanOrEqualTo(calls);
                }
            });
            assertThat(report.toString(ReportFormat.JSON).contains("\"countedSince\":[["))
                    .isEqualTo(rows.values().stream().anyMatch(row -> !row.isWhole()));
            return rows.keySet().containsAll(List.of("handle", "find", "price", "tax"))
                    && rows.values().stream().allMatch(Row::isWhole);
        }
    }

    private Thread start(Runnable body) {
        Thread thread = new Thread(body, "inside");
        threads.add(thread);
        thread.start();
        return thread;
    }

    private long misplaced(SamplingReport report) {
        Matcher figure = MISPLACED.matcher(report.toString(ReportFormat.TEXT));
        return figure.find() ? Long.parseLong(figure.group(1)) : 0;
    }

    private static Map<String, Long> downFrom(String root, int depth) {
        Map<String, Long> calls = new TreeMap<>();
        StringBuilder path = new StringBuilder(root);
        if (!root.isEmpty()) {
            calls.put(root, 1L);
        }
        for (int i = 0; i <= depth; i++) {
            path.append(path.length() == 0 ? "" : "|").append("Late.down");
            calls.put(path.toString(), 1L);
        }
        return calls;
    }

    private Map<String, Long> callsOf(Runnable body) {
        CallCounts.take(sampler);
        body.run();
        return CallCounts.take(sampler);
    }

    /** Calls that a running recursion makes after its probe was inserted are not counted below the root. */
    @ParameterizedTest
    @EnumSource(names = {"SAMPLED", "EXACT"})
    void aRunningRecursionIsNotCountedBelowItsRoot(MethodTiming timing) throws Exception {
        Late.Stop stop = new Late.Stop();
        Late.enter(DEPTH, null);
        count("counted.Late.enter", Instrumentation.LAZY, timing);
        Thread inside = start(() -> {
            Late.enter(DEPTH, stop);
            Late.enter(DEPTH, null);
        });
        stop.reached.await();
        Map<String, Long> whole = downFrom("Late.enter", DEPTH);
        patiently().until(() -> callsOf(() -> Late.enter(DEPTH, null)).equals(whole));
        CallCounts.take(sampler);
        stop.mayGoOn.countDown();
        inside.join();
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(CallCounts.of(report)).isEqualTo(whole);
            assertThat(misplaced(report)).isEqualTo(DEPTH / 2);
        }
    }

    /** A running method whose probe came after its entry is treated like a method that is not counted. */
    @Test
    void callsOfARunningMethodAreCreditedToItsCaller() throws Exception {
        Late.Stop stop = new Late.Stop();
        Late.enterOuter(TIMES, null);
        count("counted.Late.enterOuter", Instrumentation.LAZY, MethodTiming.SAMPLED);
        Thread inside = start(() -> Late.enterOuter(TIMES, stop));
        stop.reached.await();
        Map<String, Long> whole = Map.of(
                "Late.enterOuter",
                1L,
                "Late.enterOuter|Late.outer",
                1L,
                "Late.enterOuter|Late.outer|Late.inner",
                (long) TIMES,
                "Late.enterOuter|Late.outer|Late.inner|Late.tax",
                (long) TIMES);
        patiently().until(() -> callsOf(() -> Late.enterOuter(TIMES, null)).equals(whole));
        CallCounts.take(sampler);
        stop.mayGoOn.countDown();
        inside.join();
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(CallCounts.of(report))
                    .isEqualTo(Map.of(
                            "Late.enterOuter|Late.inner", (long) TIMES,
                            "Late.enterOuter|Late.inner|Late.tax", (long) TIMES));
            assertThat(misplaced(report)).isZero();
        }
    }

    /** A recursive root that is running when its probe is inserted is counted from its next entry on. */
    @ParameterizedTest
    @EnumSource(names = {"AUTO", "LAZY", "EAGER"})
    void aRootThatRunsIsCountedOnceItIsEnteredAnew(Instrumentation instrumentation) throws IOException, Exception {
        Late.Stop stop = new Late.Stop();
        Thread inside = start(() -> {
            Late.down(DEPTH, DEPTH / 2, stop);
            Late.down(2, -1, null);
        });
        stop.reached.await();
        count("counted.Late.down", instrumentation, MethodTiming.SAMPLED);
        stop.mayGoOn.countDown();
        inside.join();
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(CallCounts.of(report)).isEqualTo(downFrom("", 2));
            assertThat(misplaced(report)).isEqualTo(DEPTH / 2);
        }
    }
}
