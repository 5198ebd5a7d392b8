// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import java.lang.reflect.Method;

/** Compares walks from outside with those of JVMTI, in this JVM. */
public final class CrossChecks {

    private static final long NO_CHANGE = 0;

    private CrossChecks() {}

    /** Compares each walk from now on. */
    public static void ofAllWalks() {
        ofOneWalkIn(1);
    }

    /** Compares one of this number of walks from now on. */
    public static void ofOneWalkIn(long each) {
        call(each);
    }

    /** @return the number of compared walks */
    public static long compared() {
        return call(NO_CHANGE)[0];
    }

    /** @return the number of differences */
    public static long different() {
        return call(NO_CHANGE)[1];
    }

    /** Fails if a walk differed, and describes it. */
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
