// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Methods that run while their class is redefined. If the byte codes of a method have changed, its frames belong to an
 * obsolete method without an id from then on.
 */
public final class RedefinedWork {

    /** A number in the byte codes of these methods; the next version has {@link #NEXT}. */
    public static final short VERSION = 12345;

    /** The number of the next version. */
    public static final short NEXT = 12346;

    static volatile int sum;
    private static volatile int spinLine;
    private static volatile int waitLine;

    private RedefinedWork() {}

    static void spin(CountDownLatch goHome) {
        int mine = VERSION;
        spinLine = lineOfCaller() + 1;
        while (goHome.getCount() > 0) { // the line
            sum += mine;
        }
    }

    static void waitHere(CountDownLatch goHome) throws InterruptedException {
        int mine = VERSION;
        waitLine = lineOfCaller() + 1;
        while (!goHome.await(5, TimeUnit.MILLISECONDS)) { // the line
            sum += mine;
        }
    }

    /**
     * Alternates with {@link #unchanged} for this many calls; the last one waits again and again. The byte codes of
     * this method change.
     */
    static void changed(int depth, CountDownLatch goHome) throws InterruptedException {
        int mine = VERSION;
        if (depth > 0) {
            unchanged(depth - 1, goHome);
        } else {
            while (!goHome.await(1, TimeUnit.MILLISECONDS)) {
                sum += mine;
            }
        }
    }

    /** As {@link #changed}, but its byte codes do not change. */
    static void unchanged(int depth, CountDownLatch goHome) throws InterruptedException {
        if (depth > 0) {
            changed(depth - 1, goHome);
        } else {
            while (!goHome.await(1, TimeUnit.MILLISECONDS)) {
                sum++;
            }
        }
    }

    static int lineOfCaller() {
        return StackWalker.getInstance()
                .walk(frames -> frames.skip(1).findFirst().orElseThrow())
                .getLineNumber();
    }

    static int version() {
        return VERSION;
    }

    static int spinLine() {
        return spinLine;
    }

    static int waitLine() {
        return waitLine;
    }
}
