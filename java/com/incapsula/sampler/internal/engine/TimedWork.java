// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs work that may block for ever, because it calls user code, on a daemon thread. The caller waits for a limited
 * time.
 *
 * <p>Threads: any.
 */
public final class TimedWork {

    private TimedWork() {}

    /**
     * Starts the work, with the caller's context class loader.
     *
     * @param group of the thread; null: the caller's group
     * @param work must not throw
     * @throws OutOfMemoryError if no thread can be made; the work was not started
     */
    static Thread start(@Nullable ThreadGroup group, String name, Runnable work) {
        Thread thread = new Thread(group, work, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        thread.start();
        return thread;
    }

    /**
     * Waits for the work. Interrupts do not shorten the wait; the interrupt flag is set again afterwards.
     *
     * @param thread does the work; continues after this call if the work takes longer
     * @param maxNanos the longest wait; {@link Long#MAX_VALUE}: no limit
     * @return true if the work is done
     */
    public static boolean await(Thread thread, long maxNanos) {
        boolean interrupted = false;
        long begun = System.nanoTime();
        for (long left = maxNanos; thread.isAlive() && left > 0; left = maxNanos - (System.nanoTime() - begun)) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
