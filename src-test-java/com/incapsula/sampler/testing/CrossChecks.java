// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;

/** Walks from outside that were compared with JVMTI's, in this JVM. */
public final class CrossChecks {

    private static final long NO_CHANGE = 0;
    private static final int STOLEN_TIME = 8; // in the first line of proc(5)'s stat
    private static final long ONE_IN = 100;

    private static long stolenBefore;

    private CrossChecks() {}

    /** From now on each walk is compared. */
    public static void ofAllWalks() throws IOException {
        stolenBefore = stolenTicks();
        ofOneWalkIn(1);
    }

    /**
     * Asserts that none differed since {@link #ofAllWalks}. A virtual machine takes the time in which its host did not run it
     * off the clocks of threads, so one may have run between two equal readings, and its stack is another one then: there
     * some may differ, but not so that walks from outside were refused, which the engine's name says.
     */
    public static void assertNoneDiffered() throws IOException {
        long most = stolenTicks() > stolenBefore ? compared() / ONE_IN : 0;
        assertThat(different()).as("of " + compared()).isLessThanOrEqualTo(most);
    }

    private static long stolenTicks() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/stat"))) {
            return Long.parseLong(lines.findFirst().orElseThrow().split(" +")[STOLEN_TIME]);
        }
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

    private static long[] call(long each) {
        assertThat(ThreadsSampler.unavailabilityCause()).isNull();
        try {
            Method method = Class.forName("com.incapsula.sampler.internal.engine.NativeBridge")
                    .getDeclaredMethod("crossChecks", long.class);
            method.setAccessible(true);
            return (long[]) method.invoke(null, each);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
