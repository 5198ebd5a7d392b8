// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.ApplicationStart;
import com.incapsula.sampler.internal.report.LibraryLog;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes the last report if the JVM exits without {@code close()}: a shutdown hook starts a daemon thread for it and
 * waits for a limited time, so that a stuck outputer cannot block the exit.
 *
 * <p>Threads: any.
 */
final class ExitReport implements Runnable {

    private static volatile long longestMillis = 2_000;

    /** The limit of the wait. */
    interface Limit {

        /** @return milliseconds */
        long millis();

        /** Called if the last report was not written in that time. */
        void exceeded();
    }

    private final Runnable hide;
    private final Runnable finish;
    private final Limit limit;
    private @Nullable Thread hook; // null if not installed
    private @Nullable SecurityException refusal;

    /**
     * Creates a report that is not installed yet.
     *
     * @param hide makes the calling thread an internal one
     * @param limit limits the wait for it
     */
    ExitReport(Runnable hide, Runnable finish, Limit limit) {
        this.hide = hide;
        this.finish = finish;
        this.limit = limit;
    }

    /* The thread is not in the caller's group, which may be destroyed before the exit (before JDK 19). A hook that
     * cannot be started would prevent the JVM from starting the application's hooks. */
    private static Thread thread(@Nullable Runnable work, String name) {
        return new Thread(InternalThreads.topGroup(), work, name, 0, false);
    }

    /** @return the longest wait of the JVM's exit for a last report */
    static long longestMillis() {
        return longestMillis;
    }

    /* For tests, because a report takes longer on a busy machine. */
    static void setLongestMillis(long millis) {
        longestMillis = millis;
    }

    /** @return true from the moment at which the JVM has begun to exit */
    static boolean isExiting() {
        Thread probe = thread(null, "threads-sampler-exit-probe");
        try {
            Runtime.getRuntime().addShutdownHook(probe);
            Runtime.getRuntime().removeShutdownHook(probe);
            return false;
        } catch (IllegalStateException exiting) {
            return true;
        } catch (SecurityException forbidden) {
            return false; // unknown
        }
    }

    /** Installs the shutdown hook. Does nothing if the JVM is exiting, or a security manager forbids it. */
    void install() {
        try {
            Thread made = thread(this, "threads-sampler-exit");
            made.setContextClassLoader(null);
            Runtime.getRuntime().addShutdownHook(made);
            hook = made;
        } catch (IllegalStateException exiting) {
            // too late for a hook: this sampler reports only when it is closed
        } catch (SecurityException forbidden) {
            refusal = forbidden;
        }
    }

    /** @return the security manager's refusal, or null */
    @Nullable
    SecurityException refusal() {
        return refusal;
    }

    /** Removes the shutdown hook. Does nothing if it is not installed, or the JVM is exiting. */
    void remove() {
        Thread installed = hook;
        if (installed == null) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(installed);
        } catch (IllegalStateException exiting) {
            // the hook runs or has run, and finds the sampler closed
        }
    }

    /** For the hook. */
    @Override
    public void run() {
        hide.run(); // first, so that this thread is in no report
        ApplicationStart.exit();
        Thread helper = InternalThreads.start(null, "threads-sampler-last-report", new LastReport());
        if (!InternalThreads.await(helper, TimeUnit.MILLISECONDS.toNanos(limit.millis()))) {
            limit.exceeded();
        }
    }

    /** A class instead of a lambda, which an exiting JVM would link. */
    private final class LastReport implements Runnable {

        @Override
        public void run() {
            try {
                hide.run();
                finish.run();
            } catch (Throwable t) {
                LibraryLog.log(System.Logger.Level.WARNING, "the last report could not be written", t);
            }
        }
    }
}
