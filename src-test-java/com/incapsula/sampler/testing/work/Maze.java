// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing.work;

import java.util.Random;
import java.util.concurrent.CountDownLatch;

/** Makes different stacks: each step chooses one of two callees. */
public final class Maze {

    private Maze() {}

    /** Waits at the end of a random path with this many steps. */
    public static void walk(Random random, int steps, CountDownLatch goHome) throws InterruptedException {
        if (steps == 0) {
            goHome.await();
        } else if (random.nextBoolean()) {
            left(random, steps - 1, goHome);
        } else {
            right(random, steps - 1, goHome);
        }
    }

    private static void left(Random random, int steps, CountDownLatch goHome) throws InterruptedException {
        walk(random, steps, goHome);
    }

    private static void right(Random random, int steps, CountDownLatch goHome) throws InterruptedException {
        walk(random, steps, goHome);
    }
}
