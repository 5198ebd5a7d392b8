// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Asks for room on the calling thread's stack before something is changed that has to be changed back.
 *
 * <p>A call that runs out of stack throws a {@link StackOverflowError}, and so does the {@code finally} behind it: a lock
 * would be held, or a phase last, for ever, and {@code close()} would wait for it. Where there is room for what gives a
 * lock back, the error may come anywhere in between.
 *
 * <p>Threads: any. Cost: {@value #LEVELS} calls of a method.
 */
final class StackRoom {

    /* Some 12 KB of interpreted frames, 4 KB of compiled ones. A lock is given back in a tenth of that; the smallest
     * stack that a thread may have, 144 KB, leaves 48 KB to Java code. */
    private static final int LEVELS = 64;

    private StackRoom() {}

    /** @throws StackOverflowError if the stack is almost full; nothing was changed */
    static void require() {
        descend(LEVELS, 0, 0, 0, 0);
    }

    /* What is used after the call has to be kept on the stack meanwhile. */
    private static long descend(int levels, long a, long b, long c, long d) {
        if (levels == 0) {
            return a;
        }
        return descend(levels - 1, b + levels, c ^ a, d - b, a + c) + a + b + c + d;
    }
}
