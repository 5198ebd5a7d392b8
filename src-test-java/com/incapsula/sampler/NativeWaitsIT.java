// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitSeenOnTop;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NativeWaits;
import com.incapsula.sampler.testing.NativeWaits.Kind;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads in native code get no signal, so system calls of the application's libraries do not fail with {@code EINTR}.
 */
@ExtendWith(NothingLeft.class)
class NativeWaitsIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final long MILLIS = LONG ? 300_000 : 10_000;
    private static final String GROUP = "native";
    private static final String RUN = NativeWaits.class.getName() + ".run";
    private static final int WAIT_MILLIS = 2;
    private static final int LEAST_MICROS = 200;
    private static final int MORE_MICROS = 1500;
    private static final double MOST_OF_CALLS = 1e-4;
    private static final double SIGMAS = 3;

    private static volatile double sink;

    /** The results of the calls of one kind. */
    private static final class Outcome {
        private final AtomicLong calls = new AtomicLong();
        private final AtomicLong interrupted = new AtomicLong();
        private volatile boolean isOver;
    }

    private static String library;

    /** The work of the busy thread of {@link Program} before it calls {@code execv} in native code. */
    private enum Way {
        /** Counts signals. */
        COUNTS(NativeWaits::replaceProgramAfterCounting, 1),
        /** Runs Java code. */
        BURNS(NativeWaitsIT::burnAndReplace, 1),
        /** Runs Java code beside so many samplers that most calls would get a signal if native code got signals. */
        BURNS_AMONG_MANY(NativeWaitsIT::burnAndReplace, 16),
        /** Blocks a signal that was sent to it while it ran Java code, so that the signal is pending. */
        HOLDS_A_SIGNAL(NativeWaitsIT::blockAndReplace, 1);

        private final Runnable run;
        private final int samplers;

        Way(Runnable run, int samplers) {
            this.run = run;
            this.samplers = samplers;
        }
    }

    /** A program whose busy thread calls {@code execv} in native code. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            Way way = Way.valueOf(arguments[1]);
            NativeWaits.load(arguments[0]);
            ThreadsSampler sampler = opened();
            for (int i = 1; i < way.samplers; i++) {
                opened();
            }
            new Thread(way.run).start();
            awaitPolls(sampler);
            NativeWaits.beginCounting();
            awaitPolls(sampler);
            NativeWaits.endCounting();
        }

        private static ThreadsSampler opened() {
            ThreadsSampler sampler = new ThreadsSampler();
            sampler.setSamplingFrequencyMillis(1);
            sampler.setReportFrequencySeconds(0);
            sampler.setOverheadLimitPercent(100);
            sampler.init();
            return sampler;
        }

        /* Waits for 100 more polls, some of which are of the busy thread. */
        private static void awaitPolls(ThreadsSampler sampler) throws InterruptedException {
            long enough = sampler.getStatistics().getPolls() + 100;
            while (sampler.getStatistics().getPolls() < enough) {
                Thread.sleep(1);
            }
        }
    }

    @BeforeAll
    static void load(@TempDir Path folder) throws Exception {
        library = NativeWaits.compile(folder).toString();
        NativeWaits.load(library);
    }

    private static void burnAndReplace() {
        burnUntil(System.nanoTime() + 20_000_000 + ThreadLocalRandom.current().nextInt(5_000_000));
        NativeWaits.replaceProgram();
    }

    /* A pending signal of a thread that blocks it is not delivered before execv. */
    private static void blockAndReplace() {
        NativeWaits.blockSignals();
        while (!NativeWaits.isSignalPending()) {
            burn();
        }
        NativeWaits.replaceProgram();
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"COUNTS", "HOLDS_A_SIGNAL"})
    void noSignalIsPendingIfNativeCodeReplacesTheProgram(Way way) throws Exception {
        String output = ChildJvm.of(Program.class).run(library, way.name()).output();
        assertThat(output).contains("SigPnd:\t0000000000000000\n");
    }

    @Test
    @EnabledIfSystemProperty(named = "sampler.test.long", matches = "true", disabledReason = "takes ten minutes")
    void noSignalEndsAProgramThatReplacesABusyOne() throws Exception {
        for (int i = 0; i < 1000; i++) {
            ChildJvm.Result result = ChildJvm.of(Program.class).run(library, Way.BURNS.name());
            assertThat(result.exit()).as("run %s: %s", i, result.output()).isZero();
        }
    }

    /* If the JVM's memory cannot be read, all running threads get signals, also during execv. */
    @Test
    void noSignalEndsAProgramIfNativeCodeGetsSignals(@TempDir Path folder) throws Exception {
        String failing = Preload.compile("failing_reads.c", folder).toString();
        for (int i = 0; i < (LONG ? 200 : 10); i++) {
            ChildJvm.Result result = ChildJvm.of(Program.class)
                    .environment("LD_PRELOAD", failing)
                    .environment("FAILING_READS", failing)
                    .run(library, Way.BURNS_AMONG_MANY.name());
            assertThat(result.exit()).as("run %s: %s", i, result.output()).isZero();
        }
    }

    @Test
    void aThreadThatRunsNativeCodeIsSampledWithoutASignal() throws Exception {
        AtomicInteger signals = new AtomicInteger(-1);
        Worker worker;
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.init();
            worker = Worker.doing(GROUP, goHome -> signals.set(NativeWaits.countSignals()));
            awaitSeenOnTop(sampler, GROUP, RUN); // a signal that was sent while it was in Java has come
            NativeWaits.beginCounting();
            awaitTicks(sampler, 40);
        } finally {
            NativeWaits.endCounting();
        }
        worker.close();
        assertThat(signals).hasValue(0);
    }

    /** Runs beside as many busy threads as make eight for two CPUs. */
    @Measures
    @ParameterizedTest
    @CsvSource({"WALL, 1", "WALL, 50", "CPU, 1", "CPU, 50"})
    void waitsAreNotInterrupted(SamplingClock clock, int millis) throws Exception {
        Map<Kind, Outcome> outcomes = new EnumMap<>(Kind.class);
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + MILLIS * 1_000_000;
        for (Kind kind : Kind.values()) {
            Outcome outcome = new Outcome();
            outcomes.put(kind, outcome);
            threads.add(new Thread(() -> call(kind, outcome, end), kind.name()));
            if (kind.needsAnother()) {
                threads.add(new Thread(() -> endWaits(kind, outcome), "ends " + kind));
            }
        }
        for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors() - 4; i++) {
            threads.add(new Thread(() -> burnUntil(end), "load"));
        }
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.setClock(clock);
            sampler.setSamplingFrequencyMillis(millis);
            sampler.init();
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertFewAreInterrupted(outcomes);
    }

    /* The limit is exceeded by chance once in a thousand times. */
    private static void assertFewAreInterrupted(Map<Kind, Outcome> outcomes) {
        long calls = 0;
        long interrupted = 0;
        for (Map.Entry<Kind, Outcome> entry : outcomes.entrySet()) {
            Outcome outcome = entry.getValue();
            System.out.printf("%s: %s of %s interrupted%n", entry.getKey(), outcome.interrupted, outcome.calls);
            assertThat(outcome.calls.get()).as(entry.getKey().name()).isGreaterThan(MILLIS / 100);
            calls += outcome.calls.get();
            interrupted += outcome.interrupted.get();
        }
        double expected = MOST_OF_CALLS * calls;
        assertThat((double) interrupted)
                .as("interrupted, of %s calls", calls)
                .isLessThanOrEqualTo(expected + SIGMAS * Math.sqrt(expected));
    }

    private static void call(Kind kind, Outcome outcome, long end) {
        while (System.nanoTime() < end) {
            burn();
            int error = NativeWaits.await(kind, WAIT_MILLIS);
            if (error == NativeWaits.INTERRUPTED) {
                outcome.interrupted.incrementAndGet();
            } else if (error != 0) {
                throw new IllegalStateException(kind + " ends with error " + error);
            }
            outcome.calls.incrementAndGet();
        }
        outcome.isOver = true;
    }

    /* Interrupts waits until the other thread, which may be in one, has seen the end. */
    private static void endWaits(Kind kind, Outcome outcome) {
        while (!outcome.isOver) {
            try {
                Thread.sleep(WAIT_MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            NativeWaits.end(kind);
        }
    }

    private static void burn() {
        burnUntil(System.nanoTime()
                + 1000L * (LEAST_MICROS + ThreadLocalRandom.current().nextInt(MORE_MICROS)));
    }

    private static void burnUntil(long end) {
        double value = 1;
        while (System.nanoTime() < end) {
            value += Math.sqrt(value);
        }
        sink = value;
    }
}
