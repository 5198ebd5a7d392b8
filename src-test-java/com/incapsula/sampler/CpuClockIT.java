// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.assertEachPollHasItsOutcome;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.data.Percentage.withPercentage;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.ProcessStatus;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Tool;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Samples by CPU time: the setting clock=CPU. */
@ExtendWith(NothingLeft.class)
class CpuClockIT {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final long BURNT_NANOS = 1_500_000_000;

    @TempDir
    Path folder;

    private static volatile double sink;

    /* Runs until the thread has used this much CPU time since its start. */
    private static long burn(long nanos) {
        double sum = 0;
        while (THREADS.getCurrentThreadCpuTime() < nanos) {
            for (int i = 1; i < 10_000; i++) {
                sum += Math.sqrt(i);
            }
        }
        sink = sum;
        return THREADS.getCurrentThreadCpuTime();
    }

    private static ThreadsSampler onCpu(Recorder recorder) {
        ThreadsSampler sampler = quick(recorder);
        sampler.setClock(SamplingClock.CPU);
        sampler.setReportJvmThreads(false);
        return sampler;
    }

    private static void assertSumsUp(ThreadsSampler sampler) {
        SamplerStatistics statistics = sampler.getStatistics();
        assertEachPollHasItsOutcome(statistics);
    }

    /* The kernel's status of the only thread with that name. */
    private static List<String> statusOf(String thread) throws IOException {
        Map<String, List<String>> found = ProcessStatus.ofThreads(thread);
        assertThat(found).as(thread).hasSize(1);
        return found.values().iterator().next();
    }

    /* The kernel's counts of context switches of a thread. */
    private static List<String> switchesOf(String thread) throws IOException {
        return statusOf(thread).stream()
                .filter(line -> line.contains("ctxt_switches"))
                .collect(Collectors.toList());
    }

    /* The JVM reports that a thread waits a moment before the thread has left its CPU. */
    private static void awaitOffItsCpu(String thread) {
        patiently().until(() -> statusOf(thread).stream().anyMatch(line -> line.startsWith("State:\tS")));
    }

    @Test
    void aGroupsTimeIsItsThreadsCpuTimeAndWaitingIsNone() throws Exception {
        Recorder recorder = new Recorder();
        AtomicLong used = new AtomicLong();
        try (Worker parked = Worker.waiting("parked");
                ThreadsSampler sampler = onCpu(recorder)) {
            awaitOffItsCpu("parked");
            sampler.init();
            List<String> before = switchesOf("parked");
            Worker burning = Worker.doing("burning", goHome -> used.set(burn(BURNT_NANOS)));
            burning.thread().join();
            assertThat(switchesOf("parked")).hasSize(2).isEqualTo(before);
            assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID");
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(report.getClock()).isEqualTo(SamplingClock.CPU);
            }
            sampler.close();
            assertSumsUp(sampler);
            assertThat(parked.thread().isAlive()).isTrue();
        }
        Report report = recorder.only();
        assertThat(report.group("burning").cumulativeMillis() * 1_000_000).isCloseTo(used.get(), withPercentage(2));
        assertThat(report.group("burning").methods()).contains("com.incapsula.sampler.CpuClockIT.burn");
        assertThat(report.names()).doesNotContain("parked");
        assertThat(report.account()).startsWith("clock: CPU, all times are CPU times\n");
    }

    @Test
    void itsTimesAreNotAddedToThoseOfTheWallClock() throws Exception {
        try (ThreadsSampler byCpu = onCpu(new Recorder());
                ThreadsSampler byWall = quick(new Recorder())) {
            byCpu.init();
            byWall.init();
            try (SamplingReport cpu = byCpu.snapshot();
                    SamplingReport wall = byWall.snapshot()) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> SamplingReport.merge(cpu, wall))
                        .withMessage("wall-clock times and CPU times cannot be added up");
                SamplingReport.merge(cpu, cpu).close();
            }
        }
    }

    @Test
    void aPauseIsNotCreditedAndTheIntervalMayChange() throws Exception {
        Recorder recorder = new Recorder();
        // may exceed the target: the kernel may add more between two readings in burn()
        AtomicLong used = new AtomicLong();
        CountDownLatch[] steps = {
            new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1), new CountDownLatch(1)
        };
        try (ThreadsSampler sampler = onCpu(recorder)) {
            // a thread that is older than the sampler has its timer once its kernel id is proven, which may take a
            // moment
            sampler.init();
            Worker burning = Worker.doing("burning", goHome -> {
                used.set(burn(300_000_000));
                steps[0].countDown();
                steps[1].await();
                burn(600_000_000);
                steps[2].countDown();
                steps[3].await();
                used.addAndGet(-THREADS.getCurrentThreadCpuTime());
                used.addAndGet(burn(900_000_000));
            });
            steps[0].await();
            sampler.pauseSampling();
            steps[1].countDown();
            steps[2].await();
            sampler.resumeSampling();
            sampler.setSamplingFrequencyMillis(7);
            steps[3].countDown();
            burning.thread().join();
            sampler.close();
            assertSumsUp(sampler);
        }
        assertThat(recorder.only().group("burning").cumulativeMillis()).isCloseTo(used.get() / 1_000_000, within(60L));
    }

    @Test
    void itNeedsTheHybridAndIsFixedWhileRunning() throws Exception {
        try (ThreadsSampler sampler = onCpu(new Recorder())) {
            sampler.setEngine(SamplingEngine.JVMTI);
            assertThatIllegalArgumentException()
                    .isThrownBy(sampler::init)
                    .withMessage("clock CPU needs engine AUTO, got JVMTI");
            sampler.setEngine(SamplingEngine.AUTO);
            sampler.init();
            assertThatIllegalStateException()
                    .isThrownBy(() -> sampler.setClock(SamplingClock.WALL))
                    .withMessage("clock cannot be changed while the sampler runs");
        }
    }

    /** A program that cannot install its handler, or cannot create its timers. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            Recorder recorder = new Recorder();
            ThreadsSampler sampler = onCpu(recorder);
            for (int i = Integer.parseInt(arguments[0]); i > 0; i--) {
                Thread waiting = new Thread(
                        () -> {
                            try {
                                new CountDownLatch(1).await();
                            } catch (InterruptedException e) {
                                throw new IllegalStateException(e);
                            }
                        },
                        "waiting");
                waiting.setDaemon(true);
                waiting.start();
            }
            sampler.setRequired(true);
            try {
                sampler.init();
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
                sampler.setClock(SamplingClock.WALL);
                sampler.init();
                System.out.println(sampler.getStatistics().getEngine());
                sampler.close();
                return;
            }
            Thread burning = new Thread(() -> burn(500_000_000), "burning");
            burning.start();
            burning.join();
            sampler.close();
            Report report = recorder.only();
            long millis = report.group("burning").cumulativeMillis();
            System.out.println("without a timer: "
                    + (report.figure("skipped, no CPU timer available") > 0 ? "some" : "none")
                    + ", rows: " + report.group("burning").methods());
            System.out.println("burning: " + (millis >= 440 && millis <= 520 ? "right" : millis));
        }
    }

    @Test
    void initSaysWhyIfTheJvmRefuses() throws Exception {
        assertThat(ChildJvm.of(Program.class)
                        .with(Awaitility.class)
                        .environment(
                                "LD_PRELOAD",
                                Preload.compile("refused_signals.c", folder).toString())
                        .run("0")
                        .assertFine()
                        .output())
                .isEqualTo("clock CPU needs asynchronous walks, which this JVM refuses: the signal cannot be used\n"
                        + "JVMTI (async walk refused: the signal cannot be used)\n");
    }

    /**
     * The limit counts timers of all processes of the user, and a timer that another process frees may go to the
     * running thread. So the user is one of a separate namespace, if that is allowed.
     */
    @Test
    void threadsWithoutATimerAreCountedAndTheirTimeIsNotLost() throws Exception {
        List<String> command =
                new ArrayList<>(List.of("unshare", "--user", "--map-root-user", "prlimit", "--sigpending=200"));
        if (Tool.refusalOf(List.of("unshare", "--user", "--map-root-user", "true")) != null) {
            command.subList(0, command.indexOf("prlimit")).clear();
        }
        assertThat(ChildJvm.of(Program.class)
                        .with(Awaitility.class)
                        .by(command.toArray(String[]::new))
                        .run("250")
                        .assertFine()
                        .output())
                .isEqualTo("without a timer: some, rows: [[no CPU timer]]\nburning: right\n");
    }

    /** JFR's own CPU-time sampler uses another signal and its own timers. */
    @Test
    @Measures
    void theFlightRecordersCpuSamplesStayWhatTheyAre() throws Exception {
        assumeTrue(Runtime.version().feature() >= 25);
        double alone = recorded(null);
        assertThat(alone).isPositive();
        for (SamplingClock clock : SamplingClock.values()) {
            assertThat(recorded(clock)).as("beside " + clock).isCloseTo(alone, withPercentage(20));
        }
    }

    /* Samples, including lost ones, per second of CPU time. */
    private double recorded(SamplingClock beside) throws Exception {
        Path file = folder.resolve(beside + ".jfr");
        ThreadsSampler sampler = quick(new Recorder());
        try (Recording recording = new Recording()) {
            recording.enable("jdk.CPUTimeSample").with("throttle", "10ms");
            recording.enable("jdk.CPUTimeSamplesLost");
            if (beside != null) {
                sampler.setClock(beside);
                sampler.init();
            }
            recording.start();
            Worker.doing("recorded", goHome -> burn(BURNT_NANOS)).thread().join();
            recording.stop();
            recording.dump(file);
        } finally {
            sampler.close();
        }
        long samples = 0;
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
            if (event.getThread("eventThread") != null
                    && "recorded".equals(event.getThread("eventThread").getJavaName())) {
                samples += event.hasField("lostSamples") ? event.getLong("lostSamples") : 1;
            }
        }
        return samples / (BURNT_NANOS / 1e9);
    }
}
