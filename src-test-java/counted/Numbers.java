// SPDX-License-Identifier: Apache-2.0
package counted;

/**
 * Has constants that are not equal to themselves (NaN), so the JVM adds them to the class's constants again at each
 * change.
 */
public final class Numbers {

    private static volatile double sink;

    private Numbers() {}

    /** Calls two methods this many times. */
    public static void root(int times) {
        for (int i = 0; i < times; i++) {
            sink = single(i) + twice(i);
        }
    }

    private static float single(int i) {
        return i < 0 ? Float.NaN : i * 0.5F;
    }

    private static double twice(int i) {
        return i < 0 ? Double.NaN : i * 0.25;
    }
}
