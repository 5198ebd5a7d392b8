// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Map;
import java.util.TreeMap;

/** The native library counted_calls. */
final class Counting {

    static final int LAZY = 1;
    static final int EAGER = 2;
    static final int TOTAL = 3;

    /** All classes of these programs except those that check the results. */
    static final String FILTER =
            "counted, -counted.Tally, -counted.Counting, -counted.CountedProgram, -counted.OtherAgent, -counted.Library,"
                    + " -counted.FreshLoader";

    private Counting() {}

    static native String start(String roots, String filter, int scheme, boolean exact, int maxMethods);

    static native void stop();

    static native String read();

    static native void reset();

    static native void drop(int method);

    static native long[] figures();

    static native String account();

    static native int inside();

    static long batches() {
        return figures()[0];
    }

    static boolean hasWork() {
        return figures()[2] != 0;
    }

    static void startFine(String roots, int scheme, boolean exact) {
        String refusal = start(roots, FILTER, scheme, exact, 32768);
        if (!refusal.isEmpty()) {
            throw new AssertionError(refusal);
        }
    }

    /** Calls of each method, added up over its overloads. */
    static Map<String, Long> counts() {
        Map<String, Long> found = new TreeMap<>();
        for (String line : read().split("\n")) {
            if (!line.isEmpty()) {
                int end = line.indexOf('=');
                long calls = Long.parseLong(line.substring(end + 1, line.indexOf(' ', end)));
                found.merge(line.substring(0, end), calls, Long::sum);
            }
        }
        return found;
    }

    static int numberOf(String method) {
        for (String line : read().split("\n")) {
            if (line.startsWith(method + "=")) {
                return Integer.parseInt(line.substring(line.indexOf(' ', line.indexOf('=')) + 1));
            }
        }
        throw new AssertionError("not counted: " + method);
    }

    /** @return what {@link Hot#loop} calls; not there, where it would be one of the methods */
    static Map<String, Long> hotCalls(long calls) {
        return Map.of("counted.Hot.loop", 1L, "counted.Hot.mix", calls, "counted.Hot.sometimes", calls / 16);
    }

    /** Runs the work until each of its calls is counted; a batch may take any time. */
    static void settle(Runnable work, Map<String, Long> wanted) throws InterruptedException {
        Map<String, Long> found;
        do {
            Thread.sleep(1);
            counts();
            reset();
            work.run();
            found = counts();
        } while (!found.equals(wanted));
    }

    /** Runs the work until no more methods get probes. */
    static void settle(Runnable work) throws InterruptedException {
        int quiet = 0;
        while (quiet < 3) {
            long batches = batches();
            work.run();
            awaitRounds();
            quiet = batches() == batches && !hasWork() ? quiet + 1 : 0;
        }
    }

    /* The instrumenting thread's CPU time changes with each round. The first of two rounds may have begun before this call. */
    private static void awaitRounds() throws InterruptedException {
        for (int i = 0; i < 2; i++) {
            long before = figures()[6];
            while (figures()[6] == before) {
                Thread.sleep(1);
            }
        }
    }
}
