// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Methods that the native core calls. They must not throw; the core would only clear the exception.
 *
 * <p>Threads: {@code groupNames} on the sampler thread, all others on the reporter thread.
 */
interface NativeCallbacks {

    /** Begins a report. @return false if the outputer failed; then no further part of this report follows */
    boolean title(long fromWallMillis, long tillWallMillis);

    /** Passes a record: the sampler's account first, then each thread group. @return as {@link #title} */
    boolean record(String title, String rows);

    /** Ends a report. @return as {@link #title} */
    boolean flush();

    /** Passes a deadlock, between two reports. */
    void deadlock(String title, String record);

    /** Passes a message of the core. Levels are 0 info, 1 warning, 2 error. */
    void message(int level, String text);

    /**
     * Names the groups of all threads, once per tick.
     *
     * @param threads the first {@code count} elements are set; reused in each tick
     * @param names receives the name of each thread's group; null: the thread is not sampled
     * @param failed receives true if the name manipulator threw; then the thread's own name is used
     */
    void groupNames(Thread[] threads, int count, String[] names, boolean[] failed);
}
