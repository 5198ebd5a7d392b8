// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Latches.awaitReleased;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.ticks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.incapsula.sampler.internal.report.PlainText;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.OutcomeTable;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Failures around a sampler lose no data and do no harm. */
@ExtendWith(NothingLeft.class)
class FaultsIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int SHORT_THREADS = 20_000;

    @TempDir
    Path folder;

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    // ---- slow outputer ----

    /*
     * Blocks in the first record until it is released; in the long form also sleeps for 10 s in every record of a
     * worker.
     */
    private static final class SlowRecorder extends Recorder {

        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayGoOn = new CountDownLatch(1);

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            entered.countDown();
            try {
                mayGoOn.await();
                if (LONG && threadTitle.startsWith("Aggregated")) {
                    Thread.sleep(10_000);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            super.printThreadRecord(threadTitle, record);
        }
    }

    @Test
    void slowOutputerCostsReportsButNoSamplesAndIsClosedWhenItHasWritten() throws Exception {
        SlowRecorder slow = new SlowRecorder();
        sampler.setSamplingOutputer(slow);
        sampler.setReportFrequencySeconds(1);
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            slow.entered.await();
            patiently().until(() -> sampler.getStatistics().getCounters().get("MERGED_REPORTS") >= 2);
            awaitTicks(sampler, 20); // sampling continues
            long atLeast = System.nanoTime() - inner;
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread closer = new Thread(() -> {
                try {
                    sampler.close();
                } catch (IOException e) {
                    failure.set(e);
                }
            });
            closer.start();
            // only its report is still being written
            patiently().until(() -> !NothingLeft.samplerThreads().contains("threads-sampler"));
            assertThat(closer.isAlive()).as("close waits for the writing").isTrue();
            assertThat(slow.calls()).doesNotContain("close");
            slow.mayGoOn.countDown();
            closer.join();
            long atMost = System.nanoTime() - outer;
            assertThat(failure).hasValue(null);
            assertThat(slow.calls()).contains("account").endsWith("record", "flush", "close");
            assertThat(slow.calls().stream().filter("close"::equals)).hasSize(1);
            assertNoGap(slow.reports(), atLeast / 1_000_000, atMost / 1_000_000);
            String merged = OutcomeTable.textOf("MERGED_REPORTS");
            assertThat(slow.reports().stream()
                            .mapToLong(report -> report.figure(merged))
                            .sum())
                    .isGreaterThanOrEqualTo(2);
        }
    }

    private static void assertNoGap(List<Report> reports, long atLeast, long atMost) {
        long sum = reports.stream()
                .mapToLong(report -> report.group("worker").cumulativeMillis())
                .sum();
        assertThat(sum).as("all time is in the reports").isBetween(atLeast - 10, atMost + reports.size());
    }

    // ---- throwing outputer ----

    private static final class ThrowingRecorder extends Recorder {

        private final String where;
        private final Throwable what;
        private final boolean inPrintError;
        private volatile boolean throwing = true;

        ThrowingRecorder(String where, Throwable what, boolean inPrintError) {
            this.where = where;
            this.what = what;
            this.inPrintError = inPrintError;
        }

        private void throwIn(String call) {
            if (throwing && call.equals(where)) {
                FaultsIT.<RuntimeException>sneak(what);
            }
        }

        @Override
        public synchronized void printIntervalTitle(String text) {
            throwIn("title");
            super.printIntervalTitle(text);
        }

        @Override
        public synchronized void printThreadRecord(String threadTitle, String record) {
            throwIn("record");
            super.printThreadRecord(threadTitle, record);
        }

        @Override
        public synchronized void flush() {
            throwIn("flush");
            super.flush();
        }

        @Override
        public synchronized void printError(String message, Throwable cause) {
            super.printError(message, cause);
            if (inPrintError) {
                throw new AssertionError("in printError");
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable what) throws T {
        throw (T) what;
    }

    static Stream<Arguments> throwers() {
        List<Throwable> all = List.of(
                new IllegalStateException("full"),
                new AssertionError("broken"),
                new IOException("checked, though not declared"),
                new StackOverflowError(),
                new OutOfMemoryError());
        return Stream.of("title", "record", "flush")
                .flatMap(where -> all.stream()
                        .flatMap(what -> Stream.of(arguments(where, what, false), arguments(where, what, true))));
    }

    @ParameterizedTest
    @MethodSource("throwers")
    void throwingOutputerFailsOneReport(String where, Throwable what, boolean inPrintError) throws IOException {
        ThrowingRecorder throwing = new ThrowingRecorder(where, what, inPrintError);
        sampler.setSamplingOutputer(throwing);
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            awaitTicks(sampler, 2);
            sampler.printReport();
            assertThat(throwing.reports()).isEmpty();
            assertThat(throwing.failures()).as("reported once").hasSize(1);
            assertThat(throwing.failures().get(0).cause()).isSameAs(what);
            assertThat(throwing.failures().get(0).message())
                    .startsWith("Report could not be printed: Report interval: ");
            throwing.throwing = false;
            awaitTicks(sampler, 2);
            sampler.close();
            assertThat(throwing.only().group("worker").cumulativeMillis()).isPositive();
            assertThat(throwing.only().figure("reports that failed")).isEqualTo(1);
            assertThat(throwing.failures()).hasSize(1);
            assertThat(throwing.calls()).endsWith("flush", "close");
            assertThat(sampler.getStatistics().getReportsWritten()).isEqualTo(1);
        }
    }

    @Test
    void failingReportsAreTriedEachAtItsTime() {
        ThrowingRecorder throwing = new ThrowingRecorder("title", new AssertionError("always"), true);
        sampler.setSamplingOutputer(throwing);
        sampler.setReportFrequencySeconds(1);
        sampler.init();
        patiently().until(() -> throwing.failures().size() >= 3);
        awaitTicks(sampler, 20); // sampling is not affected
        throwing.throwing = false;
        patiently().until(() -> !throwing.reports().isEmpty());
    }

    @Test
    void outputerThatCannotBeClosedIsReportedToTheCaller() {
        sampler.setSamplingOutputer(new Recorder() {
            @Override
            public void close() {
                throw new AssertionError("stays open");
            }
        });
        sampler.init();
        assertThatThrownBy(sampler::close)
                .isInstanceOf(IOException.class)
                .hasMessage("the outputer could not be closed: stays open")
                .hasRootCauseMessage("stays open");
        NothingLeft.assertNothingLeft();
    }

    // ---- throwing manipulator ----

    @Test
    void manipulatorThatThrowsForOneThreadLeavesTheOthersAlone() {
        RegexThreadNameManipulator rule = new RegexThreadNameManipulator();
        try (Worker good = Worker.waiting("good-1");
                Worker bad = Worker.waiting("bad-2")) {
            sampler.setSampleTheseThreadsOnly(List.of(good.thread(), bad.thread()));
            sampler.setThreadNameManipulator(thread -> {
                if (thread == bad.thread()) {
                    throw new AssertionError("not this one");
                }
                return rule.getManipulatedThreadName(thread);
            });
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            for (int interval = 1; interval <= 2; interval++) {
                awaitTicks(sampler, 5);
                sampler.printReport();
                Report report = recorder.last();
                assertThat(report.names()).containsExactlyInAnyOrder("good-", "bad-2");
                long ticks = report.figure("ticks");
                assertThat(report.figure("failures of the thread name manipulator"))
                        .isBetween(ticks - 1, ticks);
                assertThat(recorder.failures()).as("reported once per interval").hasSize(interval);
                assertThat(recorder.failures().get(0).cause())
                        .isInstanceOf(AssertionError.class)
                        .hasMessage("not this one");
                assertThat(recorder.failures().get(0).message()).startsWith("The thread name manipulator failed ");
            }
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            sampler.printReport();
            long atMost = (System.nanoTime() - outer) / 1_000_000;
            for (String name : List.of("good-", "bad-2")) {
                assertThat(recorder.reports().stream()
                                .mapToLong(report -> report.group(name).cumulativeMillis())
                                .sum())
                        .as("no time is lost of " + name)
                        .isBetween(atLeast - 3, atMost + 1);
            }
        }
    }

    // ---- interrupts ----

    @Test
    void interruptedThreadStartsAndEndsASamplerAndStaysInterrupted() throws IOException {
        Path file = folder.resolve("report.log");
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(file.toString()));
        try (Worker worker = Worker.waiting("worker")) {
            sampler.setThreadToBeSampled(worker.thread());
            Thread.currentThread().interrupt();
            sampler.init();
            assertThat(Thread.interrupted()).as("the flag is still set").isTrue();
            awaitTicks(sampler, 5);
            Thread.currentThread().interrupt();
            sampler.printReport();
            sampler.pauseSampling();
            sampler.sampleOnceAndPrint();
            sampler.resumeSampling();
            sampler.close();
            assertThat(Thread.interrupted()).as("the flag is still set").isTrue();
        }
        List<Report> reports = Report.parse(Files.readString(file));
        assertThat(reports).hasSizeBetween(2, 3);
        assertThat(reports).allSatisfy(report -> assertThat(report.names()).containsExactly("worker"));
        NothingLeft.assertNothingLeft();
    }

    @Test
    void interruptingTheSamplersThreadsIsWithoutEffect() throws IOException {
        Path file = folder.resolve("report.log");
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(file.toString()));
        sampler.init();
        for (int i = 0; i < 5; i++) {
            Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("threads-sampler"))
                    .forEach(Thread::interrupt);
            awaitTicks(sampler, 2);
            sampler.printReport();
        }
        sampler.close();
        assertThat(Report.parse(Files.readString(file))).hasSizeGreaterThanOrEqualTo(5);
    }

    // ---- setters ----

    @Test
    void settersCanBeHammeredWhileItRuns() throws Exception {
        List<Throwable> failures = new ArrayList<>();
        List<Thread> hammers = new ArrayList<>();
        try (Worker worker = Worker.waiting("worker")) {
            sampler.init();
            long start = ticks(sampler);
            for (int i = 0; i < 4; i++) {
                Random random = new Random(i);
                hammers.add(new Thread(() -> hammer(worker.thread(), random, failures)));
            }
            hammers.forEach(Thread::start);
            for (Thread hammer : hammers) {
                hammer.join();
            }
            assertThat(failures).isEmpty();
            assertThat(recorder.failures()).isEmpty();
            assertThat(ticks(sampler)).isGreaterThan(start);
            sampler.setActive(true);
            sampler.setSampleTheseThreadsOnly(List.of());
            sampler.setThreadNameManipulator(Thread::getName);
            sampler.setSamplingFrequencyMillis(5);
            sampler.printReport();
            awaitTicks(sampler, 3);
            sampler.printReport();
            assertThat(recorder.last().names()).contains("worker");
        }
    }

    private void hammer(Thread thread, Random random, List<Throwable> failures) {
        List<Consumer<ThreadsSampler>> setters = List.of(
                s -> s.setSamplingFrequencyMillis(1 + random.nextInt(20)),
                s -> s.setReportFrequencySeconds(random.nextInt(3)),
                s -> s.setMonitoredPackages(random.nextBoolean() ? "java.util,com." : "java,org.x" + random.nextInt(9)),
                s -> s.setThreadToBeSampled(thread),
                s -> s.setSampleTheseThreadsOnly(List.of()),
                s -> s.setSkipDaemonThreads(random.nextBoolean()),
                s -> s.setReportZeroTimePackages(random.nextBoolean()),
                s -> s.setActive(random.nextBoolean()),
                s -> s.setReportOrder(random.nextBoolean() ? ReportOrder.BY_NAME : ReportOrder.BY_TIME),
                s -> s.setSamplingOutputer(recorder),
                s -> s.setThreadNameManipulator(
                        random.nextBoolean() ? new RegexThreadNameManipulator() : Thread::getName),
                s -> s.getStatistics().toString(),
                s -> s.getSampleTheseThreadsOnly().size());
        try {
            for (int i = 0; i < 1000; i++) {
                setters.get(random.nextInt(setters.size())).accept(sampler);
            }
        } catch (RuntimeException | Error e) {
            synchronized (failures) {
                failures.add(e);
            }
        }
    }

    // ---- many threads, nasty names ----

    @Test
    void twentyThousandShortThreadsLeaveABoundedTitleAndNoMemory() throws Exception {
        int wave = 250;
        // new threads are expensive; with the limit there would be ten ticks a second
        sampler.setOverheadLimitPercent(100);
        sampler.init();
        awaitTicks(sampler, 20);
        sampler.printReport();
        long before = memoryWithNothingWaiting();
        for (int started = 0; started < SHORT_THREADS; started += wave) {
            CountDownLatch atWork = new CountDownLatch(wave);
            CountDownLatch goHome = new CountDownLatch(1);
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < wave; i++) {
                Thread thread = new Thread(
                        null,
                        () -> {
                            atWork.countDown();
                            awaitReleased(goHome);
                        },
                        "short-" + (started + i),
                        64 * 1024);
                threads.add(thread);
                thread.start();
            }
            atWork.await();
            awaitTicks(sampler, 3);
            goHome.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        awaitTicks(sampler, 2);
        sampler.printReport();
        Group group = recorder.last().group("short-");
        assertThat(group.distinctThreads()).isEqualTo(SHORT_THREADS);
        assertThat(group.title().length()).isLessThan(1000);
        assertThat(group.title()).endsWith(", \u2026 " + (SHORT_THREADS - 20) + " more]");
        awaitTicks(sampler, 2);
        sampler.printReport();
        assertThat(recorder.last().find("short-")).isEmpty();
        /* Times by state take memory in steps of 64 KiB, the first when a row has two states. */
        assertThat(memoryWithNothingWaiting()).as("bytes").isLessThan(before + 100_000 + 64 * 1024);
    }

    /* Intervals that no reader has taken are kept for snapshot(); there may be several until they are merged. */
    private long memoryWithNothingWaiting() {
        sampler.snapshot().close();
        return sampler.getStatistics().getMemoryUsedBytes();
    }

    @Test
    void nastyNamesArePrintedOnOneLine() throws IOException {
        Path file = folder.resolve("report.log");
        List<String> names = List.of(
                "a, b, c",
                "\u00fc\u4e2d\ud83d\ude00",
                "two\nlines",
                "r\r\n",
                "tab\tbed",
                "nul\0l",
                "\u2028\u2029\u0085",
                "not \u202edetceles\u2069",
                "lone \ud83d surrogate",
                "] Max depth: x",
                "\u001b[31mred",
                "",
                "x".repeat(64 * 1024),
                "\ud83d\ude00".repeat(32 * 1024));
        List<Worker> workers = new ArrayList<>();
        for (String name : names) {
            workers.add(Worker.waiting(name));
        }
        try {
            sampler.setThreadNameManipulator(Thread::getName);
            sampler.setSampleTheseThreadsOnly(
                    workers.stream().map(Worker::thread).toList());
            sampler.init();
            awaitTicks(sampler, 3);
            sampler.pauseSampling();
            sampler.printReport();
            sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(file.toString()));
            sampler.setThreadNameManipulator(new RegexThreadNameManipulator());
            sampler.resumeSampling();
            awaitTicks(sampler, 3);
            sampler.close();
        } finally {
            workers.forEach(Worker::close);
        }
        Report raw = recorder.only();
        assertThat(raw.names())
                .hasSize(names.size())
                .contains(
                        "a, b, c",
                        "\u00fc\u4e2d\ud83d\ude00",
                        "two\\nlines",
                        "r\\r\\n",
                        "tab\\tbed",
                        "nul\ufffdl",
                        "] Max depth: x",
                        "[unnamed]",
                        "not \\u202edetceles\\u2069",
                        "\\u001b[31mred");
        assertThat(raw.sampled()).allSatisfy(group -> {
            assertThat(group.title().chars()).noneMatch(PlainText::isHidden);
            assertThat(group.cumulativeMillis()).isPositive();
        });
        Report printed = Report.parse(Files.readString(file)).get(0);
        assertThat(printed.sampled()).hasSize(names.size());
        assertThat(printed.sampled())
                .allSatisfy(group -> assertThat(group.title().length()).isLessThan(100_000));
    }

    // ---- an outputer that uses another sampler ----

    @Test
    void outputerThatStartsAndEndsAnotherSamplerDoesNoHarm() throws IOException {
        Recorder inner = new Recorder();
        SamplingOutputer meddling = new Recorder() {
            @Override
            public void flush() {
                super.flush();
                try (ThreadsSampler other = quick(inner)) {
                    other.init();
                    awaitTicks(other, 2);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }
        };
        sampler.setSamplingOutputer(meddling);
        sampler.init();
        awaitTicks(sampler, 2);
        sampler.printReport();
        assertThat(inner.only().groups()).isNotEmpty();
        assertThat(((Recorder) meddling).failures()).isEmpty();
        sampler.setSamplingOutputer(recorder);
    }
}
