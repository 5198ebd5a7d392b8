// SPDX-License-Identifier: Apache-2.0
package counted;

/**
 * Another agent inserts calls of this class into the methods of {@link Failures}: now and then the hook throws.
 * Threads: one at a time.
 */
public final class FailingHook {

    private static final int ONE_OF = 48;

    private static boolean throwing;
    private static long state = 7;

    private FailingHook() {}

    private static final class Unrelated extends Error {
        private static final long serialVersionUID = 1;
    }

    /** The hook throws from now on. */
    public static void begin() {
        throwing = true;
    }

    /** Called by the inserted code. */
    public static void call() {
        if (!throwing) {
            return;
        }
        state = state * 6364136223846793005L + 1442695040888963407L;
        switch ((int) ((state >>> 33) % ONE_OF)) {
            case 0:
                throw new IllegalStateException();
            case 1:
                throw new IllegalArgumentException();
            case 2:
                throw new Edges.Death();
            case 3:
                throw new Unrelated();
            default:
                break;
        }
    }
}
