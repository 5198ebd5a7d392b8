// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** Code whose calls are hard to count. Each method records its calls in the {@link Ledger}. */
public final class Storms {

    /** The root methods. */
    public static final String ROOTS = "counted.Storms.root, counted.Storms.pause, counted.Storms.overflow,"
            + " counted.Storms.stay, counted.Storms$Fresh.run";

    private static final int BRANCHES = 8;
    private static final long PAUSE_NANOS = 50_000;
    private static volatile int sink;

    private Storms() {}

    static final class Item {
        final int price;

        Item(int price) {
            Ledger.hit("Storms$Item.<init>");
            this.price = price * 31 + sink % 2;
        }
    }

    /** Branches, objects, a recursion, and an exception that passes through as many methods. */
    public static void root(int depth) {
        Ledger.hit("Storms.root");
        for (int i = 0; i < BRANCHES; i++) {
            branch(i);
        }
        recurse(depth);
        try {
            fall(depth);
        } catch (IllegalStateException expected) {
            sink++;
        }
    }

    private static void branch(int i) {
        Ledger.hit("Storms.branch");
        sink += leaf(i) + new Item(i).price;
    }

    private static int leaf(int i) {
        Ledger.hit("Storms.leaf");
        return i * 7 + sink % 3;
    }

    private static void recurse(int depth) {
        Ledger.hit("Storms.recurse");
        if (depth > 0) {
            recurse(depth - 1);
            leaf(depth);
        }
    }

    private static void fall(int depth) {
        Ledger.hit("Storms.fall");
        if (depth == 0) {
            throw new IllegalStateException("thrown through all of them");
        }
        fall(depth - 1);
        sink++;
    }

    /** A virtual thread unmounts inside this root. */
    public static void pause(int depth) {
        Ledger.hit("Storms.pause");
        rest(depth);
        root(depth);
    }

    private static void rest(int depth) {
        Ledger.hit("Storms.rest");
        if (depth > 0) {
            rest(depth - 1);
            return;
        }
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    /** Recurses until the stack overflows. */
    public static void overflow() {
        Ledger.hit("Storms.overflow");
        try {
            sink += deeper(0);
        } catch (StackOverflowError expected) {
            sink++;
        }
    }

    private static int deeper(int depth) {
        if (depth < 0) {
            return 0;
        }
        return deeper(depth + 1) + leaf(depth);
    }

    /** Stays inside a root until the latch is released, and then makes calls. */
    public static void stay(CountDownLatch inside, CountDownLatch goHome) throws InterruptedException {
        Ledger.hit("Storms.stay");
        inside.countDown();
        goHome.await();
        root(3);
    }

    /** Loaded repeatedly by class loaders of its own, so it uses nothing of the class around it. */
    public static final class Fresh implements Runnable {

        private static volatile int buds;

        /** Public for reflection. */
        public Fresh() {}

        @Override
        public void run() {
            Ledger.hit("Storms$Fresh.run");
            for (int i = 0; i < BRANCHES; i++) {
                buds += twig(i);
            }
        }

        private static int twig(int i) {
            Ledger.hit("Storms$Fresh.twig");
            return i * 3 + bud(i);
        }

        private static int bud(int i) {
            Ledger.hit("Storms$Fresh.bud");
            return i ^ buds;
        }
    }
}
