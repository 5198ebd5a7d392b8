// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.ref.WeakReference;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits as {@link Samplers#patiently} does, in programs that have the JDK alone. */
public final class PlainWait {

    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final long PAUSE_MILLIS = 10;

    private PlainWait() {}

    /** @return true when the condition holds; false where it does not within two minutes */
    public static boolean until(Callable<Boolean> condition) throws Exception {
        long start = System.nanoTime();
        while (!condition.call()) {
            if (System.nanoTime() - start >= PATIENCE_NANOS) {
                return false;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        return true;
    }

    /** @return whether the garbage collector has found the object, which a thread may hold until it has come to its end */
    public static boolean untilCollected(WeakReference<?> object) throws Exception {
        return until(() -> {
            System.gc();
            return object.get() == null;
        });
    }
}
