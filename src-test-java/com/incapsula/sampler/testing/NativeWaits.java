// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Path;

/** Waits of the C library, called as applications' native libraries call them. */
public final class NativeWaits {

    /** {@code EINTR} of Linux. */
    public static final int INTERRUPTED = 4;

    /** What waits, in the order of the C file. */
    public enum Kind {
        POLL,
        SELECT,
        EPOLL_WAIT,
        NANOSLEEP,
        SEM_TIMEDWAIT,
        READ,
        ACCEPT,
        CONNECT;

        /** @return does it wait for another thread to call {@link NativeWaits#end}? Else its time ends it */
        public boolean needsAnother() {
            return compareTo(READ) >= 0;
        }
    }

    private NativeWaits() {}

    /** @return the library, for {@link #load} */
    public static Path compile(Path folder) throws IOException, InterruptedException {
        return Preload.compile("native_waits.c", folder);
    }

    /** Once in a JVM. */
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

    /** @return 0, or the number of the error */
    public static int await(Kind kind, int millis) {
        return await(kind.ordinal(), millis);
    }

    /** Lets a wait of that kind end. */
    public static void end(Kind kind) {
        end(kind.ordinal());
    }

    /** @return how many real-time signals have come between the two calls of others; runs until the second one */
    public static int countSignals() {
        return run();
    }

    /** From now on the calling thread blocks all real-time signals. */
    public static void blockSignals() {
        block();
    }

    /** @return does the calling thread block a real-time signal that has been sent to it? */
    public static boolean isSignalPending() {
        return countPending() > 0;
    }

    /** Replaces the program by one that prints which signals are pending for it. */
    public static void replaceProgram() {
        replace(false);
    }

    /** The same after it has counted signals. */
    public static void replaceProgramAfterCounting() {
        replace(true);
    }

    /** From here on they count. */
    public static void beginCounting() {
        tell(1);
    }

    /** Lets {@link #countSignals} return, and {@link #replaceProgramAfterCounting} replace the program. */
    public static void endCounting() {
        tell(2);
    }
}
