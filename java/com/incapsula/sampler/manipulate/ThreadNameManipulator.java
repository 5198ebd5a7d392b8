// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import org.jspecify.annotations.Nullable;

/**
 * Names the groups of threads: threads with the same name are one group of the report.
 *
 * <pre>{@code
 * sampler.setThreadNameManipulator(thread ->
 *         thread.getName().startsWith("http-") ? "http" : thread.isDaemon() ? null : thread.getName());
 * }</pre>
 *
 * <p>Threads: {@link #init()} runs on the thread that starts the sampler, {@link #getManipulatedThreadName} on the
 * sampler's own thread: once per platform thread and tick, and once per stack of a virtual thread. It must be fast. It
 * must not call {@code close()}, {@code shutdown()}, {@code printReport()} or another waiting method of its own
 * sampler: these throw {@link IllegalStateException} there. It must not wait for a lock whose holder may be waiting for
 * the end of a tick, as {@code close()} does.
 *
 * <p>Errors: the sampler catches everything that {@link #getManipulatedThreadName} throws. For this tick the thread's
 * own name is used, the failure is counted, and the outputer's {@code printError} receives the first failure of an
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
     * @return the group's name; null: the thread is not sampled; an empty name becomes {@code [unnamed]}
     */
    @Nullable
    String getManipulatedThreadName(Thread thread);

    /**
     * Prepares the manipulator. Called once at each {@code init()} of the sampler, and when the manipulator is set on a
     * running sampler. If this method throws, that call throws the same exception and changes nothing.
     */
    default void init() {}
}
