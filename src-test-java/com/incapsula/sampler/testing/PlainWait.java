// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.lang.ref.WeakReference;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits like {@link Samplers#patiently}, in programs that have only the JDK. */
public final class PlainWait {

    private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final long PAUSE_MILLIS = 10;

    private PlainWait() {}

    /** @return true as soon as the condition holds; false if it does not within two minutes */
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

    /**
     * @return true if the garbage collector has freed the object, to which an ending thread may still refer at first
     */
    public static boolean untilCollected(WeakReference<?> object) throws Exception {
        return until(() -> {
            System.gc();
            return object.get() == null;
        });
    }
}
