// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.ApplicationStart;
import com.incapsula.sampler.internal.report.LibraryLog;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes the last report when the JVM exits without {@code close()}: a shutdown hook gives the work to a daemon thread
 * and waits for it, but not for long, so that a stuck outputer cannot hold up the exit.
 *
 * <p>Threads: any.
 */
final class ExitReport implements Runnable {

    private static volatile long longestMillis = 2_000;

    /** How long the exit waits. */
    interface Limit {

        /** @return milliseconds */
        long millis();

        /** The last report was not written in that time. */
        void exceeded();
    }

    private final Runnable hide;
    private final Runnable finish;
    private final Limit limit;
    private @Nullable Thread hook; // null: not installed
    private @Nullable SecurityException refusal;

    /**
     * Makes one that is not installed yet.
     *
     * @param hide keeps the calling thread out of the samples
     * @param finish writes the last report
     * @param limit how long the exit waits for that
     */
    ExitReport(Runnable hide, Runnable finish, Limit limit) {
        this.hide = hide;
        this.finish = finish;
        this.limit = limit;
    }

    /* Not of the caller's group: before JDK 19 that may have been destroyed when the JVM exits, and a hook that cannot be
     * started keeps the JVM from starting the application's own. */
    private static Thread thread(@Nullable Runnable work, String name) {
        return new Thread(TopGroup.find(), work, name, 0, false);
    }

    /** @return how long the JVM's exit waits for a last report */
    static long longestMillis() {
        return longestMillis;
    }

    /* For tests of what is reported at the exit: on a busy machine that takes longer. */
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
            return false; // not known
        }
    }

    /** Does nothing when the JVM is exiting already, or a security manager forbids it. */
    void install() {
        try {
            Thread made = thread(this, "threads-sampler-exit");
            made.setContextClassLoader(null);
            Runtime.getRuntime().addShutdownHook(made);
            hook = made;
        } catch (IllegalStateException exiting) {
            // the hook cannot be installed any more: this sampler reports when it is closed, or not at all
        } catch (SecurityException forbidden) {
            refusal = forbidden;
        }
    }

    /** @return why the security manager did not let it be installed, or null */
    @Nullable
    SecurityException refusal() {
        return refusal;
    }

    /** Does nothing when it is not installed, or the JVM is exiting already. */
    void remove() {
        Thread installed = hook;
        if (installed == null) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(installed);
        } catch (IllegalStateException exiting) {
            // the hook runs, or has run, and finds the sampler closed
        }
    }

    /** For the hook. */
    @Override
    public void run() {
        hide.run(); // first, so that it is in no report
        ApplicationStart.exit();
        Thread helper = TimedWork.start(null, "threads-sampler-last-report", new LastReport());
        if (!TimedWork.await(helper, TimeUnit.MILLISECONDS.toNanos(limit.millis()))) {
            limit.exceeded();
        }
    }

    /** No lambda, which a JVM that exits would link. */
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
