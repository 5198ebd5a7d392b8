// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.concurrent.CountDownLatch;

/**
 * A program that is warm when counting begins, and knows its number of calls; and methods that run while counting
 * begins.
 */
public final class Late {

    /** The calls of each method of its path in one call of {@link #handle}. */
    public static final int PARTS = 3;

    private static volatile int sink;

    private Late() {}

    /** Calls {@link #find} PARTS times. Each call of it calls {@link #price} once, which calls {@link #tax} once. */
    public static void handle() {
        for (int i = 0; i < PARTS; i++) {
            sink += find(i);
        }
    }

    private static int find(int i) {
        return price(i) + sink % 2;
    }

    private static int price(int i) {
        return tax(i) * 3 + sink % 2;
    }

    private static int tax(int i) {
        return i * 7 + sink % 3;
    }

    /** A point in a recursion at which a thread waits. */
    public static final class Stop {
        /** Released when the thread has arrived. */
        public final CountDownLatch reached = new CountDownLatch(1);

        /** Released when the thread may continue. */
        public final CountDownLatch mayGoOn = new CountDownLatch(1);

        private void here() {
            reached.countDown();
            try {
                mayGoOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Calls {@link #down}. */
    public static void enter(int depth, Stop stop) {
        down(depth, depth / 2, stop);
        sink++;
    }

    /** Calls itself this many times, and stops when {@code stopAt} calls are left. */
    public static void down(int depth, int stopAt, Stop stop) {
        if (depth == stopAt && stop != null) {
            stop.here();
        }
        if (depth > 0) {
            down(depth - 1, stopAt, stop);
        }
        sink++;
    }

    /** Calls {@link #outer}. */
    public static void enterOuter(int times, Stop stop) {
        outer(times, stop);
        sink++;
    }

    private static void outer(int times, Stop stop) {
        if (stop != null) {
            stop.here();
        }
        for (int i = 0; i < times; i++) {
            inner(i);
        }
    }

    private static void inner(int i) {
        sink += tax(i);
    }
}
