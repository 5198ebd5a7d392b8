// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The first seconds of an application that was started with an agent. Application servers choose their log manager and
 * their MBean server in {@code main}, and the first use of the JDK's logging, JMX, SLF4J or an HTTP server would create
 * the defaults for good. So such uses wait here, and messages go to standard error meanwhile.
 *
 * <p>Without an agent there is nothing to wait for.
 *
 * <p>Threads: any.
 */
public final class ApplicationStart {

    /** How long {@code main} has to run before the wait is over. */
    static final long WAIT_MILLIS = 5_000;

    private static final long POLL_MILLIS = 100;

    private static final Object LOCK = new Object();
    private static final Queue<Runnable> WAITING = new ArrayDeque<>(); // guarded by LOCK
    private static volatile boolean pending;

    private ApplicationStart() {}

    /** Called when an agent starts before {@code main}: the wait begins. {@link #watch} follows. */
    public static void begin() {
        pending = true;
    }

    /**
     * Ends the wait when {@code main} has run for some seconds. The time in which the JVM starts agents and looks for
     * the class with {@code main} does not count.
     *
     * @param main the thread that will run {@code main}
     * @param group for the watching thread
     */
    public static void watch(Thread main, ThreadGroup group) {
        try {
            Thread thread = new Thread(group, new Watch(main), "threads-sampler-start", 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
        } catch (RuntimeException | Error e) {
            end(); // without the thread nothing would end the wait
            throw e;
        }
    }

    /** A class instead of a lambda, which a starting JVM would link. */
    private static final class Watch implements Runnable {

        private final Thread main;

        Watch(Thread main) {
            this.main = main;
        }

        @Override
        public void run() {
            sleepUntilMainHasRun(main);
        }
    }

    /** @return true while the application may still choose the implementations of the JDK's logging and JMX */
    public static boolean isPending() {
        return pending;
    }

    /**
     * Runs work after the wait: at once, on the caller's thread, or later on another thread.
     *
     * @param work its exceptions are ignored if it runs later
     */
    public static void whenOver(Runnable work) {
        synchronized (LOCK) {
            if (pending) {
                WAITING.add(work);
                return;
            }
        }
        work.run();
    }

    /** Waits. An interrupt ends the wait and stays set. */
    public static void sleepUntilOver() {
        synchronized (LOCK) {
            try {
                while (pending) {
                    LOCK.wait();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends the wait because the JVM exits; waiting work is not done. */
    public static void exit() {
        synchronized (LOCK) {
            WAITING.clear();
        }
        end();
    }

    private static void end() {
        synchronized (LOCK) {
            pending = false;
            LOCK.notifyAll();
        }
        for (Runnable work = next(); work != null; work = next()) {
            try {
                work.run();
            } catch (RuntimeException | Error e) {
                // each work reports its own failure; the others are done, too
            }
        }
    }

    private static @Nullable Runnable next() {
        synchronized (LOCK) {
            return WAITING.poll();
        }
    }

    private static void sleepUntilMainHasRun(Thread main) {
        try {
            for (long millis = 0; pending && millis < WAIT_MILLIS; millis += isOfStart(main) ? 0 : POLL_MILLIS) {
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
        } catch (InterruptedException e) {
            // the application interrupts all threads
        } finally {
            end();
        }
    }

    /* Before main, the stack of this thread begins with an agent, or the launcher that looks for the class. */
    private static boolean isOfStart(Thread main) {
        try {
            StackTraceElement[] stack = main.getStackTrace();
            return stack.length > 0 && isOfStart(stack[stack.length - 1]);
        } catch (SecurityException refused) {
            return false; // a security manager of JDK 17
        }
    }

    static boolean isOfStart(StackTraceElement first) {
        String name = first.getClassName();
        String method = first.getMethodName();
        boolean isLauncher = name.startsWith("sun.launcher.") && !method.equals("main"); // JavaFX has such a main
        return isLauncher || name.startsWith("sun.instrument.") || method.equals("premain");
    }
}
