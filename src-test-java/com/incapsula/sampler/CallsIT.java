// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.CallCounts.times;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.testing.CallCounts;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.CountingCyclesProgram;
import com.incapsula.sampler.testing.CountingProgram;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.RedefiningAgent;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Virtual;
import counted.Callbacks;
import counted.FoundByName;
import counted.Work;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

/** Calls are counted exactly, from the hook to the report. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class CallsIT {

    private static final String ROOT = "counted.Work.root";
    /* SMP_CALLS_WARM_UP_MS plus some ticks. */
    private static final long WARM_UP_NANOS = 3_100_000_000L;

    /* The first JDK that does not discard all compiled code when a class is changed for the first time. */
    private static final int KEEPS_COMPILED_CODE = 23;

    private static final int VIRTUAL_THREADS = 10_000;
    /*
     * On a loaded machine a thread that waits for a contended lock lets others run, so all virtual threads may be
     * inside the root at once, each with a tree of its own.
     */
    private static final long MEMORY_FOR_ALL = 256L << 20;
    private static final long DEFAULT_MEMORY = 64L << 20;

    private static final Pattern OVER_MEMORY =
            Pattern.compile("^calls without a place: .*over the memory limit: (\\d+)", Pattern.MULTILINE);

    private final ThreadsSampler sampler = quick(new Recorder());

    CallsIT() {
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setRootMethods(ROOT);
    }

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private String text() {
        try (SamplingReport report = sampler.snapshot()) {
            return report.toString(ReportFormat.TEXT);
        }
    }

    private void awaitInstrumented() {
        awaitCounted(Work.callsOf(10));
    }

    /* Counts are exact from the second entry of a root after the last batch on. */
    private void awaitCounted(Map<String, Long> wanted) {
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.root(10);
            return CallCounts.take(sampler).equals(wanted);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "LAZY, SAMPLED",
        "LAZY, EXACT",
        "LAZY, NONE",
        "EAGER, SAMPLED",
        "TOTAL, EXACT",
    })
    void knownCallsAreCountedToTheLastOne(Instrumentation instrumentation, MethodTiming timing) {
        sampler.setInstrumentation(instrumentation);
        sampler.setInstrumentationFilter("counted");
        sampler.setMethodTiming(timing);
        sampler.init();
        awaitInstrumented();
        for (int i = 0; i < 2000; i++) {
            Work.root(100);
        }
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(100), 2000));
    }

    private Map<String, Long> callsOf(Runnable root) {
        CallCounts.take(sampler);
        root.run();
        return CallCounts.take(sampler);
    }

    private void count(String root, Instrumentation instrumentation) {
        sampler.setRootMethods(root);
        sampler.setInstrumentation(instrumentation);
        sampler.setInstrumentationFilter("counted");
        sampler.init();
    }

    @ParameterizedTest
    @EnumSource(names = {"LAZY", "EAGER"})
    void methodsThatOnlyTheJdkCallsAreCountedAsWithTotal(Instrumentation instrumentation) throws IOException {
        count("counted.Callbacks.root", Instrumentation.TOTAL);
        Callbacks.root();
        Map<String, Long> all = callsOf(Callbacks::root);
        assertThat(all)
                .containsKeys(
                        "Callbacks.root|Callbacks$Order.compare",
                        "Callbacks.root|Callbacks$Service.remember|Callbacks$Small.removeEldestEntry",
                        "Callbacks.root|Callbacks.lookedUp|Callbacks.leaf");
        sampler.close();
        count("counted.Callbacks.root", instrumentation);
        patiently().untilAsserted(() -> assertThat(callsOf(Callbacks::root)).isEqualTo(all));
        for (int i = 0; i < 10; i++) {
            assertThat(callsOf(Callbacks::root)).isEqualTo(all);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"LAZY", "EAGER"})
    void methodsThatSamplesShowBelowARootAreCountedAndNamed(Instrumentation instrumentation) {
        count("counted.FoundByName.root", instrumentation);
        patiently()
                .untilAsserted(() -> assertThat(callsOf(FoundByName::root))
                        .containsEntry("FoundByName.root|FoundByName.slow", 1L)
                        .containsKey("FoundByName.root|FoundByName.slow|FoundByName.count"));
        assertThat(text()).contains("methods seen by samples before they were counted: 1 (counted.FoundByName.slow)");
    }

    @ParameterizedTest
    @EnumSource
    void threadsAreCountedSideBySide(Instrumentation instrumentation) throws Exception {
        sampler.setInstrumentation(instrumentation);
        sampler.setInstrumentationFilter("counted");
        sampler.init();
        awaitInstrumented();
        CountDownLatch counted = new CountDownLatch(64);
        CountDownLatch mayEnd = new CountDownLatch(1);
        for (int i = 0; i < 64; i++) {
            new Thread(() -> rootOften(100, counted, mayEnd), "counted-" + i).start();
        }
        counted.await();
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(CallCounts.of(report)).isEqualTo(times(Work.callsOf(10), 6400));
            assertThat(report.toString(ReportFormat.TEXT)).contains("Counted thread: counted-. ");
        } finally {
            mayEnd.countDown();
        }
    }

    private static void rootOften(int times, CountDownLatch counted, CountDownLatch mayEnd) {
        for (int i = 0; i < times; i++) {
            Work.root(10);
        }
        counted.countDown();
        try {
            mayEnd.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadsAreCounted(Instrumentation instrumentation) throws Exception {
        sampler.setInstrumentation(instrumentation);
        sampler.setInstrumentationFilter("counted");
        sampler.setMemoryLimitBytes(MEMORY_FOR_ALL);
        sampler.init();
        awaitInstrumented();
        join(startVirtual(() -> Work.root(10)));
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(10), VIRTUAL_THREADS));
    }

    private static List<Thread> startVirtual(Runnable body) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < VIRTUAL_THREADS; i++) {
            threads.add(Virtual.start("virtual-" + i, body));
        }
        return threads;
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** A root of a thread for whose tree there is no memory is in the account; the others are counted completely. */
    @ParameterizedTest
    @ValueSource(longs = {DEFAULT_MEMORY, MEMORY_FOR_ALL})
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadsThatAreInsideOfARootAtOnceAreCountedOrInTheAccount(long memory) throws Exception {
        sampler.setRootMethods("counted.Work.rootAfter");
        sampler.setMemoryLimitBytes(memory);
        sampler.init();
        awaitRootAfter();
        CountDownLatch entered = new CountDownLatch(VIRTUAL_THREADS);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        List<Thread> threads = startVirtual(() -> Work.rootAfter(entered, mayGoOn, 10));
        entered.await();
        mayGoOn.countDown();
        join(threads);
        try (SamplingReport report = sampler.snapshot()) {
            Matcher over = OVER_MEMORY.matcher(report.toString(ReportFormat.TEXT));
            int lost = over.find() ? Integer.parseInt(over.group(1)) : 0;
            assertThat(CallCounts.of(report)).isEqualTo(times(callsOfRootAfter(), VIRTUAL_THREADS - lost));
            if (memory == MEMORY_FOR_ALL) {
                assertThat(lost).isZero();
            } else {
                assertThat(lost).isBetween(1, VIRTUAL_THREADS - 1000);
            }
        }
    }

    private void awaitRootAfter() {
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.rootAfter(new CountDownLatch(1), new CountDownLatch(0), 10);
            return CallCounts.take(sampler).equals(callsOfRootAfter());
        });
    }

    private static Map<String, Long> callsOfRootAfter() {
        Map<String, Long> calls = new TreeMap<>(Map.of("Work.rootAfter", 1L));
        Work.callsOf(10).forEach((path, number) -> calls.put("Work.rootAfter|" + path, number));
        return calls;
    }

    @Test
    void aResetBeginsAtZeroAndThreadsInsideOfARootGoOn() throws Exception {
        sampler.setRootMethods(ROOT + ", counted.Work.rootAfter");
        sampler.init();
        awaitInstrumented();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        Thread inside = new Thread(() -> Work.rootAfter(entered, mayGoOn, 10));
        inside.start();
        entered.await();
        Work.root(10);
        sampler.resetCollectedResults();
        Work.root(5);
        mayGoOn.countDown();
        inside.join();
        try (SamplingReport report = sampler.snapshot()) {
            Map<String, Long> counted = CallCounts.of(report);
            counted.keySet().removeIf(path -> path.startsWith("Work.rootAfter"));
            assertThat(counted).isEqualTo(times(Work.callsOf(5), 1));
            assertThat(report.toString(ReportFormat.TEXT)).contains("counted.Work.rootAfter(");
        }
    }

    /**
     * Counts from before are discarded once no new method was instrumented for three seconds; later calls are counted.
     */
    @Test
    void theWarmUpIsDiscarded() {
        sampler.init();
        awaitInstrumented();
        Work.root(10);
        sampler.setDiscardWarmUp(true);
        patiently().until(() -> {
            long now = System.nanoTime();
            while (System.nanoTime() - now < WARM_UP_NANOS) {
                Samplers.awaitTicks(sampler, 2);
            }
            Map<String, Long> counted = CallCounts.take(sampler);
            Work.root(10);
            return counted.isEmpty();
        });
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(10), 1));
    }

    /** The figures of root methods do not depend on the timing of methods. */
    @ParameterizedTest
    @EnumSource
    void rootsHaveTheirShortestMeanAndLongestCall(MethodTiming timing) {
        sampler.setMethodTiming(timing);
        sampler.setRootMethods("counted.Work.busy");
        sampler.init();
        Work.busy(1_000, 1_000);
        CallCounts.take(sampler);
        assertExtremes("busy", 0, 0, 7_990);
    }

    @Test
    void withExactTimingEachMethodHasItsShortestMeanAndLongestCall() {
        sampler.setMethodTiming(MethodTiming.EXACT);
        sampler.setRootMethods("counted.Work.busy");
        sampler.init();
        patiently().until(() -> {
            Work.busy(1_000, 1_000);
            return CallCounts.take(sampler)
                    .keySet()
                    .containsAll(List.of("Work.busy", "Work.busy|Work.compute", "Work.busy|Work.waits"));
        });
        Work.busy(300_000_000, 1_000);
        sampler.resetCollectedResults();
        assertExtremes("compute", 1, 1_990, 9_990);
    }

    /* Calls busy five times, each time two milliseconds longer. The bounds are microseconds. */
    private void assertExtremes(String method, int first, double leastShortest, double leastLongest) {
        long least = Long.MAX_VALUE;
        long most = 0;
        for (int i = first; i < first + 5; i++) {
            long start = System.nanoTime();
            Work.busy(i * 2_000_000L, 1_000);
            long took = System.nanoTime() - start;
            least = Math.min(least, took);
            most = Math.max(most, took);
        }
        String text = text();
        Matcher row = Pattern.compile("counted\\.Work\\." + method
                        + "\\(.*, Calls: 5, Time per call\\(us\\): ([0-9.]+), min ([0-9.]+), max ([0-9.]+)\n")
                .matcher(text);
        assertThat(row.find()).as(text).isTrue();
        double shortest = Double.parseDouble(row.group(2));
        double longest = Double.parseDouble(row.group(3));
        assertThat(shortest).isPositive().isBetween(leastShortest, least * 1.001 / 1000);
        assertThat(longest).isBetween(leastLongest, most * 1.001 / 1000);
        assertThat(Double.parseDouble(row.group(1))).as(text).isBetween(shortest, longest);
    }

    @Test
    void aResetNeedsASamplerThatRuns() {
        assertThatIllegalStateException().isThrownBy(sampler::resetCollectedResults);
    }

    @Test
    void aMisspeltRootIsInTheAccount() {
        sampler.setRootMethods("counted.Wrok.root, " + ROOT);
        sampler.init();
        awaitInstrumented();
        assertThat(text()).contains("roots without a call: 1 (not loaded yet: counted.Wrok.root)");
    }

    @Test
    void aFilterThatExcludesEverythingLeavesTheRoot() {
        sampler.setInstrumentationFilter("org.nowhere");
        sampler.init();
        Work.root(10);
        CallCounts.take(sampler);
        Work.root(10);
        assertThat(CallCounts.take(sampler)).isEqualTo(Map.of("Work.root", 1L));
        patiently().untilAsserted(() -> assertThat(text()).contains("excluded by filter: "));
    }

    @Test
    void callsBelowTheDepthAreOneFigureOfTheAccount() {
        sampler.setInstrumentation(Instrumentation.EAGER);
        sampler.setMaxCallDepth(2);
        sampler.init();
        Map<String, Long> shallow = new TreeMap<>(Work.callsOf(10));
        shallow.keySet().removeIf(path -> path.chars().filter(c -> c == '|').count() > 1);
        awaitCounted(shallow);
        Work.root(10);
        long deeper = sum(Work.callsOf(10)) - sum(shallow);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(CallCounts.of(report)).isEqualTo(shallow);
            assertThat(report.toString(ReportFormat.TEXT))
                    .contains("calls without a place: " + deeper + " (over the limit of depth (maxCallDepth): " + deeper
                            + ")\n");
        }
    }

    @Test
    void methodsPastTheLimitAreInTheAccount() {
        sampler.setInstrumentation(Instrumentation.EAGER);
        sampler.setMaxCountedMethods(1);
        sampler.init();
        Work.root(10);
        CallCounts.take(sampler);
        Work.root(10);
        assertThat(CallCounts.take(sampler)).isEqualTo(Map.of("Work.root", 1L));
        assertThat(text()).contains("left alone, over the limit of methods: ");
    }

    @Test
    void callsOfAPauseAreNotCounted() {
        sampler.init();
        awaitInstrumented();
        CallCounts.take(sampler);
        Work.root(10);
        sampler.pauseSampling();
        Work.root(10);
        sampler.resumeSampling();
        Work.root(10);
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(10), 2));
    }

    @Test
    void anotherSamplerSamplesOnlyAndSaysWhy() throws IOException {
        sampler.init();
        try (ThreadsSampler other = quick(new Recorder())) {
            other.setRootMethods(ROOT);
            other.init();
            assertThat(other.getStatistics().getEngine()).contains("(calls not counted: ");
            assertThat(other.getStatistics().getLimitations())
                    .containsExactly(new SamplingLimitation(
                            SamplingLimitation.Code.CALLS_NOT_COUNTED,
                            "calls cannot be counted: another sampler counts calls in this JVM"));
            Work.root(10);
            assertThat(CallCounts.take(other)).isEmpty();
        }
        awaitInstrumented();
    }

    @Test
    void aSamplerThatIsStartedAgainCountsAgain() throws IOException {
        for (int i = 0; i < 3; i++) {
            sampler.init();
            awaitInstrumented();
            sampler.close();
            Work.root(10); // runs the code without probes, or exits whose entries were not counted
        }
    }

    /** The root may have been the endless loop of a server. */
    @Test
    void aThreadInsideOfARootOfEarlierIsCountedFromItsNextRootOn() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch mayGoOn = new CountDownLatch(1);
        Thread inside = new Thread(() -> Work.rootAfter(entered, mayGoOn, 10));
        sampler.setRootMethods("counted.Work.rootAfter");
        sampler.init();
        inside.start();
        entered.await();
        sampler.close();
        sampler.setRootMethods(ROOT);
        sampler.init();
        awaitInstrumented();
        mayGoOn.countDown();
        inside.join();
        assertThat(CallCounts.take(sampler)).isEqualTo(times(Work.callsOf(10), 1));
    }

    /** If an argument of super() throws, the constructor has no exit. Its thread must not stay inside the root. */
    @Test
    void aConstructorThatFailsBeforeSuperIsNoRootThatRuns() {
        Map<String, Long> wanted = Map.of("Work$CheckedItem.<init>", 1L, "Work$CheckedItem.<init>|Work.leaf", 1L);
        sampler.setRootMethods("counted.Work$CheckedItem.<init>");
        sampler.init();
        patiently().until(() -> {
            CallCounts.take(sampler);
            Work.checkedItem(1);
            return CallCounts.take(sampler).equals(wanted);
        });
        for (int i = 0; i < 5; i++) {
            assertThatIllegalArgumentException().isThrownBy(() -> Work.checkedItem(-1));
        }
        Work.deepThenWide(0, 7); // calls leaf
        assertThat(CallCounts.take(sampler)).isEmpty();
        Work.checkedItem(2);
        assertThat(CallCounts.take(sampler)).isEqualTo(wanted);
    }

    /**
     * Each round of counting adds constants to the class. If their number grew, the JVM would at last refuse to change
     * the class, and none of its methods would be counted.
     */
    @Test
    void aClassThatIsCountedAgainAndAgainKeepsRoomForConstants() throws Exception {
        ChildJvm.of(CountingCyclesProgram.class)
                .withTestLibraries()
                .option("--add-opens=java.base/java.lang=ALL-UNNAMED")
                .option("--add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED")
                .run()
                .assertSaysFine();
    }

    @Test
    void rootsAreFixedWhileItRuns() {
        sampler.init();
        assertThatIllegalStateException()
                .isThrownBy(() -> sampler.setRootMethods("a.B.c"))
                .withMessageContaining("rootMethods");
        assertThat(sampler.getRootMethods()).isEqualTo(ROOT);
        sampler.setDiscardWarmUp(true);
    }

    private static String countingJvm(String... options) throws Exception {
        return ChildJvm.of(CountingProgram.class)
                .option("-Xlog:redefine+class+nmethod=debug")
                .option(options)
                .run(ROOT)
                .assertFine()
                .output();
    }

    private static void assertDiscards(String output, int discards) {
        assertThat(output.split("Marked all nmethods for deopt", -1)).hasSize(1 + discards);
        assertThat(output.split("the JVM has discarded its compiled code", -1)).hasSize(1 + discards);
        assertThat(output).contains("dependent nmethods for deopt"); // the changes of later batches
    }

    /**
     * In JDKs before 23 the JVM discards all compiled code once, before anything is counted; later only code that
     * depends on a changed class. The log of the JVM shows it.
     */
    @Test
    void compiledCodeIsDiscardedOnceAtMostAndThatIsAnnounced() throws Exception {
        String output = countingJvm();
        if (Runtime.version().feature() >= KEEPS_COMPILED_CODE) {
            assertDiscards(output, 0);
        } else {
            assertDiscards(output, 1);
            assertThat(output.indexOf("Marked all nmethods")).isLessThan(output.indexOf("dependent nmethods"));
            assertThat(output).contains("INFO: the JVM has discarded its compiled code, as JDKs before 23 do");
        }
    }

    /** The agent has made the JVM keep the dependencies of compiled code from its start on. */
    @Test
    void noCodeIsDiscardedBesideAnAgentThatMayChangeClasses(@TempDir Path folder) throws Exception {
        Path agent = folder.resolve("agent.jar");
        RedefiningAgent.writeJar(agent);
        assertDiscards(countingJvm("-javaagent:" + agent), 0);
    }

    /** Without root methods the sampler defines no class. */
    @Test
    void withoutRootsNothingIsTouched() throws Exception {
        String without = ChildJvm.of(CountingProgram.class).run().assertFine().output();
        assertThat(without).contains("hook class: false").doesNotContain("Counted thread");
        String with = ChildJvm.of(CountingProgram.class).run(ROOT).assertFine().output();
        assertThat(with).contains("hook class: true").contains("Counted thread: main");
    }
}
