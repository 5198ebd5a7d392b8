// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

/**
 * Times of the signal handler of one thread, and of walks in it. In a JVM that has loaded
 * {@link com.incapsula.sampler.bench.ObservedLibrary} and runs a sampler.
 */
final class HandlerTimes {

    /** Ways to walk, in the order of their columns. */
    static final int BY_JVM = 0;

    static final int OWN = 1;
    static final int OWN_CACHED = 2;
    static final int WAYS = 3;

    /** States of the processor's caches, in the order of their columns. */
    static final int FOUND = 0;

    static final int WARM = 1;
    static final int SWEPT = 2;
    static final int STATES = 3;

    /** Where in a row the system calls are by which each way has read memory. */
    static final int CALLS = WAYS + STATES * WAYS;

    /**
     * Of a row: the frames that each way found; for each state, and in it for each way, nanoseconds, -1: none; for each
     * way system calls.
     */
    static final int COLUMNS = CALLS + WAYS;

    private HandlerTimes() {}

    /** Begins with the calling thread: times whole handlers. */
    static native void start();

    /** From now on times walks instead; from any thread. */
    static native void timeWalks();

    /**
     * Ends.
     *
     * @return one row after the other
     */
    static native int[] stop();

    /** Sends the calling thread, which is measured, the sampler's signal, with a handler that returns at once. */
    static native void bare();

    /**
     * What bare has measured; after stop.
     *
     * @return nanoseconds of each
     */
    static native int[] bareTimes();

    /**
     * Handlers that were timed from beginning to end; after stop.
     *
     * @return of each the frames it found, and nanoseconds
     */
    static native int[] whole();
}
