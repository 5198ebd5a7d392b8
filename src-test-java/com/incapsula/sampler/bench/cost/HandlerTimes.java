// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

/**
 * Times of the signal handler on one thread, and of walks in it. Needs a JVM that has loaded {@link
 * com.incapsula.sampler.bench.ObservedLibrary} and runs a sampler.
 */
final class HandlerTimes {

    /** The ways to walk, in the order of their columns. */
    static final int BY_JVM = 0;

    static final int OWN = 1;
    static final int OWN_CACHED = 2;
    static final int WAYS = 3;

    /** The states of the processor's caches, in the order of their columns. */
    static final int FOUND = 0;

    static final int WARM = 1;
    static final int SWEPT = 2;
    static final int STATES = 3;

    /** The index in a row of each way's number of system calls for reading memory. */
    static final int CALLS = WAYS + STATES * WAYS;

    /**
     * The length of a row: the frames that each way found; the nanoseconds of each way in each state, -1 if there are
     * none; the system calls of each way.
     */
    static final int COLUMNS = CALLS + WAYS;

    private HandlerTimes() {}

    /** Begins to time whole handlers on the calling thread. */
    static native void start();

    /** From now on times walks instead. Any thread may call this. */
    static native void timeWalks();

    /**
     * Ends.
     *
     * @return the rows, one after the other
     */
    static native int[] stop();

    /**
     * Sends the sampler's signal to the calling thread, which must be the measured one, with a handler that returns
     * immediately.
     */
    static native void bare();

    /**
     * Reads the results of {@code bare}; after stop.
     *
     * @return nanoseconds of each signal
     */
    static native int[] bareTimes();

    /**
     * Reads the handlers that were timed from beginning to end; after stop.
     *
     * @return for each of them the number of frames found, and nanoseconds
     */
    static native int[] whole();
}
