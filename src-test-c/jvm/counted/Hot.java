// SPDX-License-Identifier: Apache-2.0
package counted;

/** Makes many short calls. */
final class Hot {

    private static long state = 1;

    private Hot() {}

    static void loop(long calls) {
        for (long i = 0; i < calls; i++) {
            mix(i);
        }
    }

    static void mix(long i) {
        state = state * 31 + i;
        if ((i & 15) == 15) {
            sometimes(i);
        }
    }

    static void sometimes(long i) {
        state ^= i >>> 3;
        if (state == 0) {
            state = i;
        }
    }
}
