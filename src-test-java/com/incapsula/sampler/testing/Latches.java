// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.concurrent.CountDownLatch;

/** Waits for latches in code that may not throw checked exceptions. */
public final class Latches {

    private Latches() {}

    /** Returns when the latch is released. An interrupt ends the wait and stays pending. */
    public static void awaitReleased(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
