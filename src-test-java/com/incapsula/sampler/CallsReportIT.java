// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.CallCounts.times;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Virtual;
import counted.Few;
import counted.Work;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMX;
import javax.management.ObjectName;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Counted calls in reports: their rows, why there are none, and how they go together with other features of the
 * sampler.
 */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class CallsReportIT {

    private static final String ROOT = "counted.Work.root";
    private static final int DEEPER = 100;
    private static final int LARGE = 65_534; // bytes of byte code, just below the JVM's limit
    private static final int COMPILED = 8_000; // the limit of the JIT compilers
    private static final Pattern FULL =
            Pattern.compile("\ncalls without a place: .*over the limit of nodes \\(maxCallNodes\\): [1-9]");

    private final ThreadsSampler sampler = quick(new Recorder());
    /** Keeps the classes alive until the test ends: one without references may be unloaded before its batch comes. */
    private final List<Class<?>> programs = new ArrayList<>();

    CallsReportIT() {
        Work.callsOf(1); // loads the class
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setInstrumentationFilter("counted");
        sampler.setRootMethods(ROOT);
    }

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private static String text(SamplingReport report) {
        return report.toString(ReportFormat.TEXT);
    }

    private String text() {
        try (SamplingReport report = sampler.snapshot()) {
            return text(report);
        }
    }

    private void awaitInstrumented() {
        Map<String, Long> wanted = times(Work.callsOf(10), 1);
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.root(10);
            return CallCounts.take(sampler).equals(wanted);
        });
    }

    private static void await(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /* The sum of calls over all rows of a counted group. */
    private static long callsOfGroup(SamplingReport report, String group) {
        String text = text(report);
        int record = text.indexOf("Counted thread: " + group + ". ");
        if (record < 0) {
            return 0;
        }
        int end = text.indexOf("\n\n", record);
        Matcher row = Pattern.compile(", Calls: (\\d+)").matcher(text.substring(record, end < 0 ? text.length() : end));
        return row.results().mapToLong(found -> Long.parseLong(found.group(1))).sum();
    }

    // ---- rows

    @Test
    void aCountedRowHasTheSourceFileOfItsClass() {
        sampler.init();
        awaitInstrumented();
        Work.root(1);
        String counted = text();
        counted = counted.substring(counted.indexOf("Counted thread: "));
        assertThat(counted)
                .contains("\ncounted.Work.root(Work.java) ")
                .contains("  counted.Work$Square.area(Work.java) ")
                .containsPattern("^Counted thread: main\\. Max depth: 7\\. ")
                .doesNotContain("Unknown Source");
    }

    /**
     * Reading the CPU clock takes too long for each call. So there is no column, not one of zeros, and the account says
     * why.
     */
    @ParameterizedTest
    @EnumSource
    void onlySampledTimesHaveCpuTime(MethodTiming timing) {
        sampler.setReportCpuTime(true);
        sampler.setMethodTiming(timing);
        sampler.init();
        awaitInstrumented();
        Work.root(1);
        String text = text();
        String counted = text.substring(text.indexOf("Counted thread: "));
        String reason = "\nmethods counted without CPU time, methodTiming is not SAMPLED: ";
        if (timing == MethodTiming.SAMPLED) {
            assertThat(counted).containsPattern("counted\\.Work\\.root\\(.*, CPU time\\(ms\\): \\d+, Calls: 1");
            assertThat(text).doesNotContain(reason);
        } else {
            assertThat(counted)
                    .containsPattern("counted\\.Work\\.root\\(.*, Calls: 1")
                    .doesNotContain("CPU time");
            assertThat(text).contains(reason);
        }
    }

    /** Otherwise the account's statement that all times are CPU times would be wrong. */
    @Test
    void exactTimesAreRefusedWhereAllTimesAreCpuTimes() {
        sampler.setClock(SamplingClock.CPU);
        sampler.setMethodTiming(MethodTiming.EXACT);
        assertThatIllegalArgumentException()
                .isThrownBy(sampler::init)
                .withMessageContaining("clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read");
        assertThat(sampler.isRunning()).isFalse();
    }

    /* Repeats the work until ticks have hit it. */
    @Test
    void aSampledRowShowsTheCallsOfItsMethod() {
        sampler.setRootMethods("counted.Work.busy");
        sampler.init();
        Pattern row = Pattern.compile("counted\\.Work\\.(busy|compute)\\(Work\\.java:\\d+\\) .*, Calls: [1-9]");
        patiently().until(() -> {
            for (int i = 0; i < 5; i++) {
                Work.busy(5_000_000, 0);
            }
            try (SamplingReport report = sampler.snapshot()) {
                String text = text(report);
                String sampled = text.substring(0, Math.max(text.indexOf("Counted thread: "), 0));
                return row.matcher(sampled).find()
                        && report.toString(ReportFormat.JSON).contains("\"rowCalls\":[[");
            }
        });
    }

    // ---- groups

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadsAreCountedInTheGroupOfTheirName() throws Exception {
        sampler.init();
        awaitInstrumented();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            threads.add(
                    Virtual.start(i % 3 == 0 ? null : i % 3 == 1 ? "order-" + i : "mail-" + i, () -> Work.root(10)));
        }
        await(threads);
        try (SamplingReport report = sampler.snapshot()) {
            long each = 100 * sum(Work.callsOf(10));
            assertThat(callsOfGroup(report, "order-")).isEqualTo(each);
            assertThat(callsOfGroup(report, "mail-")).isEqualTo(each);
            assertThat(callsOfGroup(report, "[virtual threads]")).isEqualTo(each);
            assertThat(text(report)).contains("Distinct threads: 1 [virtual threads]\n");
        }
    }

    @Test
    void aManipulatorNamesTheGroup() {
        sampler.setThreadNameManipulator(thread -> "mine");
        sampler.init();
        awaitInstrumented();
        Work.root(10);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(callsOfGroup(report, "mine")).isEqualTo(sum(Work.callsOf(10)));
            assertThat(callsOfGroup(report, "main")).isZero();
        }
    }

    @Test
    void threadsThatAreNotSampledAreNotCounted() throws Exception {
        sampler.setSkipDaemonThreads(true);
        sampler.init();
        awaitInstrumented();
        CountDownLatch counted = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        Thread daemon = new Thread(
                () -> {
                    Work.root(10);
                    Work.rootAfter(counted, mayEnd, 1);
                },
                "daemon");
        daemon.setDaemon(true);
        daemon.start();
        counted.await();
        Work.root(10);
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(10), 1));
        mayEnd.countDown();
        daemon.join();
    }

    /** Monitored packages select frames of sampled stacks. The instrumentation filter alone selects counted methods. */
    @Test
    void monitoredPackagesDoNotMatterForCounts() {
        sampler.setMonitoredPackages("org.nowhere");
        sampler.init();
        awaitInstrumented();
        Work.root(10);
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(10), 1));
    }

    // ---- readers

    @Test
    void eachCursorHasTheCallsOfItsIntervals() {
        sampler.init();
        awaitInstrumented();
        try (SamplingCursor one = sampler.openCursor();
                SamplingCursor other = sampler.openCursor()) {
            Work.root(10);
            assertCalls(one, 1);
            Work.root(10);
            assertCalls(one, 1);
            assertCalls(other, 2);
            assertCalls(one, 0);
        }
    }

    private static void assertCalls(SamplingCursor cursor, long times) {
        try (SamplingReport report = cursor.next()) {
            Map<String, Long> counted = CallCounts.of(report);
            assertThat(counted).isEqualTo(times == 0 ? Map.of() : times(Work.callsOf(10), times));
        }
    }

    @Test
    void reportsWithCallsAreMergedAndCompared() throws IOException {
        sampler.init();
        awaitInstrumented();
        Work.root(10);
        try (SamplingReport before = sampler.snapshot()) {
            Work.root(10);
            Work.root(10);
            try (SamplingReport after = sampler.snapshot();
                    SamplingReport both = SamplingReport.merge(before, after);
                    SamplingDiff difference = SamplingReport.diff(before, after)) {
                assertThat(CallCounts.of(both)).isEqualTo(times(Work.callsOf(10), 3));
                assertThat(lines(difference))
                        .hasSize(Work.callsOf(10).size())
                        .contains("main;counted.Work.root(Work.java) 1 2")
                        .contains("main;counted.Work.root(Work.java);counted.Work.leaf(Work.java) 10 20");
                assertThat(difference.getFrames(ReportMeasure.CALLS))
                        .contains(
                                new SamplingDiff.FrameDiff("counted.Work.leaf(Work.java)", 30, 60),
                                new SamplingDiff.FrameDiff("counted.Work.root(Work.java)", 1, 2))
                        .isSortedAccordingTo(Comparator.comparing((SamplingDiff.FrameDiff each) -> -each.difference())
                                .thenComparing(SamplingDiff.FrameDiff::frame));
            }
        }
    }

    private static List<String> lines(SamplingDiff difference) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        difference.writeTo(ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(ReportMeasure.CALLS), out);
        return out.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void aThreadInsideOfARootIsCountedOnAfterAReset() throws Exception {
        sampler.setRootMethods("counted.Work.rootAfter");
        sampler.init();
        Map<String, Long> inside = new TreeMap<>();
        Work.callsOf(10).forEach((path, number) -> inside.put("Work.rootAfter|" + path, number));
        Map<String, Long> whole = new TreeMap<>(inside);
        whole.put("Work.rootAfter", 1L);
        CountDownLatch open = new CountDownLatch(0);
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.rootAfter(open, open, 10);
            return CallCounts.take(sampler).equals(whole);
        });
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        Thread thread = new Thread(() -> Work.rootAfter(entered, mayGoOn, 10));
        thread.start();
        entered.await();
        sampler.resetCollectedResults();
        mayGoOn.countDown();
        thread.join();
        assertThat(CallCounts.take(sampler)).isEqualTo(inside);
    }

    /** Another reader, such as a server's page, may have ended intervals that this reader has not read yet. */
    @Test
    void aResetHoldsForEachReader() {
        sampler.init();
        awaitInstrumented();
        try (SamplingCursor all = sampler.openCursor()) {
            Work.root(10);
            sampler.snapshot().close();
            sampler.resetCollectedResults();
            sampler.snapshot().close();
            Work.root(5);
            try (SamplingReport report = all.next()) {
                assertThat(CallCounts.of(report)).isEqualTo(times(Work.callsOf(5), 1));
            }
        }
    }

    @Test
    void jmxBeginsAtZero() throws Exception {
        sampler.setJmxName("calls");
        sampler.init();
        awaitInstrumented();
        Work.root(10);
        ObjectName name = new ObjectName("com.incapsula.sampler:type=ThreadsSampler,name=calls");
        ThreadsSamplerMXBean bean =
                JMX.newMXBeanProxy(ManagementFactory.getPlatformMBeanServer(), name, ThreadsSamplerMXBean.class);
        bean.resetCollectedResults();
        assertThat(bean.getRootMethods()).isEqualTo(ROOT);
        Work.root(5);
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(5), 1));
    }

    // ---- why nothing shows

    @Test
    void noRootHasBeenEntered() {
        sampler.init();
        assertThat(text()).contains("\nroots without a call: 1 (not entered since it is counted: counted.Work.root)\n");
        Work.root(1);
        assertThat(text()).doesNotContain("not entered");
    }

    /** The account describes the end of the interval, so merging with a later interval updates it. */
    @Test
    void aRootThatIsLoadedLaterIsNotMissedAnyMore(@TempDir Path folder) throws Exception {
        Path classes = compile(folder, "late", "Later", "public static void run() { System.getProperties(); }");
        sampler.setInstrumentationFilter("late");
        sampler.setRootMethods("late.Later.run, late.Later.walk");
        try (SamplingCursor all = newCursor()) {
            assertThat(text())
                    .contains("\nroots without a call: 2"
                            + " (not loaded yet: late.Later.run, not loaded yet: late.Later.walk)\n");
            run(classes, "late.Later");
            try (SamplingReport report = all.next()) {
                assertThat(text(report))
                        .doesNotContain("not loaded yet")
                        .contains("not found in its class: late.Later.walk");
            }
        }
    }

    private SamplingCursor newCursor() {
        sampler.init();
        return sampler.openCursor();
    }

    @ParameterizedTest
    @ValueSource(ints = {LARGE, COMPILED})
    void aMethodThatIsTooLargeIsLeftAlone(int bytes, @TempDir Path folder) throws Exception {
        String name = "Parser" + bytes; // the class of the other parameter may still be loaded
        String body = "private static int sum; public static void run() { parse(1); } static void parse(int i) {"
                + "sum += i * 300;".repeat(bytes / 12) + "}"; // each statement has 12 bytes of byte code
        Path classes = compile(folder, "large", name, body);
        sampler.setInstrumentation(Instrumentation.EAGER);
        sampler.setInstrumentationFilter("large");
        sampler.setRootMethods("large." + name + ".run");
        sampler.init();
        run(classes, "large." + name);
        patiently()
                .untilAsserted(
                        () -> assertThat(text()).contains("\nleft alone: 1 (too large: large." + name + ".parse)\n"));
    }

    /** Its callees are counted, and the account does not claim that the root has a probe. */
    @Test
    void aRootThatIsTooLargeIsLeftAlone(@TempDir Path folder) throws Exception {
        String body = "private static int sum; public static void run() { add(1);"
                + "sum += 300 * sum;".repeat(COMPILED / 14) + "} static void add(int i) { sum += i; }";
        Path classes = compile(folder, "large", "Root", body);
        sampler.setInstrumentationFilter("large");
        sampler.setRootMethods("large.Root.run");
        sampler.init();
        run(classes, "large.Root");
        patiently().untilAsserted(() -> assertThat(text()).contains("\nleft alone: 1 (too large: large.Root.run)\n"));
        assertThat(text()).doesNotContain("not entered").doesNotContain("root not");
    }

    @Test
    void trivialMethodsAreNamed(@TempDir Path folder) throws Exception {
        String body = "int n; int getN() { return n; } public static void run() { new Bean().getN(); }";
        Path classes = compile(folder, "trivial", "Bean", body);
        sampler.setInstrumentation(Instrumentation.EAGER);
        sampler.setInstrumentationFilter("trivial");
        sampler.setRootMethods("trivial.Bean.run");
        sampler.init();
        run(classes, "trivial.Bean");
        patiently()
                .untilAsserted(
                        () -> assertThat(text()).containsPattern("\nleft alone, trivial: .*trivial\\.Bean\\.getN"));
    }

    /**
     * The account names 20 excluded methods of the root's own class, in the JVM's order of methods, which differs
     * between runs.
     */
    @ParameterizedTest
    @EnumSource
    void aFilterThatExcludesEverythingIsSeen(Instrumentation instrumentation) {
        sampler.setRootMethods("counted.Few.root");
        sampler.setInstrumentation(instrumentation);
        sampler.setInstrumentationFilter("org.nowhere");
        sampler.init();
        patiently().untilAsserted(() -> {
            Few.root(1);
            assertThat(text()).containsPattern("\nexcluded by filter: \\d+ \\(.*counted\\.Few\\.leaf");
        });
        assertThat(CallCounts.take(sampler).keySet()).isSubsetOf("Few.root");
    }

    @Test
    void methodsThatTheFilterExcludesAreNamed() {
        sampler.setInstrumentationFilter("counted, -counted.Work$Square");
        sampler.init();
        patiently().untilAsserted(() -> {
            Work.root(1);
            assertThat(text()).containsPattern("\nexcluded by filter: \\d+ \\(.*counted\\.Work\\$Square\\.area");
        });
    }

    @Test
    void aShortMethodThatIsCalledOftenIsDroppedByName() {
        sampler.setOverheadLimitPercent(0.1);
        sampler.init();
        patiently().untilAsserted(() -> {
            for (int i = 0; i < 200; i++) {
                Work.root(1000);
            }
            assertThat(text())
                    .containsPattern("\nnot counted any more, short and called often: [1-9]\\d*\n"
                            + "not counted since \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ: counted\\.Work");
        });
    }

    /* Waits until the account names the method, and until another ten calls of root give these counts. */
    private void awaitDropped(String method, Map<String, Long> counts) {
        patiently().untilAsserted(() -> {
            for (int i = 0; i < 200; i++) {
                Work.root(1000);
            }
            assertThat(text()).containsPattern("\nnot counted since \\S+Z: " + Pattern.quote(method) + "\n");
        });
        patiently().untilAsserted(() -> {
            CallCounts.take(sampler);
            Work.root(10);
            assertThat(CallCounts.take(sampler)).isEqualTo(counts);
        });
        assertThat(text()).doesNotContain("not entered since");
    }

    /**
     * A named root keeps its probes. Work.leaf is called three times as often as the others, so it would lose its
     * probes first; it is both matched by a pattern and named.
     */
    @Test
    void aRootOfAPatternIsDroppedAndOneThatIsNamedIsNot() {
        sampler.setOverheadLimitPercent(0.1);
        sampler.setRootMethods("counted.Work.lo*, counted.Work.le*, counted.Work.leaf");
        sampler.init();
        awaitDropped("counted.Work.locked", Map.of("Work.leaf", 30L));
        assertThat(text())
                .contains("\nnot counted any more, short and called often: 1\n")
                .doesNotContainPattern("not counted since \\S+Z: counted\\.Work\\.leaf");
    }

    @Test
    void callsOfADroppedOutermostRootAreNotCountedAnyMore() {
        sampler.setOverheadLimitPercent(0.1);
        sampler.setRootMethods("counted.Work.lo*");
        sampler.init();
        awaitDropped("counted.Work.locked", Map.of());
    }

    /**
     * A recursion fills the tree of this thread until its method loses its probes. Later calls have nodes in a new
     * tree.
     */
    @Test
    void aMethodThatWasDroppedTakesNoPlaces() {
        sampler.setOverheadLimitPercent(0.1);
        sampler.setRootMethods("counted.Work.deepThenWide");
        sampler.setMaxCallNodes(64);
        sampler.init();
        // in an earlier interval, because the method may lose its probes between two
        AtomicBoolean wasFull = new AtomicBoolean();
        patiently().pollInSameThread().untilAsserted(() -> {
            for (int i = 0; i < 2000; i++) {
                Work.deepThenWide(DEEPER, 0);
            }
            String text = text();
            wasFull.compareAndSet(false, FULL.matcher(text).find());
            assertThat(text).containsPattern("\nnot counted since \\S+Z: counted\\.Work\\.deeper\n");
            assertThat(wasFull).isTrue();
        });
        patiently().pollInSameThread().untilAsserted(() -> {
            CallCounts.take(sampler);
            Work.deepThenWide(0, 10);
            assertThat(CallCounts.take(sampler))
                    .isEqualTo(Map.of("Work.deepThenWide", 1L, "Work.deepThenWide|Work.leaf", 10L));
        });
    }

    /** A recursion makes 101 calls: some have nodes, and the account counts the others. */
    @ParameterizedTest
    @CsvSource({"64, 1000, nodes", "100000, 10, depth"})
    void callsPastALimitAreInTheAccount(int nodes, int depth, String limit) {
        sampler.setRootMethods("counted.Work.deeper");
        sampler.setMaxCallNodes(nodes);
        sampler.setMaxCallDepth(depth);
        sampler.init();
        CallCounts.take(sampler);
        Work.deeper(DEEPER);
        try (SamplingReport report = sampler.snapshot()) {
            Matcher lost = Pattern.compile("\ncalls without a place: (\\d+) \\(over the limit of " + limit
                            + " \\(maxCall\\w+\\): \\1\\)\n")
                    .matcher(text(report));
            assertThat(lost.find()).as(text(report)).isTrue();
            assertThat(sum(CallCounts.of(report)) + Long.parseLong(lost.group(1)))
                    .isEqualTo(DEEPER + 1);
            assertThat(text(report)).containsOnlyOnce("calls without a place");
        }
    }

    // ---- classes

    private static Path compile(Path folder, String packageName, String name, String body) throws IOException {
        Path source = folder.resolve(name + ".java");
        Files.writeString(source, "package " + packageName + "; public class " + name + " {" + body + "}");
        int failed = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-proc:none", "-d", folder.toString(), source.toString());
        assertThat(failed).isZero();
        return folder;
    }

    private void run(Path classes, String name) throws Exception {
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
            Class<?> program = loader.loadClass(name);
            programs.add(program);
            program.getMethod("run").invoke(null);
        }
    }
}
