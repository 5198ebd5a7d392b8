// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import com.incapsula.sampler.internal.engine.InternalThreads;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The threads that answer requests: few, with a short queue, and with a time limit for each task. A thread that exceeds
 * its limit is interrupted, which closes the connection that it reads from or writes to.
 *
 * <p>Threads: any. All are daemons.
 */
final class RequestWorkers {

    static final int THREADS = 4;
    static final int QUEUE = 16;

    private static final long IDLE_SECONDS = 30;

    private final long firstLimitMillis;
    private final ThreadPoolExecutor pool;
    private final ScheduledThreadPoolExecutor watch;
    private final ConcurrentMap<Thread, Job> jobs = new ConcurrentHashMap<>();

    /**
     * @param group of the threads
     * @param firstLimitMillis the limit of a task until it calls {@link #allow}
     */
    RequestWorkers(ThreadGroup group, long firstLimitMillis) {
        this.firstLimitMillis = firstLimitMillis;
        pool = new ThreadPoolExecutor(
                THREADS,
                THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(QUEUE),
                factory(group, "threads-sampler-http-"));
        pool.allowCoreThreadTimeOut(true);
        watch = new ScheduledThreadPoolExecutor(1, factory(group, "threads-sampler-http-watch-"));
        watch.setRemoveOnCancelPolicy(true);
    }

    private static ThreadFactory factory(ThreadGroup group, String prefix) {
        AtomicInteger count = new AtomicInteger();
        return work -> InternalThreads.daemon(group, work, prefix + count.incrementAndGet());
    }

    /** One task on its thread. */
    private final class Job {

        private final Thread thread = Thread.currentThread();
        private @Nullable ScheduledFuture<?> end; // guarded by this
        private boolean done; // guarded by this

        synchronized void limit(long millis) {
            if (end != null) {
                end.cancel(false);
            }
            try {
                end = watch.schedule(this::expire, millis, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException closed) {
                thread.interrupt(); // as close() does with working threads
            }
        }

        private synchronized void expire() {
            if (!done) {
                thread.interrupt();
            }
        }

        /** From now on the thread is no longer interrupted; clears its interrupt flag. */
        synchronized void finish() {
            done = true;
            if (end != null) {
                end.cancel(false);
            }
            Thread.interrupted();
        }
    }

    /** Runs a task on one of the threads. @throws RejectedExecutionException if the queue is full */
    void execute(Runnable task) {
        pool.execute(() -> runWatched(task));
    }

    private void runWatched(Runnable task) {
        Job job = new Job();
        jobs.put(job.thread, job);
        try {
            job.limit(firstLimitMillis);
            task.run();
        } finally {
            jobs.remove(job.thread);
            job.finish();
        }
    }

    /** Sets a new limit for the calling task, counted from now. */
    void allow(long millis) {
        Job job = jobs.get(Thread.currentThread());
        if (job != null) {
            job.limit(millis);
        }
    }

    /** Runs short work regularly; it must not throw. */
    @SuppressWarnings("FutureReturnValueIgnored") // close() ends it
    void repeat(Runnable work, long millis) {
        watch.scheduleWithFixedDelay(work, millis, millis, TimeUnit.MILLISECONDS);
    }

    /** Ends all threads, working ones, too. */
    void close() {
        pool.shutdownNow();
        watch.shutdownNow();
    }
}
