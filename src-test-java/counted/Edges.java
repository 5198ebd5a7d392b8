// SPDX-License-Identifier: Apache-2.0
package counted;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/** What {@link Failures} says of itself: which method has called which, how often. */
public final class Edges {

    /** By caller and callee: the callee adds 1, without a call, as its first act. For one thread at a time. */
    static final long[] COUNTS = new long[Failures.METHODS.length * Failures.METHODS.length];

    private static long state;

    private Edges() {}

    /** What is no exception of the program's own. */
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

    /** Begins at zero. */
    public static void reset() {
        Arrays.fill(COUNTS, 0);
    }

    /** @return calls by caller and callee, as {@code passing > leaf} */
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
