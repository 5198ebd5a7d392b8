// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.CollapsedStacks;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.UntrackedProgram;
import com.incapsula.sampler.testing.Virtual;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** {@code sampleUnmountedVirtualThreads}: waiting virtual threads get their wall time by random draws. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class UnmountedIT {

    private static final String CLASS = "com.incapsula.sampler.UnmountedIT.";
    private static final String UNNAMED = "[virtual threads]";
    private static final String WALKED = "UNMOUNTED_WALKED";
    private static final List<String> SITES = List.of("atLatch", "parked", "asleep", "inMonitor", "atOtherLatch");

    private final Recorder recorder = new Recorder();
    private final CountDownLatch goHome = new CountDownLatch(1);
    private final CountDownLatch computing = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();
    private final List<ExecutorService> executors = new ArrayList<>();
    private ThreadsSampler sampler;
    private long aliveBefore;

    /*
     * The JDK starts virtual threads of its own, its pollers, once a virtual thread of any test has waited for a
     * socket.
     */
    @BeforeEach
    void countThoseThatAreThere(@TempDir Path folder) throws Exception {
        aliveBefore = Virtual.alive(folder);
    }

    @BeforeEach
    void make() {
        sampler = quick(recorder);
        sampler.setSampleUnmountedVirtualThreads(true);
        /* Draws are made at ticks, at most this often. */
        sampler.setSamplingFrequencyMillis(20);
    }

    @AfterEach
    void close() throws Exception {
        goHome.countDown();
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
            thread.join();
        }
        for (ExecutorService executor : executors) {
            executor.shutdown();
            assertThat(executor.awaitTermination(Samplers.HANG_SECONDS, TimeUnit.SECONDS))
                    .isTrue();
        }
        sampler.close();
        awaitCarriers();
    }

    /*
     * A virtual thread counts as ended for a joining thread before its carrier removes it from the list of all threads.
     */
    private static void awaitCarriers() {
        patiently()
                .until(() -> Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getClass().getSimpleName().equals("CarrierThread"))
                        .noneMatch(thread -> thread.getState() == Thread.State.RUNNABLE));
    }

    private void start(int count, String name, Runnable site) {
        for (int i = 0; i < count; i++) {
            threads.add(Virtual.start(name, site));
        }
    }

    private void startAtFiveSites(int each) {
        start(10 * each, null, this::atLatch);
        start(6 * each, null, this::parked);
        start(2 * each, null, this::asleep);
        start(each, null, this::inMonitor);
        start(each, null, this::atOtherLatch);
    }

    private void awaitWaiting() {
        patiently()
                .until(() -> threads.stream()
                        .allMatch(thread -> thread.getState() == Thread.State.WAITING
                                || thread.getState() == Thread.State.TIMED_WAITING));
    }

    private long count(String code) {
        return sampler.getStatistics().getOutcomes().getOrDefault(code, 0L);
    }

    private Report sampleUntil(long walked) {
        sampler.init();
        return reportAfter(walked);
    }

    private Report reportAfter(long walked) {
        patiently().until(() -> count(WALKED) >= walked);
        sampler.printReport();
        SamplerStatistics statistics = sampler.getStatistics();
        assertThat(statistics.getEngine()).doesNotContain("unmounted");
        assertThat(statistics.getOutcomes().values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(statistics.getPolls());
        return recorder.only();
    }

    /* There are so few threads that nearly each draw includes all of them. */
    @Test
    @EnabledForJreRange(minVersion = 25)
    void fewThreadsAllGetTheTimeTheyWait() {
        start(3, null, this::atLatch);
        start(1, null, this::asleep);
        start(1, null, this::inMonitor);
        awaitWaiting();
        Group group = sampleUntil(150).group(UNNAMED);
        double all = group.cumulativeMillis();
        assertThat(group.millisIn(CLASS + "atLatch") / all).isBetween(0.4, 0.8);
        assertThat(group.millisIn(CLASS + "asleep") / all).isBetween(0.1, 0.4);
        assertThat(group.millisIn(CLASS + "inMonitor") / all).isBetween(0.1, 0.4);
        assertThat(group.rows().get(0).method()).isEqualTo("java.lang.VirtualThread.run");
        assertThat(group.methods()).noneMatch(method -> method.contains("Continuation.enter"));
        assertThat(group.threadNames()).isEqualTo("virtual threads that are not mounted");
    }

    /*
     * With a thousand stacks the standard deviation of a share of one half is 1.6 points; the bar is seven times that.
     */
    @Test
    @EnabledForJreRange(minVersion = 25)
    void manyThreadsAreEstimated() {
        startAtFiveSites(100);
        awaitWaiting();
        sampler.init();
        Map<String, Double> percent = percentBySite();
        Report report = reportAfter(1000);
        assertThat(percent.get("atLatch")).isCloseTo(50, Offset.offset(11.5));
        assertThat(percent.get("parked")).isCloseTo(30, Offset.offset(10.5));
        assertThat(percent.get("asleep")).isCloseTo(10, Offset.offset(7.0));
        assertThat(percent.get("inMonitor")).isBetween(0.5, 10.5);
        assertThat(percent.get("atOtherLatch")).isBetween(0.5, 10.5);
        assertThat(alive(report)).isEqualTo((2000 + aliveBefore) * draws(report));
    }

    /*
     * The mean of intervals with equally many stacks. A single draw after a second without a CPU would weigh more than
     * all others.
     */
    private Map<String, Double> percentBySite() {
        int intervals = 20;
        Map<String, Double> percent = new HashMap<>();
        for (int i = 0; i < intervals; i++) {
            long enough = count(WALKED) + 1000 / intervals;
            patiently().until(() -> count(WALKED) >= enough);
            Map<String, Long> nanos = nanosBySite();
            double all = Samplers.sum(nanos);
            nanos.forEach((site, time) -> percent.merge(site, 100 * time / all / intervals, Double::sum));
        }
        return percent;
    }

    private Map<String, Long> nanosBySite() {
        Map<String, Long> nanos = new HashMap<>();
        try (SamplingReport report = sampler.snapshot()) {
            CollapsedStacks.of(report)
                    .forEach((stack, time) -> SITES.stream()
                            .filter(site -> stack.startsWith(UNNAMED + ";") && stack.contains(CLASS + site + "("))
                            .forEach(site -> nanos.merge(site, time, Long::sum)));
        }
        return nanos;
    }

    /* The number of threads is known, so the sum is the number times the time between the draws. */
    @Test
    @Measures
    @EnabledForJreRange(minVersion = 25)
    void theSumIsTheTimeOfAll() {
        startAtFiveSites(100);
        awaitWaiting();
        Group group = sampleUntil(1000).group(UNNAMED);
        double elapsed = sampler.getStatistics().getElapsedNanos() / 1e6;
        assertThat((double) group.cumulativeMillis()).isCloseTo(2000 * elapsed, Percentage.withPercentage(15));
    }

    @Test
    @EnabledForJreRange(minVersion = 25)
    void thoseOfExecutorsAreFoundAndNamesMakeGroups() throws Exception {
        executeAtLatch(Virtual.executor(), 3);
        executeAtLatch(Virtual.executor(), 3);
        start(1, "order-17", this::atLatch);
        start(1, "order-18", this::atLatch);
        awaitWaiting();
        Report report = sampleUntil(150);
        double named = report.group("order-").cumulativeMillis(); // of two threads; six threads have no name
        assertThat(report.group(UNNAMED).cumulativeMillis() / named).isBetween(1.5, 6.0);
    }

    private void executeAtLatch(ExecutorService executor, int tasks) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(tasks);
        executors.add(executor);
        for (int i = 0; i < tasks; i++) {
            executor.execute(() -> {
                begun.countDown();
                atLatch();
            });
        }
        begun.await();
    }

    private static long alive(Report report) {
        return report.figure("virtual threads alive at these draws, added up");
    }

    private static long draws(Report report) {
        return report.figure("draws of virtual threads");
    }

    /* Executors with other thread factories have platform threads, which are polled as such. */
    @Test
    @EnabledForJreRange(minVersion = 25)
    void platformThreadsOfExecutorsAreNotCounted() throws Exception {
        executeAtLatch(Virtual.executor(Executors.defaultThreadFactory()), 40);
        start(3, null, this::atLatch);
        awaitWaiting();
        Report report = sampleUntil(30);
        assertThat(alive(report)).isEqualTo((3 + aliveBefore) * draws(report));
        assertThat(report.figure("virtual threads drawn that were mounted")).isZero();
        assertThat(sampler.dump()).contains("\nvirtual threads: " + (3 + aliveBefore) + "\n");
    }

    /* Only draws show how many threads are virtual. There are so few that nearly each draw includes all. */
    @Test
    @EnabledForJreRange(minVersion = 25)
    void virtualThreadsBesidePlatformThreadsAreCounted() throws Exception {
        ThreadFactory virtual = Virtual.factory();
        AtomicInteger made = new AtomicInteger();
        executeAtLatch(
                Virtual.executor(task -> made.getAndIncrement() % 2 == 0 ? virtual.newThread(task) : new Thread(task)),
                8);
        Report report = sampleUntil(100);
        assertThat((double) alive(report) / draws(report)).isCloseTo(4 + aliveBefore, Offset.offset(1.0));
        assertThat(report.group(UNNAMED).cumulativeMillis()).isPositive();
    }

    @Test
    @EnabledForJreRange(minVersion = 25)
    void theManipulatorDecidesOnThem() {
        sampler.setThreadNameManipulator(
                thread -> thread.getName().startsWith("secret") ? null : "all " + thread.getName());
        start(1, "secret", this::atLatch);
        start(1, "order", this::atLatch);
        awaitWaiting();
        Report report = sampleUntil(10 * (2 + aliveBefore));
        assertThat(report.group("all order").cumulativeMillis()).isPositive();
        assertThat(report.names()).noneMatch(name -> name.contains("secret"));
    }

    /* The polls of its carrier have its time, also under the virtual thread's own name. */
    @Test
    @EnabledForJreRange(minVersion = 25)
    void aMountedOneIsNotCountedTwice() throws InterruptedException {
        sampler.setEngine(SamplingEngine.AUTO);
        start(1, "busy", this::compute);
        start(1, "waiting", this::atLatch);
        computing.await(); // mounted from now on
        patiently().until(() -> threads.get(1).getState() == Thread.State.WAITING);
        sampler.init();
        awaitSeen(sampler, "busy", CLASS + "compute"); // the carrier has had a CPU
        Report report = reportAfter(count(WALKED) + 20 * (1 + aliveBefore));
        assertThat(report.figure("virtual threads drawn that were mounted")).isPositive();
        assertThat(report.group("busy").threadNames()).doesNotContain("not mounted");
        double elapsed = sampler.getStatistics().getElapsedNanos() / 1e6;
        assertThat(report.group("busy").cumulativeMillis()).isLessThanOrEqualTo((long) elapsed + 2);
    }

    @Test
    @EnabledForJreRange(minVersion = 25)
    void itIsSwitchedOnAndOffWhileTheSamplerRuns() {
        start(4, null, this::atLatch);
        awaitWaiting();
        sampler.setSampleUnmountedVirtualThreads(false);
        sampler.init();
        Samplers.awaitTicks(sampler, 20);
        assertThat(count(WALKED)).isZero();
        assertThat(sampler.dump()).doesNotContain("\nvirtual threads: ");
        sampler.setSampleUnmountedVirtualThreads(true);
        patiently().until(() -> count(WALKED) >= 20);
        assertThat(sampler.dump()).contains("\nvirtual threads: " + (4 + aliveBefore) + "\n");
        sampler.setSampleUnmountedVirtualThreads(false);
        sampler.printReport();
        long walked = count(WALKED);
        Samplers.awaitTicks(sampler, 20);
        assertThat(count(WALKED)).isEqualTo(walked);
    }

    @Test
    @EnabledForJreRange(maxVersion = 24)
    void anOlderJvmIsWarnedAbout() {
        try (Logged logged = new Logged()) {
            sampler.init();
            assertThat(sampler.getStatistics().getEngine())
                    .endsWith(" (unmounted virtual threads not sampled: needs JDK 25 or later)");
            assertThat(sampler.getStatistics().getLimitations())
                    .contains(new SamplingLimitation(
                            SamplingLimitation.Code.UNMOUNTED_VIRTUAL_THREADS_NOT_SAMPLED, "needs JDK 25 or later"));
            patiently()
                    .until(() -> logged.messages()
                            .contains("WARN sampleUnmountedVirtualThreads has no effect: needs JDK 25 or later"));
            assertThat(sampler.getStatistics().getCounters().get("UNMOUNTED_DRAWS"))
                    .isZero();
        }
    }

    @Test
    @EnabledForJreRange(minVersion = 25)
    void aJvmThatTracksNoThreadsIsWarnedAbout() throws Exception {
        String output = ChildJvm.of(UntrackedProgram.class)
                .option("-Djdk.trackAllThreads=false")
                .run()
                .assertFine()
                .output();
        assertThat(output)
                .contains(" (unmounted virtual threads not sampled: jdk.trackAllThreads is false)\n")
                .contains("sampleUnmountedVirtualThreads has no effect: jdk.trackAllThreads is false");
        assertThat(output.toLowerCase(Locale.ROOT)).doesNotContain("exception");
    }

    private void atLatch() {
        awaitHome();
    }

    private void atOtherLatch() {
        awaitHome();
    }

    private void parked() {
        while (goHome.getCount() > 0) {
            LockSupport.park();
        }
    }

    private void asleep() {
        try {
            while (!goHome.await(1, TimeUnit.DAYS)) {
                Thread.onSpinWait();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void inMonitor() {
        Object monitor = new Object();
        synchronized (monitor) {
            awaitHome();
        }
    }

    private void awaitHome() {
        awaitReleased(goHome);
    }

    private void compute() {
        computing.countDown();
        while (goHome.getCount() > 0) {
            Thread.onSpinWait();
        }
    }
}
