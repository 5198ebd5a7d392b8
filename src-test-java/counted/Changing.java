// SPDX-License-Identifier: Apache-2.0
package counted;

/** Calls a class that an agent changes while it is loaded, each time differently. */
public final class Changing {

    /** The calls of each method of {@link Changed} in a call of {@link #root}. */
    public static final int TIMES = 20;

    private static int sum;

    private Changing() {}

    /** The class that the agent changes. */
    static final class Changed {

        private Changed() {}

        static void step(int i) {
            sum += i * i;
            inner(i);
        }

        static void inner(int i) {
            sum += 31 * i;
        }
    }

    /** The root method. */
    public static void root() {
        for (int i = 0; i < TIMES; i++) {
            Changed.step(i);
        }
    }
}
