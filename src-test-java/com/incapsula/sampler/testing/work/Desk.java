// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing.work;

import java.util.concurrent.CountDownLatch;

/** Code that tests monitor: it waits until it is released, or computes. */
public final class Desk {

    private static volatile double sink;

    private Desk() {}

    /** Waits, at a single line. */
    public static void serve(CountDownLatch goHome) throws InterruptedException {
        goHome.await();
    }

    /** Waits for this many milliseconds. */
    public static void serveFor(long millis) throws InterruptedException {
        Thread.sleep(millis);
    }

    /** Waits below this many frames of its own. */
    public static void serveDeep(int depth, CountDownLatch goHome) throws InterruptedException {
        if (depth == 0) {
            serve(goHome);
        } else {
            serveDeep(depth - 1, goHome);
        }
    }

    /** Computes until it is released. */
    public static void calculate(CountDownLatch goHome) {
        double sum = 0;
        while (goHome.getCount() > 0) {
            for (int i = 1; i < 10_000; i++) {
                sum += Math.sqrt(i);
            }
        }
        sink = sum;
    }

    /** Waits in a method that is called by other code. */
    public static void callBack(Runnable between) {
        between.run();
    }
}
