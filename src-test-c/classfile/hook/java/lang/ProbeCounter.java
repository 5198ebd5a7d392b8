// SPDX-License-Identifier: Apache-2.0
package java.lang;

/**
 * The hook of the rewriter's tests. It counts the probes that one thread passes. It is defined in java.base and must not call
 * anything that may itself contain probes.
 */
public final class ProbeCounter {

    private static Thread counted;
    private static long entered;
    private static long exited;
    private static long rootsEntered;
    private static long rootsExited;
    private static long caught;

    private ProbeCounter() {}

    public static void enter(int id) {
        if (Thread.currentThread() == counted) {
            entered++;
        }
    }

    public static void exit(int id) {
        if (Thread.currentThread() == counted) {
            exited++;
        }
    }

    public static void enterRoot(int id) {
        if (Thread.currentThread() == counted) {
            rootsEntered++;
        }
    }

    public static void exitRoot(int id) {
        if (Thread.currentThread() == counted) {
            rootsExited++;
        }
    }

    public static void caught(Object exception, int id) {
        if (Thread.currentThread() == counted) {
            caught++;
        }
    }
}
