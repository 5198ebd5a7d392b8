// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.testing.work.Desk;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A thread that is at a known place until it is closed. */
public final class Worker implements AutoCloseable {

    /** What a worker does until the latch is down. */
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

    /** @return one that is waiting in {@link Desk#serve} */
    public static Worker waiting(String name) {
        return new Worker(name, false, Desk::serve).started().awaitWaiting();
    }

    /** @return a daemon that is waiting in {@link Desk#serve} */
    public static Worker daemon(String name) {
        return new Worker(name, true, Desk::serve).started().awaitWaiting();
    }

    /** @return one that computes in {@link Desk#calculate} */
    public static Worker busy(String name) {
        return new Worker(name, false, Desk::calculate).started();
    }

    /** @return one that does this, started */
    public static Worker doing(String name, Work work) {
        return new Worker(name, false, work).started();
    }

    /** @return one that will wait in {@link Desk#serve} when it is started */
    public static Worker unstarted(String name) {
        return new Worker(name, false, Desk::serve);
    }

    /** @return this, started */
    public Worker started() {
        thread.start();
        return this;
    }

    /** @return this, when it is waiting for good */
    public Worker awaitWaiting() {
        /* Its state changes a moment before it lets go of its CPU. A thread that loses the CPU in that moment answers no
         * signal for long; the JVM shows its stack when the moment is over. */
        await().atMost(Samplers.LONG)
                .pollInterval(Duration.ofMillis(1))
                .until(() -> thread.getState() == Thread.State.WAITING && thread.getStackTrace().length > 0);
        return this;
    }

    /** @return the thread */
    public Thread thread() {
        return thread;
    }

    /** Sends all of them home, then waits until they are there: none works on while another is awaited. */
    public static void closeAll(List<Worker> workers) {
        workers.forEach(worker -> worker.goHome.countDown());
        workers.forEach(Worker::close);
    }

    /** Sends it home and waits until it is there. */
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
