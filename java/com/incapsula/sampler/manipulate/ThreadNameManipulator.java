// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import org.jspecify.annotations.Nullable;

/**
 * Gives threads the names of their groups: threads with the same name are one group of the report.
 *
 * <pre>{@code
 * sampler.setThreadNameManipulator(thread ->
 *         thread.getName().startsWith("http-") ? "http" : thread.isDaemon() ? null : thread.getName());
 * }</pre>
 *
 * <p>Threads: {@link #init()} runs on the thread that starts the sampler, {@link #getManipulatedThreadName} on the
 * sampler's own thread: once per platform thread and tick, and once per stack of a virtual thread. It must be quick. It
 * must not call {@code close()}, {@code shutdown()}, {@code printReport()} or another waiting method of its own
 * sampler: these throw {@link IllegalStateException} there. It must not wait for a lock that another thread holds while
 * that thread calls a method of the sampler that waits for the end of the tick, as {@code close()} does.
 *
 * <p>Errors: the sampler catches everything that {@link #getManipulatedThreadName} throws. For this tick that thread
 * goes under its own name, the failure is counted, and the outputer's {@code printError} receives the first one of an
 * interval.
 *
 * @since 1.0
 */
@FunctionalInterface
public interface ThreadNameManipulator {

    /**
     * Names the group of a thread.
     *
     * @param thread a live platform thread, or a virtual thread that runs on one, never null; if the name of the
     *        platform thread is null, the virtual threads on it are not sampled either
     * @return the group's name; null: this thread is not sampled; empty counts as {@code [unnamed]}
     */
    @Nullable
    String getManipulatedThreadName(Thread thread);

    /**
     * Prepares the manipulator: called once at each {@code init()} of the sampler, and when the manipulator is set on a
     * running sampler. That call throws what this method throws, and nothing has changed.
     */
    default void init() {}
}
