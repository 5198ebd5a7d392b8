// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Work that runs user code, which may block for ever: a daemon thread does it, and its caller waits for a limited time.
 *
 * <p>Threads: any.
 */
public final class TimedWork {

    private TimedWork() {}

    /**
     * Begins the work, with the caller's context class loader.
     *
     * @param group of the thread; null: the caller's
     * @param name of the thread
     * @param work must not throw
     * @return the thread
     * @throws OutOfMemoryError if there can be no thread; nothing was done
     */
    static Thread start(@Nullable ThreadGroup group, String name, Runnable work) {
        Thread thread = new Thread(group, work, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader());
        thread.start();
        return thread;
    }

    /**
     * Waits for the work. Interrupts do not shorten that, and are there afterwards.
     *
     * @param thread does the work, and goes on with it after this call where it takes longer
     * @param maxNanos the longest wait; {@link Long#MAX_VALUE}: without a limit
     * @return true: it is done
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
