// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Methods that the native core calls. No method lets an exception out: the core would only clear it.
 *
 * <p>Threads: {@code groupNames} on the sampler thread, all others on the reporter thread.
 */
interface NativeCallbacks {

    /** Begins a report. @return false when the outputer failed: nothing more of this report follows */
    boolean title(long fromWallMillis, long tillWallMillis);

    /** The sampler's account first, then one thread group each. @return as {@link #title} */
    boolean record(String title, String rows);

    /** Ends a report. @return as {@link #title} */
    boolean flush();

    /** A deadlock, between two reports. */
    void deadlock(String title, String record);

    /**
     * A message of the core.
     *
     * @param level 0 info, 1 warning, 2 error
     */
    void message(int level, String text);

    /**
     * Gets group names from the name callback, once per tick for all threads.
     *
     * @param threads the first {@code count} elements are set; reused from tick to tick
     * @param names receives the name of each thread's group; null: the thread is not sampled
     * @param failed receives true if the callback threw: the thread goes under its own name
     */
    void groupNames(Thread[] threads, int count, String[] names, boolean[] failed);
}
