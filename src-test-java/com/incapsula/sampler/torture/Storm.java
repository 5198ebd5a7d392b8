// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.testing.Samplers.quick;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.bench.accuracy.Programs;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.torture.Redefinition.Redefined;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;

/** What goes on in the JVM while it is sampled. */
enum Storm {

    /** Code of all kinds, on more threads than there are processors. */
    PROGRAMS {
        @Override
        List<Worker> begin() {
            return load();
        }
    },

    /** Compiled code that turns out wrong beneath those who run it. */
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

    /** Classes that are redefined while they are at work. */
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
            List<Worker> workers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                workers.add(Worker.doing("parent", this::bear));
            }
            return workers;
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
                for (Thread thread : wave) {
                    thread.join();
                }
                EVENTS.addAndGet(wave.size());
            }
        }
    },

    /** Processes, begun as the JVM is told to begin them, and ordinary work beside them. */
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

    /** Other samplers that look at the same threads, some for a short time only. */
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

    /** Hoping that there are squares only. */
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

    /** How often what the storm is about has happened. */
    static final AtomicLong EVENTS = new AtomicLong();

    private static final int KEPT = 150;
    private static final long SMALL = 64 * 1024;
    private static volatile long sink;

    /** Begins. The workers know when to end. */
    abstract List<Worker> begin();

    /** @return threads that run all kinds of code, more of them than there are processors */
    static List<Worker> load() {
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i <= Runtime.getRuntime().availableProcessors(); i++) {
            workers.add(Worker.doing("program", Storm::programs));
        }
        return workers;
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
