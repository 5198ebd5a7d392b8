// SPDX-License-Identifier: Apache-2.0
package hooked;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Threads are stopped (Thread.stop, up to JDK 19) while they are in hooks most of the time. Stops arrive, nearly no
 * thread remains inside a root, and other threads are counted as before. Arguments: the library, the number of
 * threads.
 */
public final class StoppedThreads {

    private static final int DEPTH = 3;
    /* A stop that takes longer counts as lost. */
    private static final long PATIENCE_SECONDS = 20;
    /* The JVM itself sometimes loses a stop, and may deliver one between a probe and the range of
     * its handler. A hook that swallows stops would lose most of them. */
    private static final int MOST_PERCENT = 20;

    private StoppedThreads() {}

    /** A thread that continues after it was stopped. */
    private static final class Stopped {
        final CountDownLatch started = new CountDownLatch(1);
        final CountDownLatch stopped = new CountDownLatch(1);
        final CountDownLatch again = new CountDownLatch(1);
        volatile boolean isInside;
        final Thread thread = new Thread(this::run, "stopped");

        Stopped() {
            thread.setDaemon(true); // does not keep the JVM alive if the test fails
        }

        private void run() {
            try {
                started.countDown();
                while (again.getCount() > 0) {
                    root(DEPTH);
                }
            } catch (ThreadDeath expected) {
                Thread.interrupted(); // interrupted by the same stop
                stopped.countDown();
            }
            await(again);
            if (!isInside) {
                root(DEPTH);
            }
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /* Like an instrumented method: its handler covers the probe before the return. */
    static void root(int depth) {
        ThreadsSamplerHook.enterRoot(1);
        try {
            call(depth);
            ThreadsSamplerHook.exitRoot(1);
        } catch (Throwable e) {
            ThreadsSamplerHook.exitRoot(1);
            throw e;
        }
    }

    private static void call(int depth) {
        ThreadsSamplerHook.enter(2);
        try {
            leaf();
            if (depth > 0) {
                root(depth - 1);
            }
            ThreadsSamplerHook.exit(2);
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(2);
            throw e;
        }
    }

    private static void leaf() {
        ThreadsSamplerHook.enter(3);
        try {
            ThreadsSamplerHook.exit(3);
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(3);
            throw e;
        }
    }

    /** Runs the test. */
    public static void main(String... arguments) throws Exception {
        Hooks.load(arguments[0]);
        int number = Integer.parseInt(arguments[1]);
        Method stop = Thread.class.getMethod("stop");
        for (boolean exact : new boolean[] {false, true}) {
            int lost = 0;
            int inside = 0;
            Hooks.begin(exact);
            List<Stopped> all = new ArrayList<>();
            for (int i = 0; i < number; i++) {
                Stopped one = new Stopped();
                all.add(one);
                one.thread.start();
                one.started.await();
                Thread.sleep(i % 4);
                stop.invoke(one.thread);
                while (!one.stopped.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                    lost++;
                    check(lost * 100 <= number * MOST_PERCENT, "stops are lost");
                    stop.invoke(one.thread);
                }
                if (new Hooks().read() != null && Hooks.position(one.thread.getId()) != Hooks.OUTSIDE) {
                    one.isInside = true;
                    inside++;
                }
            }
            System.out.println((exact ? "exact: " : "counts: ") + lost + " stops lost, " + inside + " left inside");
            check(inside * 100 <= number * MOST_PERCENT, "stops leave threads inside");
            checkCounts(all, number - inside);
            Hooks.stop();
        }
        System.out.println("fine");
    }

    private static void checkCounts(List<Stopped> all, long times) throws InterruptedException {
        Map<String, Long> expected = new TreeMap<>();
        String path = "";
        for (int i = 0; i <= DEPTH; i++) {
            expected.put(path + "[1]", times);
            path += "[1] 2 ";
            expected.put(path.trim(), times);
            expected.put(path + "3", times);
        }
        Hooks counted = new Hooks().read(); // learns the paths
        Hooks.reset();
        counted.forget();
        for (Stopped one : all) {
            one.again.countDown();
            one.thread.join();
        }
        Map<String, Long> found = counted.read().tree();
        check(found.equals(expected), "expected " + expected + "\nfound " + found);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
