// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing.work;

import java.util.concurrent.CountDownLatch;

/** A thread whose stack has a single frame while it works. */
public final class Alone extends Thread {

    private final CountDownLatch goHome;
    private long turns;

    /** Creates a thread that works until the latch is released. */
    public Alone(String name, CountDownLatch goHome) {
        super(name);
        this.goHome = goHome;
    }

    @Override
    public void run() {
        while (goHome.getCount() > 0) {
            for (int i = 0; i < 10_000_000; i++) {
                turns += i;
            }
        }
    }

    /** @return the number of its turns */
    public long turns() {
        return turns;
    }
}
