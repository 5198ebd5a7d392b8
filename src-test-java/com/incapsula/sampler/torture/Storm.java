// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Virtual;
import com.incapsula.sampler.testing.Wait;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Programs;
import com.incapsula.sampler.torture.Redefinition.Redefined;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Events in the JVM while it is sampled. */
enum Storm {

    /** Code of all kinds, on more threads than there are processors. */
    PROGRAMS {
        @Override
        List<Worker> begin() {
            return load();
        }
    },

    /** Compiled code that becomes invalid while threads run it. */
    DEOPTIMISATION {
        @Override
        List<Worker> begin() {
            Hopes hopes = new Hopes();
            return List.of(
                    Worker.doing("hopeful", hopes::run),
                    Worker.doing("hopeful", hopes::run),
                    Worker.doing("spoiler", hopes::spoil));
        }
    },

    /** More code than there is room for. */
    CODE_CACHE {
        @Override
        List<Worker> begin() {
            return List.of(Worker.doing("bulky", this::compile), Worker.doing("bulky", this::compile));
        }

        private void compile(CountDownLatch goHome) {
            Deque<LongUnaryOperator> kept = new ArrayDeque<>();
            Random random = new Random(1);
            while (goHome.getCount() > 0) {
                kept.add(Generated.fresh(Generated.Bulky.class));
                if (kept.size() > KEPT) {
                    kept.remove();
                }
                for (LongUnaryOperator one : kept) {
                    sink += random.nextInt(10) == 0 ? one.applyAsLong(500) : 0;
                }
                sink += kept.getLast().applyAsLong(3000);
                EVENTS.incrementAndGet();
            }
        }
    },

    /** Classes that are redefined while they are in use. */
    REDEFINITION {
        @Override
        List<Worker> begin() {
            return List.of(
                    Worker.doing("redefined", this::work),
                    Worker.doing("redefined", this::work),
                    Worker.doing("redefiner", this::redefine));
        }

        private void work(CountDownLatch goHome) {
            while (goHome.getCount() > 0) {
                sink += Redefined.work(10_000);
            }
        }

        private void redefine(CountDownLatch goHome) throws Exception {
            while (!goHome.await(2, TimeUnit.MILLISECONDS)) {
                Redefinition.redefine((int) EVENTS.incrementAndGet());
            }
        }
    },

    /** Threads that come and go, as many as the machine can make. */
    CHURN {
        @Override
        List<Worker> begin() {
            return workers(4, "parent", this::bear);
        }

        private void bear(CountDownLatch goHome) throws InterruptedException {
            while (goHome.getCount() > 0) {
                List<Thread> wave = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    int length = 5 + i;
                    Thread thread =
                            new Thread(null, () -> sink += "x".repeat(length).hashCode(), "child-" + i, SMALL);
                    wave.add(thread);
                    thread.start();
                }
                awaitEnds(wave);
            }
        }
    },

    /** Threads that wait in all ways, for moments, at all depths. */
    WAITING {
        @Override
        List<Worker> begin() {
            return waiters();
        }
    },

    /** The same in classes that are unloaded, while code is invalidated, and without enough room for code. */
    WAITING_ON_THE_MOVE {
        @Override
        List<Worker> begin() {
            List<Worker> workers = new ArrayList<>(waiters());
            workers.addAll(workers(4, "patient", this::waitInFreshCode));
            workers.addAll(DEOPTIMISATION.begin());
            workers.addAll(CODE_CACHE.begin());
            workers.add(Worker.doing("collector", this::collect));
            return workers;
        }

        private void waitInFreshCode(CountDownLatch goHome) {
            Random random = new Random();
            while (goHome.getCount() > 0) {
                LongUnaryOperator patient = Generated.fresh(Generated.Patient.class);
                for (int i = 0; i < 20; i++) {
                    sink += patient.applyAsLong(random.nextInt(30));
                }
                EVENTS.incrementAndGet();
            }
        }

        private void collect(CountDownLatch goHome) throws InterruptedException {
            while (!goHome.await(100, TimeUnit.MILLISECONDS)) {
                System.gc();
            }
        }
    },

    /** All of these, with starting and ending threads, all kinds of code and, on JDK 21 and later, virtual threads. */
    MIXED {
        @Override
        List<Worker> begin() {
            List<Worker> workers = new ArrayList<>(WAITING_ON_THE_MOVE.begin());
            workers.addAll(CHURN.begin());
            workers.addAll(load());
            if (Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS) {
                workers.add(Worker.doing("virtual", this::keepVirtualThreads));
            }
            return workers;
        }

        private void keepVirtualThreads(CountDownLatch goHome) throws InterruptedException {
            while (goHome.getCount() > 0) {
                List<Thread> wave = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    int depth = i;
                    wave.add(Virtual.start("virtual-" + i, () -> parkInBetween(depth, 20)));
                }
                awaitEnds(wave);
            }
        }

        private void parkInBetween(int depth, int times) {
            if (depth > 0) {
                parkInBetween(depth - 1, times);
                return;
            }
            for (int i = 0; i < times; i++) {
                LockSupport.parkNanos(100_000L * i);
                for (int j = 0; j < 20_000; j++) {
                    sink += j * sink;
                }
            }
        }
    },

    /**
     * Threads that wake each other. Each alternates between two stacks whose frames have the same size, so its stack
     * pointer stays the same.
     */
    SHAPES {
        @Override
        List<Worker> begin() {
            return workers(4, "shape", goHome -> new Shapes().play(goHome));
        }

        /* Neither method calls itself, so a stack that shows that is composed of two different stacks. */
        @Override
        void check(ThreadsSampler sampler) {
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(report.toString(ReportFormat.COLLAPSED)
                                .lines()
                                .filter(line -> TORN.matcher(line).find()))
                        .isEmpty();
            }
        }
    },

    /** Threads that enter and leave native code, and do other work in between. */
    NATIVE {
        @Override
        List<Worker> begin() {
            NativeShapes.load();
            return workers(4, "native", goHome -> new NativeShapes().play(goHome));
        }

        @Override
        void check(ThreadsSampler sampler) {
            try (SamplingReport report = sampler.snapshot()) {
                NativeShapes.check(report.toString(ReportFormat.COLLAPSED));
            }
        }
    },

    /** Threads that wait for a moment and end. */
    MORTAL {
        @Override
        List<Worker> begin() {
            return workers(4, "parent", this::bear);
        }

        private void bear(CountDownLatch goHome) throws InterruptedException {
            while (goHome.getCount() > 0) {
                List<Thread> wave = new ArrayList<>();
                for (int i = 0; i < 100; i++) {
                    long nanos = 50_000L * i;
                    wave.add(new Thread(null, () -> LockSupport.parkNanos(nanos), "mortal", SMALL));
                }
                wave.forEach(Thread::start);
                awaitEnds(wave);
            }
        }
    },

    /** Forked processes, started in the way that the JVM is configured for, and ordinary work meanwhile. */
    FORKS {
        @Override
        List<Worker> begin() {
            return List.of(
                    Worker.doing("forker", this::fork),
                    Worker.doing("forker", this::fork),
                    Worker.doing("program", Storm::programs));
        }

        private void fork(CountDownLatch goHome) throws Exception {
            while (goHome.getCount() > 0) {
                int exit = new ProcessBuilder("true").start().waitFor();
                if (exit != 0) {
                    throw new IllegalStateException("true ended with " + exit);
                }
                EVENTS.incrementAndGet();
            }
        }
    },

    /** Other samplers of the same threads, some of them short-lived. */
    BESIDE {
        @Override
        List<Worker> begin() {
            List<Worker> workers = new ArrayList<>(load());
            workers.add(Worker.doing("beside", goHome -> beside(goHome, SamplingEngine.AUTO, 1)));
            workers.add(Worker.doing("beside", goHome -> beside(goHome, SamplingEngine.AUTO, 2)));
            workers.add(Worker.doing("beside", goHome -> beside(goHome, SamplingEngine.JVMTI, 1)));
            return workers;
        }

        private void beside(CountDownLatch goHome, SamplingEngine engine, long millis) throws Exception {
            Random random = new Random(millis);
            while (goHome.getCount() > 0) {
                Recorder recorder = new Recorder();
                ThreadsSampler sampler = quick(recorder);
                sampler.setEngine(engine);
                sampler.setSamplingFrequencyMillis(millis);
                sampler.setOverheadLimitPercent(100);
                sampler.init();
                goHome.await(random.nextInt(300), TimeUnit.MILLISECONDS);
                sampler.close();
                Torture.check(sampler.getStatistics(), recorder);
                EVENTS.incrementAndGet();
            }
        }
    };

    /** Code that is compiled for squares only. */
    private static final class Hopes {

        private volatile LongUnaryOperator current = Generated.fresh(Generated.Hopeful.class);

        void run(CountDownLatch goHome) {
            while (goHome.getCount() > 0) {
                sink += current.applyAsLong(20_000);
            }
        }

        void spoil(CountDownLatch goHome) throws InterruptedException {
            while (goHome.getCount() > 0) {
                LongUnaryOperator next = Generated.fresh(Generated.Hopeful.class);
                current = next;
                for (int i = 0; i < 4; i++) {
                    goHome.await(10, TimeUnit.MILLISECONDS);
                    ((Runnable) next).run();
                }
                EVENTS.incrementAndGet();
            }
        }
    }

    /** Two similar methods that call each other in either order. */
    private static final class Shapes {

        private final SynchronousQueue<Integer> ball = new SynchronousQueue<>();

        void play(CountDownLatch goHome) throws InterruptedException {
            Worker other = Worker.doing("shape", home -> {
                for (int turn = 0; home.getCount() > 0; turn++) {
                    ball.poll(1, TimeUnit.MILLISECONDS);
                }
            });
            for (int turn = 0; goHome.getCount() > 0; turn++) {
                if (turn % 2 == 0) {
                    left(6, turn);
                } else {
                    right(6, turn);
                }
                EVENTS.incrementAndGet();
            }
            other.close();
        }

        private boolean left(int depth, int turn) throws InterruptedException {
            return depth == 0 ? ball.offer(turn, 1, TimeUnit.MILLISECONDS) : right(depth - 1, turn);
        }

        private boolean right(int depth, int turn) throws InterruptedException {
            return depth == 0 ? ball.offer(turn, 1, TimeUnit.MILLISECONDS) : left(depth - 1, turn);
        }
    }

    /** The number of events of the storm. */
    static final AtomicLong EVENTS = new AtomicLong();

    private static final Pattern TORN = Pattern.compile("Shapes\\.(left|right)\\([^;]*;[^;]*Shapes\\.\\1\\(");
    private static final int KEPT = 150;
    private static final int FIRST_WITH_VIRTUAL_THREADS = 21;
    private static final long SMALL = 64 * 1024;
    private static volatile long sink;

    /** Starts the workers, which know when to end. */
    abstract List<Worker> begin();

    /** Checks the sampled data; called now and then. */
    void check(ThreadsSampler sampler) {}

    /** @return threads that run all kinds of code, more threads than there are processors */
    static List<Worker> load() {
        return workers(Runtime.getRuntime().availableProcessors() + 1, "program", Storm::programs);
    }

    private static List<Worker> workers(int count, String name, Worker.Work work) {
        return Stream.generate(() -> Worker.doing(name, work)).limit(count).toList();
    }

    private static void awaitEnds(List<Thread> wave) throws InterruptedException {
        for (Thread thread : wave) {
            thread.join();
        }
        EVENTS.addAndGet(wave.size());
    }

    private static List<Worker> waiters() {
        List<Worker> workers = new ArrayList<>();
        for (Wait wait : Wait.values()) {
            workers.addAll(workers(3, "waiter", goHome -> waitInDepths(goHome, wait)));
        }
        return workers;
    }

    private static void waitInDepths(CountDownLatch goHome, Wait wait) throws Exception {
        Random random = new Random();
        while (goHome.getCount() > 0) {
            wait.forMillis(1 + random.nextInt(3), random.nextInt(40));
            EVENTS.incrementAndGet();
        }
    }

    private static void programs(CountDownLatch goHome) throws Exception {
        while (true) {
            for (Programs program : Programs.values()) {
                if (goHome.getCount() == 0) {
                    return;
                }
                sink += program.step();
                EVENTS.incrementAndGet();
            }
        }
    }
}
