// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.testing.work.Desk;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A thread that stays at a known place until it is closed. */
public final class Worker implements AutoCloseable {

    /** The work of a thread, until the latch is released. */
    @FunctionalInterface
    public interface Work {
        void until(CountDownLatch goHome) throws Exception;
    }

    private final CountDownLatch goHome = new CountDownLatch(1);
    private final Thread thread;

    private Worker(String name, boolean daemon, Work work) {
        thread = new Thread(null, () -> run(work), name);
        thread.setDaemon(daemon);
    }

    private void run(Work work) {
        try {
            work.until(goHome);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** @return a started thread that waits in {@link Desk#serve} */
    public static Worker waiting(String name) {
        return new Worker(name, false, Desk::serve).started().awaitWaiting();
    }

    /** @return a started daemon thread that waits in {@link Desk#serve} */
    public static Worker daemon(String name) {
        return new Worker(name, true, Desk::serve).started().awaitWaiting();
    }

    /** @return a started thread that computes in {@link Desk#calculate} */
    public static Worker busy(String name) {
        return new Worker(name, false, Desk::calculate).started();
    }

    /** @return a started thread with this work */
    public static Worker doing(String name, Work work) {
        return new Worker(name, false, work).started();
    }

    /** @return a thread that is not started and will wait in {@link Desk#serve} */
    public static Worker unstarted(String name) {
        return new Worker(name, false, Desk::serve);
    }

    /** @return this, started */
    public Worker started() {
        thread.start();
        return this;
    }

    /** @return this, as soon as the thread waits for good */
    public Worker awaitWaiting() {
        awaitState(thread, Thread.State.WAITING);
        return this;
    }

    /**
     * Waits until the thread is in one of these states and has left its CPU. A thread's state changes a moment before
     * that. A thread that loses its CPU in that moment answers no signal for long, and the JVM can show its stack only
     * afterwards.
     */
    public static void awaitState(Thread thread, Thread.State... wanted) {
        List<Thread.State> states = List.of(wanted);
        Samplers.patiently().until(() -> states.contains(thread.getState()) && thread.getStackTrace().length > 0);
    }

    /** @return the thread */
    public Thread thread() {
        return thread;
    }

    /** Releases all workers, then waits for their ends, so none works on while another one is awaited. */
    public static void closeAll(List<Worker> workers) {
        workers.forEach(worker -> worker.goHome.countDown());
        workers.forEach(Worker::close);
    }

    /** Releases the worker and waits for its end. */
    @Override
    public void close() {
        goHome.countDown();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
