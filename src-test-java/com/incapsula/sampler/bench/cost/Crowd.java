// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Many idle threads, deep in calls. */
final class Crowd {

    /** The beginning of the threads' names. */
    static final String NAME = "parked";

    private static final long STACK_BYTES = 256 * 1024;

    private static long[] ids = {};

    private Crowd() {}

    /** The Java ids of all live threads. */
    static long[] ids() {
        return ids;
    }

    /** Starts threads; returns when all of them wait, depth frames deep. */
    static List<Thread> gather(int threads, int depth) throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(threads);
        List<Thread> all = new ArrayList<>();
        ids = new long[threads];
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(null, () -> descend(depth, arrived), NAME + "-" + i, STACK_BYTES);
            thread.setDaemon(true);
            thread.start();
            ids[i] = thread.getId();
            all.add(thread);
        }
        arrived.await();
        awaitParked(all);
        return all;
    }

    /** Returns when all of them have parked. They stay parked. */
    static void awaitParked(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            while (thread.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
        }
    }

    private static int descend(int depth, CountDownLatch arrived) {
        if (depth > 0) {
            return descend(depth - 1, arrived) + 1;
        }
        arrived.countDown();
        while (true) {
            LockSupport.park();
        }
    }
}
