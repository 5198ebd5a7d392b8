// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Path;

/** Waits of the C library, as native libraries of applications call them. */
public final class NativeWaits {

    /** The value of {@code EINTR} on Linux. */
    public static final int INTERRUPTED = 4;

    /** The kinds of waits, in the order of the C file. */
    public enum Kind {
        POLL,
        SELECT,
        EPOLL_WAIT,
        NANOSLEEP,
        SEM_TIMEDWAIT,
        READ,
        ACCEPT,
        CONNECT;

        /**
         * @return true if only another thread can end the wait, by {@link NativeWaits#end}; false if its time ends it
         */
        public boolean needsAnother() {
            return compareTo(READ) >= 0;
        }
    }

    private NativeWaits() {}

    /** @return the library, for {@link #load} */
    public static Path compile(Path folder) throws IOException, InterruptedException {
        return Preload.compile("native_waits.c", folder);
    }

    /** Loads the library, once in a JVM. */
    public static void load(String library) {
        System.load(library);
        open();
    }

    private static native void open();

    private static native int await(int kind, int millis);

    private static native void end(int kind);

    private static native int run();

    private static native void block();

    private static native int countPending();

    private static native void tell(int phase);

    private static native void replace(boolean blocks);

    /** @return 0, or the error number */
    public static int await(Kind kind, int millis) {
        return await(kind.ordinal(), millis);
    }

    /** Ends a wait of this kind. */
    public static void end(Kind kind) {
        end(kind.ordinal());
    }

    /**
     * @return how many real-time signals arrived between {@link #beginCounting} and {@link #endCounting}; returns after
     *     the latter
     */
    public static int countSignals() {
        return run();
    }

    /** Blocks all real-time signals in the calling thread from now on. */
    public static void blockSignals() {
        block();
    }

    /** @return true if a real-time signal, which the calling thread blocks, is pending for it */
    public static boolean isSignalPending() {
        return countPending() > 0;
    }

    /** Replaces the program by one that prints its pending signals. */
    public static void replaceProgram() {
        replace(false);
    }

    /** Counts signals, then replaces the program by one that prints its pending signals. */
    public static void replaceProgramAfterCounting() {
        replace(true);
    }

    /** Begins to count signals. */
    public static void beginCounting() {
        tell(1);
    }

    /** Ends counting: {@link #countSignals} returns, and {@link #replaceProgramAfterCounting} replaces the program. */
    public static void endCounting() {
        tell(2);
    }
}
