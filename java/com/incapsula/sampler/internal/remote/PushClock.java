// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.util.concurrent.ThreadLocalRandom;

/**
 * Time and random numbers, which tests replace.
 *
 * <p>Threads: any.
 */
public interface PushClock {

    /** The clock and the random numbers of this JVM. */
    PushClock REAL = new PushClock() {

        @Override
        public long millis() {
            return System.nanoTime() / 1_000_000;
        }

        @Override
        @SuppressWarnings("WaitNotInLoop") // the caller loops
        public void await(Object lock, long millis) throws InterruptedException {
            lock.wait(millis);
        }

        @Override
        public double random() {
            return ThreadLocalRandom.current().nextDouble();
        }
    };

    /** {@return monotonic time, in milliseconds} */
    long millis();

    /**
     * Waits until the time is over or the lock is notified; may return early.
     *
     * @param lock held by the caller
     * @param millis more than 0
     * @throws InterruptedException if the thread is interrupted
     */
    void await(Object lock, long millis) throws InterruptedException;

    /** {@return a random number from 0 to below 1} */
    double random();
}
