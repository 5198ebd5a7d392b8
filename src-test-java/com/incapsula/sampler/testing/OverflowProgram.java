// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import java.io.OutputStream;
import java.io.PrintStream;

/**
 * A thread with a stack of 8 MB overflows the stack again and again, while garbage is collected five times a second.
 * Prints the longest standstill of another thread, in milliseconds. Arguments: the sampler's interval in ms, 0 for no
 * sampler; the duration in ms.
 */
public final class OverflowProgram {

    private static final long STACK_BYTES = 8L << 20;
    private static final int COLLECTED_EACH_MILLIS = 200;

    private static volatile boolean over;
    private static volatile long sink;

    private OverflowProgram() {}

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        int intervalMillis = Integer.parseInt(arguments[0]);
        long endNanos = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
        if (intervalMillis > 0) {
            sampler.setSamplingFrequencyMillis(intervalMillis);
            sampler.init();
        }
        new Thread(null, OverflowProgram::overflow, "overflow", STACK_BYTES).start();
        Thread collector = new Thread(OverflowProgram::collect, "collect");
        collector.start();
        System.out.println(longestStandstillNanos(endNanos) / 1_000_000);
        over = true;
        collector.join();
        sampler.close();
    }

    private static long longestStandstillNanos(long endNanos) throws InterruptedException {
        long longest = 0;
        for (long last = System.nanoTime(), now; last < endNanos; last = now) {
            Thread.sleep(1);
            now = System.nanoTime();
            longest = Math.max(longest, now - last);
        }
        return longest;
    }

    private static void overflow() {
        while (!over) {
            try {
                sink += deeper(0, 1, 2, 3);
            } catch (StackOverflowError end) {
                // the overflow is the purpose
            }
        }
    }

    /** Compiled frames are small and inlined, so some hundred thousand fit. */
    private static int deeper(int depth, long one, long two, long three) {
        return depth < 0 ? 0 : deeper(depth + 1, one + depth, two ^ depth, three * 3) + 1;
    }

    private static void collect() {
        while (!over) {
            System.gc();
            try {
                Thread.sleep(COLLECTED_EACH_MILLIS);
            } catch (InterruptedException stopped) {
                return;
            }
        }
    }
}
