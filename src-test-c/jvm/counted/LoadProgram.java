// SPDX-License-Identifier: Apache-2.0
package counted;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Turns counting on and off while threads run and load classes, with new loaders each time. Arguments: the library,
 * the number of repetitions; 0: the JVM ends while calls are counted.
 */
public final class LoadProgram {

    private static final int THREADS = 6;
    private static final AtomicBoolean ENDS = new AtomicBoolean();
    private static final AtomicReference<Throwable> FAILED = new AtomicReference<>();
    private static final AtomicLong ROUNDS = new AtomicLong();
    private static final AtomicLong LOADED = new AtomicLong();
    private static volatile int turns;

    private LoadProgram() {}

    /** Loads the classes of these programs itself, repeatedly. */
    private static final class Loader extends ClassLoader {
        Loader() {
            super(LoadProgram.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            boolean isOwn = name.startsWith("counted.Work") || name.startsWith("counted.Tally");
            if (!isOwn) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                return known != null ? known : define(name);
            }
        }

        private Class<?> define(String name) throws ClassNotFoundException {
            String file = name.replace('.', '/') + ".class";
            try (InputStream in = getParent().getResourceAsStream(file)) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private static void untilTheEnd(Body body) {
        try {
            while (!ENDS.get()) {
                body.run();
            }
        } catch (Throwable e) {
            FAILED.compareAndSet(null, e);
        }
    }

    private interface Body {
        void run() throws Exception;
    }

    /* The number of loads per start of counting is limited, so that the number of classes does not
     * grow. */
    private static void loadOnce() throws Exception {
        if (LOADED.get() >= 3L * turns) {
            Thread.sleep(1);
            return;
        }
        var run = Class.forName("counted.Work", true, new Loader()).getDeclaredMethod("run", int.class);
        run.setAccessible(true);
        run.invoke(null, 1);
        LOADED.incrementAndGet();
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        int times = Integer.parseInt(arguments[1]);
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            Body body = i == 0
                    ? LoadProgram::loadOnce
                    : () -> {
                        Work.run(1);
                        ROUNDS.incrementAndGet();
                    };
            threads[i] = new Thread(() -> untilTheEnd(body), "load-" + i);
            threads[i].start();
        }
        try {
            if (times == 0) {
                Counting.startFine("counted.Work.run", Counting.LAZY, false);
                Work.run(10);
                System.out.println("fine");
                System.exit(0);
            }
            load(times);
        } finally {
            ENDS.set(true);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (FAILED.get() != null) {
            throw new AssertionError(FAILED.get());
        }
        /* The nodes of a thread inside a root remain until it leaves the root. */
        CountedProgram.check(Counting.figures()[4] == 0, "all memory is given back: " + Counting.figures()[4]);
        System.out.println("fine");
    }

    private static void load(int times) throws InterruptedException {
        long started = System.nanoTime();
        for (int i = 0; i < times && FAILED.get() == null; i++) {
            startAndStop(i);
        }
        System.out.println(times + " times in " + (System.nanoTime() - started) / 1_000_000 + " ms, " + ROUNDS
                + " rounds, " + LOADED + " times loaded");
        exactAtLast();
    }

    private static void startAndStop(int i) throws InterruptedException {
        turns = i + 1;
        long started = System.nanoTime();
        Counting.startFine("counted.Work.run", Counting.LAZY + i % 3, i % 4 == 3);
        long runs = System.nanoTime();
        Thread.sleep(i % 5 * 10);
        Counting.counts();
        long batches = Counting.batches();
        long stops = System.nanoTime();
        Counting.stop();
        System.out.println("started in " + (runs - started) / 1_000_000 + " ms, " + batches + " batches, stopped in "
                + (System.nanoTime() - stops) / 1_000_000 + " ms");
    }

    /* Finally, beside threads that continue, another method counts its own calls. */
    private static void exactAtLast() throws InterruptedException {
        Counting.startFine("counted.Hot.loop", Counting.LAZY, false);
        Counting.settle(() -> Hot.loop(1600), Counting.hotCalls(1600));
        Counting.reset();
        Hot.loop(1_600_000);
        Map<String, Long> found = Counting.counts();
        CountedProgram.check(found.equals(Counting.hotCalls(1_600_000)), "exact after all that: " + found);
        Counting.stop();
    }
}
