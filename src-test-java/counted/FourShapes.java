// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.stream.IntStream;

/** Calls of four shapes: one short method, three methods in turn, a recursion, and lambdas called by a stream. */
public final class FourShapes {

    /** The calls in a pass of each shape except fib; stream has twice as many. */
    public static final int CALLS = 999_999;

    /** The calls in a pass of fib, which computes fib(28). */
    public static final int FIB_CALLS = 1_028_457;

    private static final int FIB_OF = 28;
    private static final Op[] OPS = {new Add(), new Subtract(), new Triple()};

    /** The result of a pass. */
    public static int sink;

    /** An operation with three implementations. */
    interface Op {
        int op(int x);
    }

    /** The first implementation. */
    static final class Add implements Op {
        @Override
        public int op(int x) {
            return x + 1 ^ x >>> 2;
        }
    }

    /** The second implementation. */
    static final class Subtract implements Op {
        @Override
        public int op(int x) {
            return x - 1 ^ x << 1;
        }
    }

    /** The third implementation. */
    static final class Triple implements Op {
        @Override
        public int op(int x) {
            return x * 3 + (x >>> 1);
        }
    }

    private FourShapes() {}

    static int leaf(int x) {
        return x * 31 + (x >>> 3) ^ 7;
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static int mapped(int x) {
        return x * 5 + 1;
    }

    /** Runs a pass of one short method. */
    public static void runLeaf() {
        int sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += leaf(i + sum);
        }
        sink += sum;
    }

    /** Runs a pass of three methods in turn. */
    public static void runVirtual() {
        int sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += OPS[i % OPS.length].op(i + sum);
        }
        sink += sum;
    }

    /** Runs a pass of the recursion. */
    public static void runFib() {
        sink += fib(FIB_OF);
    }

    /** Runs a pass of lambdas called by a stream. */
    public static void runStream() {
        sink += IntStream.range(0, CALLS)
                .map(FourShapes::mapped)
                .filter(x -> (x & 3) != 0)
                .sum();
    }
}
