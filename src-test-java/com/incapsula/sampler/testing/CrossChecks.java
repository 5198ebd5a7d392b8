// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import java.lang.reflect.Method;

/** Walks from outside that were compared with JVMTI's, in this JVM. */
public final class CrossChecks {

    private static final long NO_CHANGE = 0;

    private CrossChecks() {}

    /** From now on each walk is compared. */
    public static void ofAllWalks() {
        ofOneWalkIn(1);
    }

    /** From now on one walk in so many is compared. */
    public static void ofOneWalkIn(long each) {
        call(each);
    }

    /** @return how many walks were compared */
    public static long compared() {
        return call(NO_CHANGE)[0];
    }

    /** @return how many of them differed */
    public static long different() {
        return call(NO_CHANGE)[1];
    }

    /** Fails if one differed, and says where. */
    public static void assertNoneDiffered() {
        assertThat(different())
                .as("walks that differ; the last one: %s", call("lastDifference"))
                .isZero();
    }

    private static long[] call(long each) {
        return (long[]) call("crossChecks", each);
    }

    private static Object call(String name, Object... arguments) {
        assertThat(ThreadsSampler.unavailabilityCause()).isNull();
        try {
            for (Method method : Class.forName("com.incapsula.sampler.internal.engine.NativeBridge")
                    .getDeclaredMethods()) {
                if (method.getName().equals(name)) {
                    method.setAccessible(true);
                    return method.invoke(null, arguments);
                }
            }
            throw new AssertionError("no method " + name);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
