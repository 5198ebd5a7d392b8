// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.assertEachPollHasItsOutcome;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.work.Desk;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * Repeats one kind of event in large numbers while a sampler runs, and checks that the sampler reports all of it.
 * Arguments: the storm and its seconds. If all checks hold, it ends with exit code 0 and the word {@code over}.
 */
public final class StormProgram {

    /** The kinds of events. */
    public enum Storm {
        /** At least 1,000 threads for each second. */
        THREADS(StormProgram::threadsThatComeAndGo),
        /** Classes that are loaded, run and unloaded. */
        CLASSES(StormProgram::classesThatAreUnloaded),
        /** Full collections, one after the other. */
        COLLECTIONS(StormProgram::garbageCollections),
        /** Recursion 50,000 frames deep. */
        RECURSION(StormProgram::deepRecursion),
        /** Exceptions from up to 200 frames deep. */
        EXCEPTIONS(StormProgram::exceptions),
        /** Processes that are forked. */
        FORKS(StormProgram::processesThatAreForked),
        /** All of these, while threads wait, compute, sleep and contend for a lock. */
        EVERYTHING(StormProgram::everythingAtOnce);

        private final Run run;

        Storm(Run run) {
            this.run = run;
        }
    }

    @FunctionalInterface
    private interface Run {
        void lasting(int seconds) throws Exception;
    }

    private static final int MAKERS = 4;
    private static final int THREADS_PER_SECOND = 1_000;
    private static final int DEEP = 50_000;

    private StormProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        Storm storm = Storm.valueOf(arguments[0]);
        System.out.print(storm + ": ");
        storm.run.lasting(Integer.parseInt(arguments[1]));
        NothingLeft.assertNothingLeft();
        System.out.println(", over");
    }

    /* Runs the storm for this time and until there were enough events, while another thread only waits. */
    private static SamplerStatistics storm(int seconds, Predicate<SamplerStatistics> enough, Worker.Work something)
            throws Exception {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.setReportFrequencySeconds(1);
        try (Worker witness = Worker.waiting("witness")) {
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            AtomicReference<Throwable> failure = new AtomicReference<>();
            try (Worker storm = Worker.doing("storm", goHome -> {
                try {
                    something.until(goHome);
                } catch (Exception | Error e) {
                    failure.set(e);
                }
            })) {
                while ((System.nanoTime() - inner < TimeUnit.SECONDS.toNanos(seconds)
                                || !enough.test(sampler.getStatistics()))
                        && storm.thread().isAlive()) {
                    awaitTicks(sampler, 20);
                }
            }
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            sampler.close();
            long atMost = (System.nanoTime() - outer) / 1_000_000;
            assertThat(failure).hasValue(null);
            assertAllIsCounted(recorder, atLeast, atMost);
            assertThat(witness.thread().isAlive()).isTrue();
            System.out.print(sampler.getStatistics().getEngine() + ", " + atLeast / 1000 + " s");
        }
        assertEveryAttemptHasItsOutcome(recorder, sampler.getStatistics());
        return sampler.getStatistics();
    }

    private static void assertAllIsCounted(Recorder recorder, long atLeast, long atMost) {
        assertThat(recorder.failures()).isEmpty();
        long credited = recorder.reports().stream()
                .mapToLong(report -> report.group("witness").cumulativeMillis())
                .sum();
        int rounding = 1 + recorder.reports().size();
        assertThat(credited).as("of a thread that was always there").isBetween(atLeast - rounding, atMost + rounding);
    }

    private static void assertEveryAttemptHasItsOutcome(Recorder recorder, SamplerStatistics statistics) {
        assertEachPollHasItsOutcome(statistics);
        assertThat(recorder.reports().stream()
                        .mapToLong(report -> report.figure("polls"))
                        .sum())
                .isEqualTo(statistics.getPolls());
        assertThat(recorder.reports())
                .extracting(Report::account)
                .allSatisfy(text ->
                        assertThat(text).doesNotContain("refused by the JVM").doesNotContain("reports that failed"));
    }

    // ---- threads ----

    /** Starts thread after thread, each of which ends at once, and counts them. */
    public static void churn(CountDownLatch goHome, AtomicLong threads) throws InterruptedException {
        while (goHome.getCount() > 0) {
            List<Thread> wave = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Thread thread = new Thread(null, threads::incrementAndGet, "churn-" + i, 64 * 1024);
                wave.add(thread);
                thread.start();
            }
            for (Thread thread : wave) {
                thread.join();
            }
        }
    }

    /* If the machine is too busy for that many threads a second, the storm takes longer until all of them have run. */
    private static void threadsThatComeAndGo(int seconds) throws Exception {
        AtomicLong threads = new AtomicLong();
        long start = System.nanoTime();
        SamplerStatistics statistics =
                storm(seconds, so -> threads.get() >= (long) seconds * THREADS_PER_SECOND, goHome -> {
                    List<Worker> makers = new ArrayList<>();
                    for (int i = 0; i < MAKERS; i++) {
                        makers.add(Worker.doing("maker-" + i, end -> churn(end, threads)));
                    }
                    goHome.await();
                    makers.forEach(Worker::close);
                });
        long millis = (System.nanoTime() - start) / 1_000_000;
        System.out.print(", " + threads + " threads, " + threads.get() * 1000 / millis + " a second");
        assertThat(threads).hasValueGreaterThanOrEqualTo((long) seconds * THREADS_PER_SECOND);
        assertThat(statistics.getCounters().get("UNSEEN_THREADS")
                        + statistics.getOutcomes().get("THREAD_ENDED")
                        + statistics.getOutcomes().get("THREAD_ENDED_IN_WALK"))
                .isPositive();
    }

    // ---- classes ----

    /** Runs in a class of its own, which is unloaded immediately afterwards. */
    public static final class Passing implements Runnable {

        /** The result of the work. */
        public static volatile double result;

        /** Public for reflection. */
        public Passing() {}

        @Override
        public void run() {
            long end = System.nanoTime() + 2_000_000;
            double sum = 0;
            while (System.nanoTime() < end) {
                for (int i = 1; i < 1000; i++) {
                    sum += Math.sqrt(i);
                }
            }
            result = sum;
        }
    }

    private static final class PassingLoader extends ClassLoader {

        private final byte[] code;

        PassingLoader(byte[] code) {
            super(null);
            this.code = code;
        }

        @Override
        protected Class<?> findClass(String name) {
            return defineClass(name, code, 0, code.length);
        }
    }

    private static void classesThatAreUnloaded(int seconds) throws Exception {
        byte[] code;
        try (InputStream in = StormProgram.class.getResourceAsStream("StormProgram$Passing.class")) {
            code = in.readAllBytes();
        }
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        AtomicLong loaded = new AtomicLong();
        storm(seconds, so -> loaded.get() > 50, goHome -> {
            while (goHome.getCount() > 0) {
                ClassLoader loader = new PassingLoader(code);
                loaders.add(new WeakReference<>(loader));
                loaded.incrementAndGet();
                ((Runnable) loader.loadClass(Passing.class.getName())
                                .getConstructor()
                                .newInstance())
                        .run();
                loader = null;
                if (loaders.size() % 10 == 0) {
                    System.gc();
                }
            }
        });
        System.out.print(", " + loaded + " class loaders");
        assertThat(loaders)
                .as("the sampler keeps no class")
                .filteredOn(loader -> loader.get() == null)
                .hasSizeGreaterThan(loaders.size() / 2);
    }

    // ---- collections ----

    private static void garbageCollections(int seconds) throws Exception {
        AtomicLong collections = new AtomicLong();
        storm(seconds, so -> collections.get() > 20, goHome -> {
            List<byte[]> some = new ArrayList<>();
            while (goHome.getCount() > 0) {
                for (int i = 0; i < 100; i++) {
                    some.add(new byte[10_000]);
                }
                some.clear();
                System.gc();
                collections.incrementAndGet();
            }
        });
        System.out.print(", " + collections + " collections");
    }

    // ---- recursion ----

    private static void deepRecursion(int seconds) throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicLong descents = new AtomicLong();
        Predicate<SamplerStatistics> enough = so ->
                so.getOutcomes().get("DEEP_STACK_CUT") > 0 && so.getCounters().get("FRAMES_OMITTED") > 10_000;
        SamplerStatistics statistics = storm(seconds, enough, goHome -> {
            while (goHome.getCount() > 0 && failure.get() == null) {
                Thread deep = new Thread(
                        null,
                        () -> {
                            try {
                                recurse(DEEP);
                            } catch (RuntimeException | Error e) {
                                failure.set(e);
                            }
                        },
                        "deep",
                        1L << 30);
                deep.start();
                deep.join();
                descents.incrementAndGet();
            }
        });
        System.out.print(", " + descents + " descents of " + DEEP + " frames");
        assertThat(failure).hasValue(null);
        assertThat(statistics.getOutcomes().get("DEEP_STACK_CUT")).isPositive();
        assertThat(statistics.getCounters().get("FRAMES_OMITTED")).isGreaterThan(10_000);
    }

    private static int recurse(int depth) {
        return depth == 0 ? 0 : 1 + recurse(depth - 1);
    }

    // ---- exceptions ----

    private static void exceptions(int seconds) throws Exception {
        AtomicLong thrown = new AtomicLong();
        storm(seconds, so -> thrown.get() > 1000, goHome -> {
            while (goHome.getCount() > 0) {
                try {
                    throwFrom(thrown.incrementAndGet() % 200);
                } catch (IllegalStateException expected) {
                    assertThat(expected.getStackTrace()).isNotEmpty();
                }
            }
        });
        System.out.print(", " + thrown + " exceptions");
    }

    private static void throwFrom(long depth) {
        if (depth == 0) {
            throw new IllegalStateException();
        }
        throwFrom(depth - 1);
    }

    // ---- processes ----

    private static void processesThatAreForked(int seconds) throws Exception {
        AtomicLong forks = new AtomicLong();
        storm(seconds, so -> forks.get() > 20, goHome -> {
            while (goHome.getCount() > 0) {
                assertThat(new ProcessBuilder("true").start().waitFor()).isZero();
                forks.incrementAndGet();
            }
        });
        System.out.print(", " + forks + " forks");
    }

    // ---- everything ----

    private static void everythingAtOnce(int seconds) throws Exception {
        Object lock = new Object();
        AtomicLong threads = new AtomicLong();
        storm(seconds, so -> true, goHome -> {
            List<Worker> workers = List.of(
                    Worker.doing("churn", end -> churn(end, threads)),
                    Worker.doing("collector", StormProgram::collect),
                    Worker.doing("fighter-1", end -> fight(lock, end)),
                    Worker.doing("fighter-2", end -> fight(lock, end)),
                    Worker.doing("deep", end -> Desk.serveDeep(500, end)),
                    Worker.busy("busy"));
            goHome.await();
            workers.forEach(Worker::close);
        });
        System.out.print(", " + threads + " threads");
    }

    private static void collect(CountDownLatch goHome) throws InterruptedException {
        while (!goHome.await(50, TimeUnit.MILLISECONDS)) {
            System.gc();
        }
    }

    private static void fight(Object lock, CountDownLatch goHome) throws InterruptedException {
        while (goHome.getCount() > 0) {
            synchronized (lock) {
                Thread.sleep(1);
            }
        }
    }
}
