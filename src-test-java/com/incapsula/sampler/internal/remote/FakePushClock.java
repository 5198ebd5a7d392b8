// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A clock for which waits of the sending thread take no real time; other threads really wait. */
final class FakePushClock implements PushClock {

    static final String SENDING_THREAD = "sends";

    final List<Long> waits = new CopyOnWriteArrayList<>();
    volatile double random;
    private volatile long now = 1_000_000;

    @Override
    public long millis() {
        return now;
    }

    void pass(long millis) {
        now += millis;
    }

    @Override
    public void await(Object lock, long millis) throws InterruptedException {
        if (Thread.currentThread().getName().equals(SENDING_THREAD)) {
            waits.add(millis);
            pass(millis);
        } else {
            lock.wait(10);
        }
    }

    @Override
    public double random() {
        return random;
    }
}
