// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.NothingLeft.fileDescriptors;
import static com.incapsula.sampler.testing.NothingLeft.nativeThreads;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A lot at once. What must hold: no crash, nothing leaked, no attempt without an outcome, no time lost. */
@ExtendWith(NothingLeft.class)
class StormIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int CYCLES = LONG ? 10_000 : 2_000;
    private static final long STORM_MILLIS = LONG ? 60_000 : 4_000;
    private static final int DEEP = 50_000;

    // ---- start and stop ----

    @Test
    void startAndStopUnderLoadLeavesNothing() throws Exception {
        Random random = new Random(1);
        try (Worker waiting = Worker.waiting("waiting"); Worker busy = Worker.busy("busy");
                Worker churn = Worker.doing("churn", goHome -> churnUntil(goHome, new AtomicLong()))) {
            for (int i = 0; i < 20; i++) {
                cycle(random);
            }
            int threads = nativeThreads();
            int files = fileDescriptors();
            for (int i = 0; i < CYCLES; i++) {
                cycle(random);
            }
            NothingLeft.assertNothingLeft();
            patiently().untilAsserted(() -> {
                assertThat(nativeThreads()).as("native threads").isLessThanOrEqualTo(threads + 3);
                assertThat(fileDescriptors()).as("file descriptors").isLessThanOrEqualTo(files + 3);
            });
            assertThat(waiting.thread().isAlive() && busy.thread().isAlive() && churn.thread().isAlive()).isTrue();
        }
    }

    private static void cycle(Random random) throws IOException {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.init();
        switch (random.nextInt(8)) {
            case 0 -> sampler.printReport();
            case 1 -> sampler.pauseSampling();
            case 2 -> sampler.setThreadToBeSampled(Thread.currentThread());
            case 3 -> sampler.setThreadNameManipulator(Thread::getName);
            case 4 -> awaitTicks(sampler, 1);
            default -> {
                // closed at once
            }
        }
        sampler.close();
        assertThat(recorder.calls()).endsWith("close").doesNotContain("error");
        assertThat(recorder.reports()).hasSizeLessThanOrEqualTo(2);
    }

    @Test
    void severalThreadsStartAndStopSamplersAtOnce() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> cyclists = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random random = new Random(i);
            cyclists.add(new Thread(() -> {
                try {
                    for (int j = 0; j < CYCLES / 20; j++) {
                        cycle(random);
                    }
                } catch (IOException | RuntimeException | Error e) {
                    failure.set(e);
                }
            }, "cyclist-" + i));
        }
        cyclists.forEach(Thread::start);
        for (Thread cyclist : cyclists) {
            cyclist.join();
        }
        assertThat(failure).hasValue(null);
    }

    // ---- several samplers ----

    @Test
    void severalSamplersDoNotDisturbEachOther() throws IOException {
        try (Worker one = Worker.waiting("one-1"); Worker two = Worker.daemon("two-2")) {
            Recorder first = new Recorder();
            Recorder second = new Recorder();
            Recorder third = new Recorder();
            ThreadsSampler everybody = quick(first);
            ThreadsSampler chosen = quick(second);
            chosen.setSamplingFrequencyMillis(1);
            chosen.setThreadToBeSampled(two.thread());
            ThreadsSampler own = quick(third);
            own.setThreadNameManipulator(Thread::getName);
            own.setSkipDaemonThreads(true);
            own.setMonitoredPackages("com.incapsula.sampler.testing.work");
            long outer = System.nanoTime();
            everybody.init();
            chosen.init();
            own.init();
            long inner = System.nanoTime();
            awaitTicks(everybody, 50);
            awaitTicks(chosen, 50);
            chosen.close();
            awaitTicks(own, 50);
            own.close();
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            awaitTicks(everybody, 5);
            everybody.close();
            long atMost = (System.nanoTime() - outer) / 1_000_000;
            assertThat(second.only().names()).containsExactly("two-");
            assertThat(third.only().names()).contains("one-1").doesNotContain("two-2");
            assertThat(first.only().names()).contains("one-", "two-");
            assertThat(first.only().group("one-").cumulativeMillis()).isBetween(atLeast - 1, atMost + 1);
            for (Recorder recorder : List.of(first, second, third)) {
                assertThat(recorder.only().names()).noneMatch(name -> name.startsWith("threads-sampler"));
            }
            assertThat(one.thread().isAlive()).isTrue();
        }
    }

    // ---- storms ----

    /* Runs something for a while beside a thread that only waits, and looks whether all is told of that. */
    private static SamplerStatistics storm(Worker.Work something) throws Exception {
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
                while (System.nanoTime() - inner < TimeUnit.MILLISECONDS.toNanos(STORM_MILLIS)
                        && storm.thread().isAlive()) {
                    awaitTicks(sampler, 20);
                }
            }
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            sampler.close();
            long atMost = (System.nanoTime() - outer) / 1_000_000;
            assertThat(failure).hasValue(null);
            assertThat(recorder.failures()).isEmpty();
            long credited = recorder.reports().stream()
                    .mapToLong(report -> report.group("witness").cumulativeMillis()).sum();
            int rounding = 1 + recorder.reports().size();
            assertThat(credited).as("of a thread that was always there")
                    .isBetween(atLeast - rounding, atMost + rounding);
            assertThat(witness.thread().isAlive()).isTrue();
        }
        SamplerStatistics statistics = sampler.getStatistics();
        assertThat(statistics.getOutcomes().values().stream().mapToLong(Long::longValue).sum())
                .isEqualTo(statistics.getAttempts());
        assertThat(recorder.reports().stream().mapToLong(report -> report.figure("attempts")).sum())
                .isEqualTo(statistics.getAttempts());
        assertThat(recorder.reports()).extracting(Report::account).allSatisfy(text ->
                assertThat(text).doesNotContain("refused by the JVM").doesNotContain("reports that failed"));
        return statistics;
    }

    private static void churnUntil(CountDownLatch goHome, AtomicLong threads) throws InterruptedException {
        while (goHome.getCount() > 0) {
            List<Thread> wave = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                Thread thread = new Thread(null, () -> threads.incrementAndGet(), "churn-" + i, 64 * 1024);
                wave.add(thread);
                thread.start();
            }
            for (Thread thread : wave) {
                thread.join();
            }
        }
    }

    @Test
    void threadsThatComeAndGo() throws Exception {
        AtomicLong threads = new AtomicLong();
        SamplerStatistics statistics = storm(goHome -> churnUntil(goHome, threads));
        assertThat(threads).hasValueGreaterThanOrEqualTo(STORM_MILLIS / 1000 * 500);
        assertThat(statistics.getCounters().get("threads that came and went between two samples")
                + statistics.getOutcomes().get("skipped, thread ended since its last sample")
                + statistics.getOutcomes().get("failed, thread ended during the walk")).isPositive();
    }

    /** Runs in a class of its own that is unloaded right after. */
    public static final class Passing implements Runnable {

        /** What the work comes to. */
        public static volatile double result;

        /** Public for whoever makes one. */
        public Passing() {
        }

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

    @Test
    void classesThatAreUnloaded() throws Exception {
        byte[] code;
        try (InputStream in = StormIT.class.getResourceAsStream("StormIT$Passing.class")) {
            code = in.readAllBytes();
        }
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        storm(goHome -> {
            while (goHome.getCount() > 0) {
                ClassLoader loader = new PassingLoader(code);
                loaders.add(new WeakReference<>(loader));
                ((Runnable) loader.loadClass(Passing.class.getName()).getConstructor().newInstance()).run();
                loader = null;
                if (loaders.size() % 10 == 0) {
                    System.gc();
                }
            }
        });
        assertThat(loaders).hasSizeGreaterThan(50);
        assertThat(loaders).as("the sampler keeps no class").filteredOn(loader -> loader.get() == null)
                .hasSizeGreaterThan(loaders.size() / 2);
    }

    @Test
    void garbageCollections() throws Exception {
        AtomicLong collections = new AtomicLong();
        storm(goHome -> {
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
        assertThat(collections).hasValueGreaterThan(20);
    }

    @Test
    void deepRecursion() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        SamplerStatistics statistics = storm(goHome -> {
            while (goHome.getCount() > 0 && failure.get() == null) {
                Thread deep = new Thread(null, () -> {
                    try {
                        recurse(DEEP);
                    } catch (RuntimeException | Error e) {
                        failure.set(e);
                    }
                }, "deep", 1L << 30);
                deep.start();
                deep.join();
            }
        });
        assertThat(failure).hasValue(null);
        assertThat(statistics.getOutcomes().get("samples taken, middle of a deep stack omitted")).isPositive();
        assertThat(statistics.getCounters().get("frames omitted from deep stacks")).isGreaterThan(10_000);
    }

    private static int recurse(int depth) {
        return depth == 0 ? 0 : 1 + recurse(depth - 1);
    }

    @Test
    void exceptions() throws Exception {
        AtomicLong thrown = new AtomicLong();
        storm(goHome -> {
            while (goHome.getCount() > 0) {
                try {
                    throwFrom(thrown.incrementAndGet() % 200);
                } catch (IllegalStateException expected) {
                    assertThat(expected.getStackTrace()).isNotEmpty();
                }
            }
        });
        assertThat(thrown).hasValueGreaterThan(1000);
    }

    private static void throwFrom(long depth) {
        if (depth == 0) {
            throw new IllegalStateException();
        }
        throwFrom(depth - 1);
    }

    @Test
    void processesThatAreForked() throws Exception {
        AtomicLong forks = new AtomicLong();
        storm(goHome -> {
            while (goHome.getCount() > 0) {
                assertThat(new ProcessBuilder("true").start().waitFor()).isZero();
                forks.incrementAndGet();
            }
        });
        assertThat(forks).hasValueGreaterThan(20);
    }

    /** All of it, while threads wait, compute, sleep and fight over a lock. */
    @Test
    void everythingAtOnce() throws Exception {
        Object lock = new Object();
        storm(goHome -> {
            List<Worker> workers = List.of(
                    Worker.doing("churn", end -> churnUntil(end, new AtomicLong())),
                    Worker.doing("collector", StormIT::collect),
                    Worker.doing("fighter-1", end -> fight(lock, end)),
                    Worker.doing("fighter-2", end -> fight(lock, end)),
                    Worker.doing("deep", end -> Desk.serveDeep(500, end)),
                    Worker.busy("busy"));
            goHome.await();
            workers.forEach(Worker::close);
        });
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
