// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.ticks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.text.SimpleDateFormat;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The API of a running sampler. */
@ExtendWith(NothingLeft.class)
class BehaviourIT {

    private static final String WORK = "com.incapsula.sampler.testing.work";
    private static final String SERVE = WORK + ".Desk.serve";
    private static final String AWAIT = "java.util.concurrent.CountDownLatch.await";

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    /* A report of some ticks that begin after this call. */
    private Report freshReport() {
        sampler.printReport();
        awaitTicks(sampler, 5);
        sampler.printReport();
        return recorder.last();
    }

    // ---- properties of a running sampler ----

    @Test
    void samplingFrequencyChangesAtOnce() {
        sampler.setSamplingFrequencyMillis(3_600_000);
        sampler.init();
        long first = ticks(sampler);
        sampler.setSamplingFrequencyMillis(1);
        awaitTicks(sampler, 50);
        sampler.setSamplingFrequencyMillis(3_600_000);
        sampler.printReport(); // the new value is in force now, and the ticks skipped so far are counted
        long rare = ticks(sampler);
        /* Real time has to pass: many ticks would have been due with the old value. */
        long changed = System.nanoTime();
        patiently().until(() -> System.nanoTime() - changed > 50_000_000);
        sampler.printReport();
        assertThat(first).isEqualTo(1);
        assertThat(ticks(sampler)).as("the report's own tick").isEqualTo(rare + 1);
    }

    @Test
    void reportFrequencyChangesAtOnce() {
        sampler.setReportFrequencySeconds(31_536_000);
        sampler.init();
        awaitTicks(sampler, 3);
        assertThat(recorder.reports()).isEmpty();
        sampler.setReportFrequencySeconds(1);
        patiently().until(() -> recorder.reports().size() >= 2);
        assertThat(recorder.last().account()).startsWith("polls: ");
    }

    @Test
    void monitoredPackagesChangeAtTheNextTick() {
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            assertThat(freshReport().group("worker").methods()).contains("jdk.internal.misc.Unsafe.park");
            sampler.setMonitoredPackages(WORK);
            assertThat(freshReport().group("worker").methods()).endsWith(AWAIT);
            sampler.setMonitoredPackages("org.absent");
            assertThat(freshReport().group("worker").methods()).containsExactly("java.lang.Thread.run");
        }
    }

    @Test
    void daemonThreadsAreLeftOutFromTheNextTickOn() {
        try (Worker worker = Worker.waiting("worker");
                Worker daemon = Worker.daemon("daemon")) {
            sampler.init();
            assertThat(freshReport().names()).contains("worker", "daemon");
            sampler.setSkipDaemonThreads(true);
            assertThat(freshReport().names()).contains("worker").doesNotContain("daemon");
            sampler.setSkipDaemonThreads(false);
            assertThat(freshReport().names()).contains("worker", "daemon");
            assertThat(worker.thread().isDaemon()).isNotEqualTo(daemon.thread().isDaemon());
        }
    }

    @Test
    void theRowOrderAppliesToTheNextReport() {
        String calculate = WORK + ".Desk.calculate";
        sampler.setMonitoredPackages(WORK);
        try (Worker longer = Worker.waiting("pool-1")) {
            sampler.setThreadToBeSampled(longer.thread());
            sampler.init();
            awaitTicks(sampler, 30);
            try (Worker shorter = Worker.busy("pool-2")) {
                sampler.setThreadToBeSampled(shorter.thread());
                awaitSeen(sampler, "pool-", calculate);
                sampler.setReportOrder(ReportOrder.BY_TIME);
                sampler.printReport();
                assertThat(recorder.last().group("pool-").methods()).containsSubsequence(AWAIT, calculate);
                sampler.setReportOrder(ReportOrder.BY_NAME);
                sampler.snapshot().close();
                awaitSeen(sampler, "pool-", calculate);
                sampler.printReport();
                assertThat(recorder.last().group("pool-").methods()).containsSubsequence(calculate, AWAIT);
            }
        }
    }

    @Test
    void theOptionForRowsWithoutTimeAppliesToTheNextReport() {
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            assertThat(freshReport().group("worker").methods()).hasSize(3).startsWith("java.lang.Thread.run", SERVE);
            sampler.setReportZeroTimePackages(true);
            assertThat(freshReport().group("worker").methods())
                    .as("kept where the package changes")
                    .startsWith("java.lang.Thread.run")
                    .containsSubsequence(SERVE, AWAIT);
            sampler.setReportZeroTimePackages(false);
            assertThat(freshReport().group("worker").methods()).hasSize(3).startsWith("java.lang.Thread.run", SERVE);
        }
    }

    @Test
    void anInactiveSamplerPollsNothing() {
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.setActive(false);
            sampler.init();
            assertThat(ticks(sampler)).isZero();
            sampler.printReport();
            assertThat(recorder.calls())
                    .as("nothing was sampled, nothing is printed")
                    .isEmpty();
            sampler.setActive(true);
            awaitTicks(sampler, 3);
            sampler.setActive(false);
            sampler.printReport();
            long polls = sampler.getStatistics().getPolls();
            assertThat(polls).isPositive();
            assertThat(recorder.only().group("worker").rows()).isNotEmpty();
            sampler.printReport();
            assertThat(sampler.getStatistics().getPolls()).isEqualTo(polls);
        }
    }

    @Test
    void fixedPropertiesAreRefusedWhileItRuns() throws IOException {
        sampler.init();
        assertThatIllegalStateException()
                .isThrownBy(() -> sampler.setMemoryLimitBytes(8 << 20))
                .withMessage("memoryLimitBytes cannot be changed while the sampler runs");
        assertThatIllegalStateException()
                .isThrownBy(() -> sampler.setMaxDepthFrames(100))
                .withMessage("maxDepthFrames cannot be changed while the sampler runs");
        assertThatIllegalStateException()
                .isThrownBy(() -> sampler.setEngine(SamplingEngine.JVMTI))
                .withMessage("engine cannot be changed while the sampler runs");
        sampler.close();
        sampler.setMemoryLimitBytes(8 << 20);
        sampler.setMaxDepthFrames(100);
        sampler.init();
        assertThat(sampler.getStatistics().getMemoryLimitBytes()).isEqualTo(8 << 20);
    }

    @Test
    void aWrongCombinationIsRefusedWhileItRuns() {
        sampler.setReportFrequencySeconds(1);
        sampler.init();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> sampler.setSamplingFrequencyMillis(5000))
                .withMessage("reportFrequencySeconds must be 0 or not shorter than samplingFrequencyMillis,"
                        + " got 1 s and 5000 ms");
        assertThat(sampler.getSamplingFrequencyMillis()).isEqualTo(5);
        awaitTicks(sampler, 5);
    }

    @Test
    void deepStacksAreCutAtTheLimitInTheMiddle() {
        try (Worker deep =
                Worker.doing("deep", goHome -> Desk.serveDeep(200, goHome)).awaitWaiting()) {
            sampler.setMaxDepthFrames(40);
            sampler.setThreadToBeSampled(deep.thread());
            sampler.init();
            /*
             * An idle thread is walked once; later reports credit its time as idle. A short report may have no poll of
             * it.
             */
            patiently().until(() -> freshReport().figure("credited as idle") > 0);
            Group group = recorder.last().group("deep");
            assertThat(group.maxDepth()).isGreaterThan(200);
            assertThat(group.rows().get(0).method()).isEqualTo("java.lang.Thread.run");
            assertThat(group.methods()).anyMatch(row -> row.matches("\\[.* frames omitted\\]"));
            assertThat(recorder.reports().stream()
                            .mapToLong(report -> report.figure("samples taken, part of a deep stack omitted"))
                            .sum())
                    .isPositive();
            assertThat(recorder.last().figure("frames omitted from deep stacks"))
                    .isGreaterThan(160);
        }
    }

    /** A handshake that read down to the root would take longer the deeper the stack is. */
    @Test
    void aDeepStackThatIsWalkedByAHandshakeKeepsItsLeafsEnd() {
        try (Worker deep =
                Worker.doing("deep", goHome -> Desk.serveDeep(200, goHome)).awaitWaiting()) {
            sampler.setMaxDepthFrames(40);
            sampler.setEngine(SamplingEngine.JVMTI);
            sampler.setThreadToBeSampled(deep.thread());
            sampler.init();
            patiently().until(() -> freshReport().figure("credited as idle") > 0);
            assertThat(recorder.last().group("deep").rows().get(0).method()).isEqualTo("[frames omitted]");
            assertThat(recorder.reports().stream()
                            .mapToLong(report -> report.figure("samples taken, part of a deep stack omitted"))
                            .sum())
                    .isPositive();
        }
    }

    // ---- chosen threads ----

    @Test
    void onlyChosenThreadsAreSampledBeTheyDaemonsOrNot() {
        try (Worker one = Worker.waiting("one");
                Worker daemon = Worker.daemon("two");
                Worker other = Worker.waiting("other")) {
            sampler.setSkipDaemonThreads(true);
            sampler.setThreadToBeSampled(one.thread());
            sampler.init();
            assertThat(freshReport().names()).containsExactly("one");
            sampler.setSampleTheseThreadsOnly(List.of(daemon.thread()));
            assertThat(freshReport().names()).containsExactlyInAnyOrder("one", "two");
            sampler.setSampleTheseThreadsOnly(List.of());
            assertThat(freshReport().names()).contains("one", "other").doesNotContain("two");
            assertThat(other.thread().isDaemon()).isFalse();
        }
    }

    @Test
    void aChosenThreadIsSampledFromItsStartAndDroppedAtItsEnd() throws IOException {
        Worker worker = Worker.unstarted("late");
        sampler.setThreadToBeSampled(worker.thread());
        sampler.init();
        awaitTicks(sampler, 3);
        assertThat(sampler.getStatistics().getThreads()).as("not started").isZero();
        assertThat(sampler.getThreadToBeSampled()).isSameAs(worker.thread());
        worker.started().awaitWaiting();
        awaitTicks(sampler, 5);
        assertThat(sampler.getStatistics().getThreads()).isEqualTo(1);
        worker.close();
        assertThat(sampler.getThreadToBeSampled()).isNull();
        sampler.printReport();
        assertThat(recorder.last().names()).containsExactly("late");
        awaitTicks(sampler, 5);
        int before = recorder.calls().size();
        sampler.close();
        assertThat(recorder.calls().subList(before, recorder.calls().size()))
                .as("all chosen threads have ended: nothing is sampled")
                .containsExactly("close");
    }

    @Test
    void chosenThreadsAreHeldWeakly() {
        WeakReference<Thread> ended = chooseAnEndingThread();
        WeakReference<Thread> neverStarted = new WeakReference<>(new Thread("never started"));
        chooseIfStillThere(neverStarted);
        sampler.init();
        awaitTicks(sampler, 3);
        patiently().until(() -> {
            System.gc();
            return ended.get() == null && neverStarted.get() == null;
        });
        assertThat(sampler.getSampleTheseThreadsOnly()).isEmpty();
    }

    private WeakReference<Thread> chooseAnEndingThread() {
        try (Worker worker = Worker.waiting("ending")) {
            sampler.setThreadToBeSampled(worker.thread());
            return new WeakReference<>(worker.thread());
        }
    }

    private void chooseIfStillThere(WeakReference<Thread> thread) {
        Thread there = thread.get();
        if (there != null) {
            sampler.setThreadToBeSampled(there);
        }
    }

    // ---- pause ----

    @Test
    void pausedTimeIsNotCredited() throws IOException {
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            awaitTicks(sampler, 20);
            long runningAtLeast = System.nanoTime() - inner;
            sampler.pauseSampling();
            long runningAtMost = System.nanoTime() - outer;
            assertThat(sampler.isPaused()).isTrue();
            long ticks = ticks(sampler);
            long polls = sampler.getStatistics().getPolls();
            sampler.pauseSampling();
            /* Real time has to pass while the sampler is paused. */
            long paused = System.nanoTime();
            patiently().until(() -> System.nanoTime() - paused > 400_000_000L);
            assertThat(ticks(sampler)).isEqualTo(ticks);
            assertThat(sampler.getStatistics().getPolls()).isEqualTo(polls);
            outer = System.nanoTime();
            sampler.resumeSampling();
            sampler.resumeSampling();
            assertThat(sampler.isPaused()).isFalse();
            awaitTicks(sampler, 20);
            sampler.close();
            runningAtMost += System.nanoTime() - outer;
            assertThat(recorder.only().group("worker").cumulativeMillis())
                    .as("data from before the pause is kept, the pause is not credited")
                    .isBetween(runningAtLeast / 1_000_000 - 1, runningAtMost / 1_000_000 + 2);
            assertThat(sampler.getStatistics().getElapsedNanos()).isLessThanOrEqualTo(runningAtMost);
        }
    }

    @Test
    void theTitleSaysTheTrueInterval() throws Exception {
        long before = System.currentTimeMillis() / 1000 * 1000;
        sampler.init();
        long inited = System.currentTimeMillis();
        awaitTicks(sampler, 2);
        awaitAnotherSecond(inited);
        long beforePause = System.currentTimeMillis() / 1000 * 1000;
        sampler.pauseSampling();
        long paused = System.currentTimeMillis();
        awaitAnotherSecond(paused);
        sampler.printReport();
        assertThat(from(recorder.only())).isBetween(before, inited);
        assertThat(till(recorder.only())).as("sampling ended with the pause").isBetween(beforePause, paused);
    }

    /* Titles have whole seconds. */
    private static void awaitAnotherSecond(long millis) {
        patiently().until(() -> System.currentTimeMillis() / 1000 > millis / 1000);
    }

    private static long from(Report report) throws Exception {
        return date(report.title().replaceFirst("Report interval: from (.*) till .*", "$1"));
    }

    private static long till(Report report) throws Exception {
        return date(report.title().replaceFirst("Report interval: from .* till (.*)", "$1"));
    }

    /* The format of Date.toString(). */
    private static long date(String text) throws Exception {
        Date date = new SimpleDateFormat("EEE MMM dd HH:mm:ss zzz yyyy", Locale.US).parse(text);
        assertThat(date).hasToString(text);
        return date.getTime();
    }

    @Test
    void dataFromBeforeAPauseCanBePrintedInThePause() {
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            awaitTicks(sampler, 5);
            sampler.pauseSampling();
            sampler.printReport();
            assertThat(recorder.only().group("worker").cumulativeMillis()).isPositive();
            sampler.printReport();
            assertThat(recorder.reports()).as("nothing more was sampled").hasSize(1);
        }
    }

    // ---- reports on demand ----

    @Test
    void printReportReturnsWhenTheReportIsWritten() throws IOException {
        CountDownLatch mayWrite = new CountDownLatch(1);
        Recorder slow = new Recorder() {
            @Override
            public void flush() {
                awaitReleased(mayWrite);
                super.flush();
            }
        };
        sampler.setSamplingOutputer(slow);
        sampler.init();
        awaitTicks(sampler, 2);
        AtomicReference<Integer> reportsAtReturn = new AtomicReference<>();
        Thread caller = new Thread(() -> {
            sampler.printReport();
            reportsAtReturn.set(slow.reports().size());
        });
        caller.start();
        patiently().until(() -> slow.calls().contains("account"));
        awaitTicks(sampler, 5);
        assertThat(reportsAtReturn).as("still waiting").hasValue(null);
        mayWrite.countDown();
        patiently().until(() -> !caller.isAlive());
        assertThat(reportsAtReturn).hasValue(1);
        sampler.close();
    }

    @Test
    void sampleOnceIsCreditedWithOneInterval() {
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setSamplingFrequencyMillis(1234);
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            assertThatIllegalStateException()
                    .isThrownBy(sampler::sampleOnceAndPrint)
                    .withMessage("sampleOnceAndPrint() needs a sampler that is paused or not active");
            sampler.pauseSampling();
            sampler.printReport();
            sampler.sampleOnceAndPrint();
            assertThat(recorder.last().group("worker").cumulativeMillis()).isEqualTo(1234);
            assertThat(recorder.last().figure("polls")).isEqualTo(1);
            sampler.resumeSampling();
            sampler.setActive(false);
            sampler.printReport();
            sampler.sampleOnceAndPrint();
            assertThat(recorder.last().group("worker").cumulativeMillis()).isEqualTo(1234);
        }
    }

    @Test
    void waitingMethodsAreRefusedInTheOutputerAndTheManipulator() {
        List<Throwable> refused = new ArrayList<>();
        Recorder meddling = new Recorder() {
            @Override
            public void printIntervalTitle(String text) {
                super.printIntervalTitle(text);
                collect(refused, sampler::close);
                collect(refused, sampler::printReport);
                sampler.setSkipDaemonThreads(true);
                assertThat(sampler.getStatistics().getPolls()).isPositive();
            }
        };
        sampler.setSamplingOutputer(meddling);
        sampler.init();
        awaitTicks(sampler, 2);
        sampler.printReport();
        assertThat(meddling.failures()).isEmpty();
        sampler.setThreadNameManipulator(thread -> {
            synchronized (refused) {
                if (refused.size() == 2) {
                    collect(refused, sampler::pauseSampling);
                    collect(refused, sampler::close);
                }
            }
            return thread.getName();
        });
        awaitTicks(sampler, 3);
        assertThat(refused)
                .extracting(Throwable::getMessage)
                .containsExactly(
                        refusal("close()"), refusal("printReport()"), refusal("pauseSampling()"), refusal("close()"));
        sampler.setSamplingOutputer(recorder);
        patiently().until(sampler::isSkipDaemonThreads);
    }

    private interface Call {
        void run() throws Exception;
    }

    private static void collect(List<Throwable> refused, Call call) {
        try {
            call.run();
        } catch (Exception e) {
            refused.add(e);
        }
    }

    private static String refusal(String call) {
        return call + " would wait for itself: it was called from the sampler's own outputer or manipulator";
    }

    // ---- start and end ----

    @Test
    void initTwiceIsRefusedAndTheSamplerGoesOn() {
        sampler.init();
        assertThatIllegalStateException()
                .isThrownBy(sampler::init)
                .withMessage("init() was called already; close() has to come first");
        awaitTicks(sampler, 3);
    }

    @Test
    void closeWritesTheLastReportAndClosesTheOutputerOnce() throws Exception {
        sampler.init();
        awaitTicks(sampler, 3);
        List<Thread> closers = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            Thread closer = new Thread(() -> collect(failures, sampler::close));
            closers.add(closer);
            closer.start();
        }
        for (Thread closer : closers) {
            closer.join();
        }
        sampler.close();
        sampler.shutdown();
        assertThat(failures).isEmpty();
        assertThat(recorder.calls())
                .startsWith("title", "summary", "account", "record")
                .endsWith("record", "flush", "close");
        assertThat(recorder.calls().stream().filter("close"::equals)).hasSize(1);
        assertThat(recorder.reports()).hasSize(1);
    }

    @Test
    void shutdownLeavesTheOutputerOpen() throws IOException {
        sampler.init();
        awaitTicks(sampler, 3);
        sampler.shutdown();
        assertThat(recorder.calls()).endsWith("record", "flush");
        sampler.close();
        assertThat(recorder.calls()).doesNotContain("close");
    }

    @Test
    void initAfterCloseIsAFreshStart() throws IOException {
        try (Worker first = Worker.waiting("first")) {
            sampler.setThreadToBeSampled(first.thread());
            sampler.init();
            awaitTicks(sampler, 40);
            sampler.close();
        }
        SamplerStatistics ofFirst = sampler.getStatistics();
        assertThat(ofFirst.getReportsWritten()).isEqualTo(1);
        try (Worker second = Worker.waiting("second")) {
            sampler.setThreadToBeSampled(second.thread());
            sampler.setSamplingFrequencyMillis(3_600_000);
            sampler.init();
            assertThat(ofFirst.getPolls()).isPositive();
            assertThat(sampler.getStatistics().getPolls()).isZero();
            sampler.setSamplingFrequencyMillis(5);
            awaitTicks(sampler, 3);
            sampler.close();
        }
        assertThat(recorder.reports()).hasSize(2);
        assertThat(recorder.last().names()).containsExactly("second");
        assertThat(sampler.getStatistics().getReportsWritten()).isEqualTo(1);
    }

    @Test
    void aReplacedOutputerGetsNothingMoreAndIsNotClosed() throws IOException {
        Recorder other = new Recorder();
        sampler.init();
        awaitTicks(sampler, 2);
        sampler.printReport();
        sampler.setSamplingOutputer(other);
        awaitTicks(sampler, 2);
        sampler.printReport();
        sampler.close();
        assertThat(recorder.reports()).hasSize(1);
        assertThat(recorder.calls()).doesNotContain("close");
        assertThat(other.reports()).hasSize(2);
        assertThat(other.calls()).endsWith("close");
    }

    @Test
    void statisticsShowWhatHappened() throws IOException {
        assertThat(sampler.getStatistics().getEngine()).isEmpty();
        sampler.init();
        awaitTicks(sampler, 10);
        SamplerStatistics statistics = sampler.getStatistics();
        assertThat(statistics.getEngine()).as("the default, and it works here").isEqualTo("HYBRID");
        assertThat(statistics.getMode()).isEqualTo(SamplingMode.OWN);
        assertThat(statistics.getLimitations()).isEmpty();
        assertThat(statistics.getClock()).isEqualTo(SamplingClock.WALL);
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.getMode()).isEqualTo(SamplingMode.OWN);
            assertThat(report.getLimitations()).isEmpty();
            assertThat(report.isInert()).isFalse();
        }
        assertThat(statistics.getThreads()).isPositive();
        assertThat(statistics.getNodes()).isPositive();
        assertThat(statistics.getLocations()).isPositive();
        assertThat(statistics.getOwnCpuNanos()).isPositive();
        assertThat(statistics.getElapsedNanos()).isPositive();
        sampler.close();
        assertThat(sampler.getStatistics().getPolls()).isGreaterThanOrEqualTo(statistics.getPolls());
        assertThat(sampler.getStatistics().getReportsWritten()).isEqualTo(1);
    }
}
