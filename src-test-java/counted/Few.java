// SPDX-License-Identifier: Apache-2.0
package counted;

/** A program with fewer methods than the account names. */
public final class Few {

    private static volatile int sink;

    private Few() {}

    /** Calls leaf. */
    public static void root(int i) {
        sink += leaf(i);
    }

    private static int leaf(int i) {
        return i * 7 + sink % 3;
    }
}
