// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The first seconds of an application that an agent has started with. Application servers choose their log manager and
 * their MBean server in {@code main}: what uses the JDK's logging, JMX, SLF4J or an HTTP server makes those for good, so it
 * waits here. Messages go to standard error meanwhile.
 *
 * <p>Without an agent there is nothing to wait for.
 *
 * <p>Threads: any.
 */
public final class ApplicationStart {

    /** How long {@code main} has run when the wait is over. */
    static final long WAIT_MILLIS = 5_000;

    private static final long POLL_MILLIS = 100;

    private static final Object LOCK = new Object();
    private static final Queue<Runnable> WAITING = new ArrayDeque<>(); // guarded by LOCK
    private static volatile boolean pending;

    private ApplicationStart() {}

    /** An agent starts before {@code main}: from now on it is pending. {@link #watch} follows. */
    public static void begin() {
        pending = true;
    }

    /**
     * Ends it when {@code main} has run for some seconds: while the JVM starts agents, and looks for the class with
     * {@code main}, no time counts.
     *
     * @param main the thread that will run {@code main}
     * @param group of the thread that waits for that
     */
    public static void watch(Thread main, ThreadGroup group) {
        try {
            Thread thread = new Thread(group, new Watch(main), "threads-sampler-start", 0, false);
            thread.setDaemon(true);
            thread.setContextClassLoader(null);
            thread.start();
        } catch (RuntimeException | Error e) {
            end(); // without the thread nothing would end it
            throw e;
        }
    }

    /** No lambda, which a JVM that starts would link. */
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

    /** @return true while the application may still choose what is behind the JDK's logging and JMX */
    public static boolean isPending() {
        return pending;
    }

    /**
     * Does something when the wait is over: at once, on the caller's thread, or later on another one.
     *
     * @param work what it throws then goes nowhere
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

    /** Waits. An interrupt ends it, and is there afterwards. */
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

    /** The JVM exits: the wait is over, and nothing that waits is done. */
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
                // each says itself what failed; the others are done all the same
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
            // by an application that interrupts all threads
        } finally {
            end();
        }
    }

    /* Agents, and the launcher that looks for the class, begin the stack of this thread before main does. */
    private static boolean isOfStart(Thread main) {
        try {
            StackTraceElement[] stack = main.getStackTrace();
            return stack.length > 0 && isOfStart(stack[stack.length - 1]);
        } catch (SecurityException refused) {
            return false; // by a security manager of JDK 17
        }
    }

    static boolean isOfStart(StackTraceElement first) {
        String name = first.getClassName();
        String method = first.getMethodName();
        boolean isLauncher = name.startsWith("sun.launcher.") && !method.equals("main"); // which JavaFX has there
        return isLauncher || name.startsWith("sun.instrument.") || method.equals("premain");
    }
}
