// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** The calls that {@link Failures} records itself: which method has called which, and how often. */
public final class Edges {

    /** Calls by caller and callee. The callee adds 1 as its first action, without a call. Threads: one at a time. */
    static final long[] COUNTS = new long[Failures.METHODS.length * Failures.METHODS.length];

    private static long state;

    private Edges() {}

    /** An error that the program itself never throws. */
    static final class Death extends Error {
        private static final long serialVersionUID = 1;
    }

    static void seed(long seed) {
        state = seed;
    }

    static int random(int bound) {
        state = state * 6364136223846793005L + 1442695040888963407L;
        return (int) ((state >>> 33) % bound);
    }

    /** Sets all counts to zero. */
    public static void reset() {
        Arrays.fill(COUNTS, 0);
    }

    /** @return the calls by caller and callee, as {@code passing > leaf} */
    public static Map<String, Long> counts() {
        Map<String, Long> counts = new TreeMap<>();
        for (int i = 0; i < COUNTS.length; i++) {
            if (COUNTS[i] > 0) {
                int methods = Failures.METHODS.length;
                counts.merge(
                        Failures.METHODS[i / methods] + " > " + Failures.METHODS[i % methods], COUNTS[i], Long::sum);
            }
        }
        return counts;
    }
}
