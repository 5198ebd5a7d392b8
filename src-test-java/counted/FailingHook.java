// SPDX-License-Identifier: Apache-2.0
package counted;

/** What another agent calls in the methods of {@link Failures}: now and then it throws. For one thread at a time. */
public final class FailingHook {

    private static final int ONE_OF = 48;

    private static boolean throwing;
    private static long state = 7;

    private FailingHook() {}

    private static final class Unrelated extends Error {
        private static final long serialVersionUID = 1;
    }

    /** From now on. */
    public static void begin() {
        throwing = true;
    }

    /** The agent's code calls this. */
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
