// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Makes the library's internal Java threads, such as those of servers and of the agent, and waits for them. Threads of
 * one group, which all copies of the library in a JVM share, are not sampled.
 *
 * <p>Threads: any.
 */
public final class InternalThreads {

    /** Made at the first use, which is not the start of a sampler. */
    private static final class Offered {
        static final ThreadGroup GROUP = new ThreadGroup(topGroup(), "threads-sampler");
    }

    private InternalThreads() {}

    /** As {@link #hidden(Lifecycle)}, for code without a sampler. */
    public static ThreadGroup hidden() {
        return hidden(new Lifecycle());
    }

    /**
     * {@return the group whose threads are not sampled from now on, the same for each call} If this fails, its threads
     * are sampled.
     *
     * @param lifecycle of any sampler
     */
    public static ThreadGroup hidden(Lifecycle lifecycle) {
        try {
            return lifecycle.hide(Offered.GROUP);
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.DEBUG, "the library's own threads could not be hidden", e);
        }
        return Offered.GROUP;
    }

    /**
     * {@return the root group, or the highest group that a security manager allows} Threads in it may outlive the
     * caller's group: before JDK 19 groups can be destroyed.
     */
    static ThreadGroup topGroup() {
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        try {
            for (ThreadGroup above = top.getParent(); above != null; above = top.getParent()) {
                top = above;
            }
        } catch (SecurityException forbidden) {
            // use the group that was reached
        }
        return top;
    }

    /** {@return a daemon thread that is not started, without a context class loader} */
    public static Thread daemon(ThreadGroup group, Runnable work, String name) {
        Thread thread = new Thread(group, work, name, 0, false);
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        return thread;
    }

    /**
     * Starts work that may block for ever, because it calls user code, on a daemon thread with the caller's context
     * class loader.
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
     * Waits for a thread's end. Interrupts do not shorten the wait; the interrupt flag is set again afterwards.
     *
     * @param thread continues after this call if its work takes longer
     * @param maxNanos the longest wait; {@link Long#MAX_VALUE}: no limit
     * @return true if the thread has ended
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
