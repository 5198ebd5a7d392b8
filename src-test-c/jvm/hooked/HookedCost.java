// SPDX-License-Identifier: Apache-2.0
package hooked;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Measures the cost of a pair of hooks: the CPU time of a program with hooks less that of the same program without.
 * Arguments: the test library, "exact", "counts" or "outside", calls of a round, rounds. Methods whose names end
 * with Apart must not be inlined. Prints lines for com.incapsula.sampler.bench.Jvm.
 */
public final class HookedCost {

    private static final int ROOT = 1;
    private static final int LEAF = 2;
    private static final int FIRST = 10;
    private static final int WARM_UP = 5;
    /* Each call makes four calls, six levels deep: as many calls as nodes. */
    private static final int LEVELS = 6;
    private static final int TREE = 5461;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static int sink;
    private static long clock;

    private HookedCost() {}

    /** Runs the measurement. */
    public static void main(String... arguments) {
        Hooks.load(arguments[0]);
        boolean exact = arguments[1].equals("exact");
        int calls = Integer.parseInt(arguments[2]);
        int rounds = Integer.parseInt(arguments[3]);
        Hooks.begin(exact);
        if (!arguments[1].equals("outside")) {
            ThreadsSamplerHook.enterRoot(ROOT);
        }
        measure("a call that is not inlined", calls, rounds, HookedCost::plainCalls, HookedCost::hookedCalls);
        measure("an inlined call", calls, rounds, HookedCost::plainInlined, HookedCost::hookedInlined);
        measure("a tree of " + TREE + " nodes", calls, rounds, HookedCost::plainTrees, HookedCost::hookedTrees);
        ThreadsSamplerHook.exitRoot(ROOT);
        measure("a root", calls / 10, rounds, HookedCost::plainCalls, HookedCost::roots);
        measure("System.nanoTime twice", calls / 10, rounds, HookedCost::plainCalls, HookedCost::nanoTimes);
        Hooks hooks = new Hooks().read();
        System.out.println("@ calls\t" + (hooks.calls(LEAF) + hooks.calls(FIRST)) + "\t" + sink + clock);
        Hooks.stop();
    }

    private static double nanosOf(IntConsumer loop, int calls) {
        long start = THREADS.getCurrentThreadCpuTime();
        loop.accept(calls);
        return (double) (THREADS.getCurrentThreadCpuTime() - start) / calls;
    }

    private static void measure(String what, int calls, int rounds, IntConsumer plain, IntConsumer hooked) {
        double[] plainNanos = new double[rounds];
        double[] hookedNanos = new double[rounds];
        for (int i = -WARM_UP; i < rounds; i++) {
            double without = nanosOf(plain, calls);
            double with = nanosOf(hooked, calls);
            if (i >= 0) {
                plainNanos[i] = without;
                hookedNanos[i] = with;
            }
        }
        Arrays.sort(plainNanos);
        Arrays.sort(hookedNanos);
        System.out.println("@ " + what + "\t" + hookedNanos[rounds / 2] + "\t" + plainNanos[rounds / 2]);
    }

    private static int plainApart(int x) {
        return x * 31 + 7;
    }

    private static int hookedApart(int x) {
        ThreadsSamplerHook.enter(LEAF);
        int y;
        try {
            y = x * 31 + 7;
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(LEAF);
            throw e;
        }
        ThreadsSamplerHook.exit(LEAF);
        return y;
    }

    private static int rootApart(int x) {
        ThreadsSamplerHook.enterRoot(ROOT);
        int y = x * 31 + 7;
        ThreadsSamplerHook.exitRoot(ROOT);
        return y;
    }

    private static int nanoTimeApart(int x) {
        clock -= System.nanoTime();
        int y = x * 31 + 7;
        clock += System.nanoTime();
        return y;
    }

    private static int plain(int x) {
        return x * 31 + 7;
    }

    private static int hooked(int x) {
        ThreadsSamplerHook.enter(LEAF);
        int y;
        try {
            y = x * 31 + 7;
        } catch (Throwable e) {
            ThreadsSamplerHook.exit(LEAF);
            throw e;
        }
        ThreadsSamplerHook.exit(LEAF);
        return y;
    }

    /* One loop for each method, although they are alike: a common loop would call through an
     * interface, and its cost would be measured. */

    private static void plainCalls(int calls) {
        int x = sink;
        for (int i = 0; i < calls; i++) {
            x = plainApart(x);
        }
        sink = x;
    }

    private static void hookedCalls(int calls) {
        int x = sink;
        for (int i = 0; i < calls; i++) {
            x = hookedApart(x);
        }
        sink = x;
    }

    private static void plainInlined(int calls) {
        int x = sink;
        for (int i = 0; i < calls; i++) {
            x = plain(x);
        }
        sink = x;
    }

    private static void hookedInlined(int calls) {
        int x = sink;
        for (int i = 0; i < calls; i++) {
            x = hooked(x);
        }
        sink = x;
    }

    private static void roots(int calls) {
        int x = sink;
        for (int i = 0; i < calls; i++) {
            x = rootApart(x);
        }
        sink = x;
    }

    private static void nanoTimes(int calls) {
        int x = sink;
        for (int i = 0; i < calls; i++) {
            x = nanoTimeApart(x);
        }
        sink = x;
    }

    private static void plainTrees(int calls) {
        for (int i = 0; i < calls; i += TREE) {
            sink = plain0Apart(LEVELS, sink);
        }
    }

    private static void hookedTrees(int calls) {
        for (int i = 0; i < calls; i += TREE) {
            sink = hooked0Apart(LEVELS, sink);
        }
    }

    private static int plainCallees(int level, int x) {
        return level == 0
                ? x + 1
                : plain3Apart(level - 1, plain2Apart(level - 1, plain1Apart(level - 1, plain0Apart(level - 1, x))));
    }

    private static int hookedCallees(int level, int x) {
        return level == 0
                ? x + 1
                : hooked3Apart(level - 1, hooked2Apart(level - 1, hooked1Apart(level - 1, hooked0Apart(level - 1, x))));
    }

    private static int plain0Apart(int level, int x) {
        return plainCallees(level, x);
    }

    private static int plain1Apart(int level, int x) {
        return plainCallees(level, x);
    }

    private static int plain2Apart(int level, int x) {
        return plainCallees(level, x);
    }

    private static int plain3Apart(int level, int x) {
        return plainCallees(level, x);
    }

    private static int hooked0Apart(int level, int x) {
        ThreadsSamplerHook.enter(FIRST);
        int y = hookedCallees(level, x);
        ThreadsSamplerHook.exit(FIRST);
        return y;
    }

    private static int hooked1Apart(int level, int x) {
        ThreadsSamplerHook.enter(FIRST + 1);
        int y = hookedCallees(level, x);
        ThreadsSamplerHook.exit(FIRST + 1);
        return y;
    }

    private static int hooked2Apart(int level, int x) {
        ThreadsSamplerHook.enter(FIRST + 2);
        int y = hookedCallees(level, x);
        ThreadsSamplerHook.exit(FIRST + 2);
        return y;
    }

    private static int hooked3Apart(int level, int x) {
        ThreadsSamplerHook.enter(FIRST + 3);
        int y = hookedCallees(level, x);
        ThreadsSamplerHook.exit(FIRST + 3);
        return y;
    }
}
