// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Work;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The format CALLS for a program whose calls are known. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class CallsTableIT {

    private static final String ROOT = "counted.Work.root";
    private static final int TIMES = 10;
    private static final int ROUNDS = 7;
    private static final Pattern ROW = Pattern.compile(
            "(?m)^ *(?<calls>\\d+) +(?<total>\\d+\\.\\d{3}) +(?<own>\\d+\\.\\d{3}) .* {2}(?<name>\\S+?)(?: <- (?<callers>.*))?$");

    private final ThreadsSampler sampler = quick(new Recorder());

    CallsTableIT() {
        Work.callsOf(1); // loads the class
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setInstrumentationFilter("counted");
        sampler.setRootMethods(ROOT);
    }

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    /** @return a report of calls that are known */
    private SamplingReport counted() {
        sampler.init();
        Map<String, Long> wanted = Work.callsOf(TIMES);
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.root(TIMES);
            return CallCounts.take(sampler).equals(new TreeMap<>(wanted));
        });
        for (int i = 0; i < ROUNDS; i++) {
            Work.root(TIMES);
        }
        return sampler.snapshot();
    }

    private static String table(SamplingReport report, ReportOptions options) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            report.writeTo(ReportFormat.CALLS, options, out);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    private static Map<String, Long> callsOf(String table) {
        Map<String, Long> calls = new TreeMap<>();
        Matcher row = ROW.matcher(table);
        while (row.find()) {
            calls.put(row.group("name"), Long.valueOf(row.group("calls")));
        }
        calls.values().removeIf(number -> number == 0);
        return calls;
    }

    private static String callers(String table, String name) {
        return ROW.matcher(table)
                .results()
                .map(found -> table.substring(found.start(), found.end()))
                .filter(row -> row.contains("  " + name + " <- "))
                .map(row -> row.substring(row.indexOf(" <- ") + " <- ".length()))
                .findFirst()
                .orElse("");
    }

    /** The calls by method, which is the last part of a path. */
    private static Map<String, Long> expected(boolean byClass) {
        Map<String, Long> calls = new TreeMap<>();
        Work.callsOf(TIMES).forEach((path, number) -> {
            String method = "counted." + path.substring(path.lastIndexOf('|') + 1);
            calls.merge(byClass ? method.substring(0, method.lastIndexOf('.')) : method, number * ROUNDS, Long::sum);
        });
        return calls;
    }

    @ParameterizedTest
    @EnumSource(
            value = MethodTiming.class,
            names = {"SAMPLED", "EXACT"})
    void theTableHasEachCallOfEachMethod(MethodTiming timing) {
        sampler.setMethodTiming(timing);
        try (SamplingReport report = counted()) {
            String table = table(report, ReportOptions.standard());
            if (table.contains("total ms")) { // otherwise no tick has hit any of these calls
                assertThat(callsOf(table)).isEqualTo(expected(false));
            } else {
                assertThat(timing).isEqualTo(MethodTiming.SAMPLED);
            }
            assertThat(table).contains(": " + sum() + " calls, " + ROUNDS + " of them by no counted method\n");
            if (timing == MethodTiming.EXACT) {
                assertThat(callers(table, ROOT)).isEqualTo("[root] " + ROUNDS);
                assertThat(callers(table, "counted.Work.recurse"))
                        .isEqualTo("counted.Work.recurse " + 5 * ROUNDS + ", counted.Work.root " + ROUNDS);
                assertTimes(table);
            }
        }
    }

    private static long sum() {
        return expected(false).values().stream().mapToLong(number -> number).sum();
    }

    /* The times of all rows add up to the root's total, and the shortest call is not longer than the longest. */
    private static void assertTimes(String table) {
        Matcher root = Pattern.compile(
                        "(?m)^ +" + ROUNDS + " +(\\S+) +(\\S+) +(\\S+) +(\\S+) +(\\S+) {2}counted\\.Work\\.root <-")
                .matcher(table);
        assertThat(root.find()).as(table).isTrue();
        double total = Double.parseDouble(root.group(1));
        double own = 0;
        Matcher row = ROW.matcher(table);
        while (row.find()) {
            own += Double.parseDouble(row.group("own"));
            assertThat(Double.parseDouble(row.group("total"))).isLessThanOrEqualTo(total);
        }
        double cut = 0.001 * (1 + expected(false).size()); // rounding of each row
        assertThat(own).isBetween(total - cut, total + cut);
        double perCall = Double.parseDouble(root.group(3));
        assertThat(perCall).isBetween(total * 1000 / ROUNDS - 1, total * 1000 / ROUNDS + 1);
        assertThat(Double.parseDouble(root.group(4))).isLessThanOrEqualTo(Double.parseDouble(root.group(5)));
    }

    @Test
    void classesPackagesAndASubtreeAddUp() {
        sampler.setMethodTiming(MethodTiming.EXACT);
        try (SamplingReport report = counted()) {
            ReportOptions byCalls = ReportOptions.of("calls", null, null);
            assertThat(callsOf(table(report, byCalls.withPer(ReportUnit.CLASS))))
                    .isEqualTo(expected(true));
            assertThat(callsOf(table(report, byCalls.withPer(ReportUnit.PACKAGE))))
                    .isEqualTo(Map.of("counted", sum()));
            String inside = table(report, byCalls.withFocus("counted.Work.locked"));
            assertThat(callsOf(inside))
                    .isEqualTo(Map.of(
                            "counted.Work.locked", (long) TIMES * ROUNDS, "counted.Work.leaf", (long) TIMES * ROUNDS));
            assertThat(inside).contains(", inside of counted.Work.locked: ");
            assertThat(report.toString(ReportFormat.TOP))
                    .contains("\nCounted methods: ")
                    .contains("  " + ROOT + " <- [root] " + ROUNDS + "\n");
            assertThat(report.getSummary().toString())
                    .containsPattern("calls counted, most of counted\\.Work\\.\\w+: \\S+ for each of " + ROUNDS
                            + " root calls\\.");
        }
    }

    @Test
    void aFileHasTheTableByItsName(@TempDir Path folder) throws IOException {
        FileSamplingOutputer files = new FileSamplingOutputer();
        files.setFile(folder.resolve("x.calls.txt").toString());
        assertThat(files.getFormat()).isEqualTo(ReportFormat.CALLS);
        files.setPer(ReportUnit.CLASS);
        files.setMeasure(ReportMeasure.CALLS);
        sampler.setMethodTiming(MethodTiming.EXACT);
        try (SamplingReport report = counted()) {
            files.report(report);
        }
        assertThat(folder.resolve("x.calls.txt"))
                .content()
                .startsWith("Counted classes: ")
                .contains(", by calls, over ");
        files.close();
    }

    /** A class name selects all methods of the class except its constructors. */
    @Test
    void aClassIsARoot() {
        sampler.setRootMethods("counted.Work$Square, counted.Nowhere");
        sampler.init();
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.root(TIMES);
            return CallCounts.take(sampler).equals(Map.of("Work$Square.area", TIMES / 2L));
        });
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.toString(ReportFormat.TEXT))
                    .contains("roots without a call: 1 (not loaded yet: counted.Nowhere)\n");
        }
    }

    @Test
    void anUnknownValueIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReportOptions.of("often", null, null))
                .withMessageStartingWith("measure must be one of time, wall, cpu, samples, calls, ")
                .withMessageEndingWith(", got \"often\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReportOptions.of(null, "line", null))
                .withMessage("per must be one of method, class, package, got \"line\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReportOptions.standard().withFocus("x".repeat(1001)))
                .withMessage("focus must have at most 1,000 characters, got 1001");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReportOptions.standard().withPer(null))
                .withMessage("unit must not be null");
        assertThat(ReportOptions.of("TIME", "Package", "").getFocus()).isNull();
        assertThat(ReportOptions.of("TIME", "Package", "").getPer()).isEqualTo(ReportUnit.PACKAGE);
    }
}
