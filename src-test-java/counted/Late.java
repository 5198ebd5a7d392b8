// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.concurrent.CountDownLatch;

/** A program that is warm when counting begins, and counts its own calls; and calls that run meanwhile. */
public final class Late {

    /** How often {@link #handle} has called each method of its path, for each of its calls. */
    public static final int PARTS = 3;

    private static volatile int sink;

    private Late() {}

    /** Calls {@link #find} PARTS times, which calls {@link #price} once, which calls {@link #tax} once. */
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

    /** Where a thread waits amid a recursion. */
    public static final class Stop {
        /** The thread is there. */
        public final CountDownLatch reached = new CountDownLatch(1);

        /** It may go on. */
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

    /** Calls itself so many times, and stops where that many are left. */
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
