// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;

/**
 * Writes the last report when the JVM exits without {@code close()}: a shutdown hook gives the work to a daemon thread
 * and waits for it, but not for long, so that a stuck outputer cannot hold up the exit.
 *
 * <p>Threads: any.
 */
final class ExitReport implements Runnable {

    private static volatile long longestMillis = 2_000;

    private final Runnable hide;
    private final Runnable finish;
    private final long maxWaitMillis;
    private final Thread hook = new Thread(null, this, "threads-sampler-exit", 0, false);

    /**
     * Makes one that is not installed yet.
     *
     * @param hide keeps the calling thread out of the samples
     * @param finish writes the last report
     */
    ExitReport(Runnable hide, Runnable finish, long maxWaitMillis) {
        this.hide = hide;
        this.finish = finish;
        this.maxWaitMillis = maxWaitMillis;
        hook.setContextClassLoader(null);
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
        Thread probe = new Thread(null, null, "threads-sampler-exit-probe", 0, false);
        try {
            Runtime.getRuntime().addShutdownHook(probe);
            Runtime.getRuntime().removeShutdownHook(probe);
            return false;
        } catch (IllegalStateException exiting) {
            return true;
        }
    }

    /** Does nothing when the JVM is exiting already. */
    void install() {
        try {
            Runtime.getRuntime().addShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // the hook cannot be installed any more: this sampler reports when it is closed, or not at all
        }
    }

    /** Does nothing when it is not installed, or the JVM is exiting already. */
    void remove() {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException exiting) {
            // the hook runs, or has run, and finds the sampler closed
        }
    }

    /** For the hook. */
    @Override
    public void run() {
        hide.run();
        Thread helper = new Thread(null, this::work, "threads-sampler-last-report", 0, false);
        helper.setDaemon(true);
        helper.start();
        try {
            helper.join(maxWaitMillis);
        } catch (InterruptedException impatient) {
            Thread.currentThread().interrupt();
        }
    }

    private void work() {
        try {
            hide.run();
            finish.run();
        } catch (Throwable t) {
            LibraryLog.log(System.Logger.Level.WARNING, "the last report could not be written", t);
        }
    }
}
