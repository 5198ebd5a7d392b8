// SPDX-License-Identifier: Apache-2.0
package counted;

/** Overflows its stack. */
final class Deep {

    static int depth;

    private Deep() {}

    static void run() {
        depth = 0;
        try {
            overflow(1);
        } catch (StackOverflowError e) {
            depth++;
        }
        for (int i = 0; i < 10; i++) {
            after(i);
        }
    }

    static int overflow(int n) {
        depth = n;
        return overflow(n + 1) + 1;
    }

    static int after(int n) {
        return n * depth;
    }
}
