// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.testing.Virtual;
import com.incapsula.sampler.testing.Worker;
import counted.Storms;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Events in the JVM while calls are counted (counted.Storms). */
enum CallStorm {

    /** Threads that start, make their calls and end. */
    CHURN {
        @Override
        List<Worker> begin() {
            return workers("parent", this::bear);
        }

        private void bear(CountDownLatch goHome) throws InterruptedException {
            while (goHome.getCount() > 0) {
                List<Thread> wave = new ArrayList<>();
                for (int i = 0; i < WAVE; i++) {
                    wave.add(new Thread(null, () -> Storms.root(2), "child-" + i, SMALL));
                }
                wave.forEach(Thread::start);
                awaitEnds(wave);
            }
        }
    },

    /**
     * Classes with equal names that are loaded, run once and unloaded. With EAGER each call counts from the first on.
     */
    LOADING {
        @Override
        Instrumentation instrumentation() {
            return Instrumentation.EAGER;
        }

        @Override
        void step() {
            CallStorm.freshClass().run();
        }

        @Override
        List<Worker> begin() {
            List<Worker> workers = new ArrayList<>(workers("loading", this::load));
            workers.add(Worker.doing("collector", this::collect));
            return workers;
        }

        private void load(CountDownLatch goHome) {
            while (goHome.getCount() > 0) {
                CallStorm.freshClass().run();
                Storms.root(2);
            }
        }

        private void collect(CountDownLatch goHome) throws InterruptedException {
            while (!goHome.await(100, TimeUnit.MILLISECONDS)) {
                System.gc();
            }
        }
    },

    /** Another agent redefines counted classes. */
    REDEFINITION {
        @Override
        List<Worker> begin() {
            List<Worker> workers = new ArrayList<>(workers("redefined", CallStorm::runRoots));
            workers.add(Worker.doing("redefiner", this::redefine));
            return workers;
        }

        private void redefine(CountDownLatch goHome) throws Exception {
            while (!goHome.await(5, TimeUnit.MILLISECONDS)) {
                Redefinition.redefineAsItIs(Storms.class);
            }
        }
    },

    /** Deep recursion, exceptions that pass through hundreds of methods, and probes on threads that load no class. */
    RECURSION {
        @Override
        List<Worker> begin() {
            return workers("deep", goHome -> {
                for (int depth = 0; goHome.getCount() > 0; depth = (depth + 37) % DEEP) {
                    Storms.root(depth);
                }
            });
        }
    },

    /**
     * The stack overflows anywhere, also inside a hook. Some of these calls are not counted, but all other calls are.
     */
    OVERFLOW {
        @Override
        boolean isExact() {
            return false;
        }

        @Override
        List<Worker> begin() {
            return workers("overflow", goHome -> {
                while (goHome.getCount() > 0) {
                    Thread thread = new Thread(null, CallStorm::overflowOften, "overflow", MEDIUM);
                    thread.start();
                    thread.join();
                }
            });
        }
    },

    /** Virtual threads (JDK 21) that unmount inside a root. */
    VIRTUAL {
        @Override
        void step() {
            Storms.pause(2);
        }

        @Override
        List<Worker> begin() {
            return workers("virtual", goHome -> {
                while (goHome.getCount() > 0) {
                    List<Thread> wave = new ArrayList<>();
                    for (int i = 0; i < 5 * WAVE; i++) {
                        int depth = i % 10;
                        wave.add(Virtual.start("virtual-" + i, () -> Storms.pause(depth)));
                    }
                    awaitEnds(wave);
                }
            });
        }
    },

    /** All storms at once. */
    MIXED {
        @Override
        Instrumentation instrumentation() {
            return Instrumentation.EAGER;
        }

        @Override
        void step() {
            LOADING.step();
            Storms.pause(2);
        }

        @Override
        List<Worker> begin() {
            List<Worker> workers = new ArrayList<>();
            workers.addAll(CHURN.begin());
            workers.addAll(LOADING.begin());
            workers.addAll(REDEFINITION.begin());
            workers.addAll(RECURSION.begin());
            if (Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS) {
                workers.addAll(VIRTUAL.begin());
            }
            return workers;
        }
    };

    private static final int FIRST_WITH_VIRTUAL_THREADS = 21;
    private static final int WAVE = 20;
    private static final int DEEP = 900; // below maxCallDepth
    private static final long SMALL = 128 * 1024;
    private static final long MEDIUM = 512 * 1024;

    /** Starts the workers, which know when to end. Nothing else runs after that. */
    abstract List<Worker> begin();

    /** Calls each method of the storm on the calling thread. */
    void step() {
        Storms.root(2);
    }

    /** @return the rule by which methods are instrumented */
    Instrumentation instrumentation() {
        return Instrumentation.LAZY;
    }

    /** @return true if each call is counted */
    boolean isExact() {
        return true;
    }

    /** @return threads that call roots all the time */
    static List<Worker> load() {
        return workers("load", CallStorm::runRoots);
    }

    private static void runRoots(CountDownLatch goHome) {
        while (goHome.getCount() > 0) {
            Storms.root(5);
        }
    }

    private static void overflowOften() {
        for (int i = 0; i < 5; i++) {
            Storms.overflow();
            Storms.root(2);
        }
    }

    private static List<Worker> workers(String name, Worker.Work work) {
        return List.of(Worker.doing(name, work), Worker.doing(name, work));
    }

    private static void awaitEnds(List<Thread> wave) throws InterruptedException {
        for (Thread thread : wave) {
            thread.join();
        }
    }

    private static Runnable freshClass() {
        try {
            return (Runnable)
                    Generated.loadedAnew(Storms.Fresh.class).getConstructor().newInstance();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
