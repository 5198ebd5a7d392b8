// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads in a permanent deadlock are sampled: each one holds a lock and waits for the lock of the next one. Arguments:
 * the kind of each thread's lock, "monitor" or "reentrant".
 */
public final class DeadlockProgram {

    private static final int TICKS_AFTERWARDS = 100;

    private DeadlockProgram() {}

    /** The record names locks by this class. */
    private static final class Stock {}

    private static void lockIn(Object own, Object next, CyclicBarrier all) throws Exception {
        if (own instanceof ReentrantLock lock) {
            lock.lock();
            all.await();
            takeNext(next);
        } else {
            synchronized (own) {
                all.await();
                takeNext(next);
            }
        }
    }

    private static void takeNext(Object next) {
        if (next instanceof ReentrantLock lock) {
            lock.lock();
        } else {
            synchronized (next) {
                throw new AssertionError("there is no deadlock");
            }
        }
    }

    private static void start(List<Object> locks) {
        CyclicBarrier all = new CyclicBarrier(locks.size());
        for (int i = 0; i < locks.size(); i++) {
            Object own = locks.get(i);
            Object next = locks.get((i + 1) % locks.size());
            Thread thread = new Thread(
                    () -> {
                        try {
                            lockIn(own, next, all);
                        } catch (Exception e) {
                            throw new AssertionError(e);
                        }
                    },
                    "locked-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Prints the sampler's output, and then "fine". */
    public static void main(String[] kinds) throws Exception {
        List<Object> locks = new ArrayList<>();
        for (String kind : kinds) {
            locks.add(kind.equals("monitor") ? new Stock() : new ReentrantLock());
        }
        CountDownLatch printed = new CountDownLatch(1);
        ThreadsSampler sampler = Samplers.quick(new PrintStreamSamplingOutputer(System.out) {
            @Override
            public void printDeadlock(String title, String record) {
                super.printDeadlock(title, record);
                printed.countDown();
            }
        });
        sampler.init();
        start(locks);
        printed.await();
        Samplers.awaitTicks(sampler, TICKS_AFTERWARDS);
        sampler.close();
        System.out.println("fine");
    }
}
