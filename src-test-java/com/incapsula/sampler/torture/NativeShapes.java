// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NativeWaits;
import com.incapsula.sampler.testing.NativeWaits.Kind;
import java.lang.reflect.Method;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A thread that enters and leaves native code as often as possible, at the end of stacks whose frames have equal sizes.
 * Two methods call each other, and the depth depends on what is done at the end. So a stack that is composed of two
 * different ones can be recognised.
 */
final class NativeShapes {

    /** The system property with the library of {@link NativeWaits}. */
    static final String LIBRARY = "sampler.test.native";

    private static final int LEAST_DEPTH = 6;
    private static final int WAYS = 5;
    private static final int CALLS = 20;
    private static final String ONE = "[^;]*NativeShapes\\.";
    private static final Pattern END = Pattern.compile("NativeShapes\\.end(\\d)\\(");
    private static final Pattern NATIVE = Pattern.compile("(NativeWaits\\.await|Unsafe\\.park)\\([^;]*$");
    private static final Pattern UPCALL = Pattern.compile("NativeShapes\\.fromNativeCode\\(");
    private static final Pattern TORN = Pattern.compile("NativeShapes\\.(left|right)\\([^;]*;" + ONE + "\\1\\(");

    private static volatile long sink;

    private final Method upcall;

    NativeShapes() throws ReflectiveOperationException {
        upcall = NativeShapes.class.getDeclaredMethod("fromNativeCode");
    }

    static void load() {
        NativeWaits.load(System.getProperty(LIBRARY));
    }

    void play(CountDownLatch goHome) throws Exception {
        for (int turn = 0; goHome.getCount() > 0; turn++) {
            int way = turn % WAYS;
            if (turn / WAYS % 2 == 0) {
                left(LEAST_DEPTH + way, way);
            } else {
                right(LEAST_DEPTH + way, way);
            }
            Storm.EVENTS.incrementAndGet();
        }
    }

    private void left(int depth, int way) throws Exception {
        if (depth == 0) {
            end(way);
        } else {
            right(depth - 1, way);
        }
    }

    private void right(int depth, int way) throws Exception {
        if (depth == 0) {
            end(way);
        } else {
            left(depth - 1, way);
        }
    }

    private void end(int way) throws Exception {
        switch (way) {
            case 0 -> end0();
            case 1 -> end1();
            case 2 -> end2();
            case 3 -> end3();
            default -> end4();
        }
    }

    /* Makes short native calls. */
    private static void end0() {
        for (int i = 0; i < CALLS; i++) {
            sink += NativeWaits.await(Kind.POLL, 0);
        }
    }

    /* Waits in native code. */
    private static void end1() {
        sink += NativeWaits.await(Kind.NANOSLEEP, 0);
    }

    private static void end2() {
        for (int i = 0; i < 1000 * CALLS; i++) {
            sink += i * sink;
        }
    }

    /* Waits in the JVM. */
    private static void end3() {
        LockSupport.parkNanos(1);
    }

    /* Native code of the JVM calls Java code, which calls native code. */
    private void end4() throws ReflectiveOperationException {
        upcall.invoke(null);
    }

    private static void fromNativeCode() {
        end0();
    }

    /** @param stacks in the format COLLAPSED; fails if one of them is impossible */
    static void check(String stacks) {
        assertThat(stacks.lines().filter(stack -> !isPossible(stack))).isEmpty();
    }

    private static boolean isPossible(String stack) {
        Matcher end = END.matcher(stack);
        if (TORN.matcher(stack).find()) {
            return false;
        }
        /* For running code, compilers do not record exactly which of the inlined methods it is in. */
        if (!NATIVE.matcher(stack).find() || !end.find()) {
            return true;
        }
        int way = Integer.parseInt(end.group(1));
        String shape = "(;" + ONE + "(left|right)\\([^;]*){" + (LEAST_DEPTH + 1 + way) + "}";
        boolean calls = UPCALL.matcher(stack).find();
        return Pattern.compile("play\\([^;]*" + shape + ";" + ONE + "end\\([^;]*;" + ONE + "end\\d\\(")
                        .matcher(stack)
                        .find()
                && (calls ? way == WAYS - 1 : !end.find());
    }
}
