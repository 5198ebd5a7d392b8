// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Checks that the calling thread's stack has room before a change that must be undone later.
 *
 * <p>A call that overflows the stack throws a {@link StackOverflowError}, and so may the {@code finally} after it. Then
 * a lock would be held, or a phase would last, for ever, and {@code close()} would wait for it. If there is room for
 * releasing the lock, an error anywhere in between does no harm.
 *
 * <p>Threads: any. Cost: {@value #LEVELS} calls of a method.
 */
final class StackRoom {

    /* About 12 KB of interpreted frames, or 4 KB of compiled ones. Releasing a lock needs a tenth of that. The
     * smallest stack of a thread, 144 KB, leaves 48 KB to Java code. */
    private static final int LEVELS = 64;

    private StackRoom() {}

    /** @throws StackOverflowError if the stack is almost full */
    static void require() {
        descend(LEVELS, 0, 0, 0, 0);
    }

    /* The arguments are used after the call, so they have to be kept on the stack. */
    private static long descend(int levels, long a, long b, long c, long d) {
        if (levels == 0) {
            return a;
        }
        return descend(levels - 1, b + levels, c ^ a, d - b, a + c) + a + b + c + d;
    }
}
