// SPDX-License-Identifier: Apache-2.0
package counted;

/** Not loaded before it is used. */
final class Late {

    private static int calls;

    private Late() {}

    static void go() {
        calls++;
        if (calls < 0) {
            calls = 0;
        }
    }
}
