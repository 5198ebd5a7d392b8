// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import org.jspecify.annotations.Nullable;

/**
 * Says under which name a thread's samples are added up: threads with the same answer are one group of the report.
 *
 * <p>Threads: {@link #init()} runs on the thread that starts the sampler, {@link #getManipulatedThreadName} on the
 * sampler's own thread: once per platform thread and tick, and once per stack of a virtual thread. It must be quick,
 * and it must not call {@code close()}, {@code shutdown()}, {@code printReport()} or another waiting method of its own
 * sampler: that is refused with an {@link IllegalStateException}. It must not wait for a lock that somebody holds while
 * calling the sampler: setters and {@code close()} wait until the sampler is between two looks.
 *
 * <p>Errors: whatever {@link #getManipulatedThreadName} throws is caught. That thread goes under its own name for
 * this tick, the failure is counted, and the first one of an interval is told to the outputer's {@code printError}.
 */
@FunctionalInterface
public interface ThreadNameManipulator {

    /**
     * Names the group of a thread.
     *
     * @param thread a live platform thread, or a virtual thread that was found running on one, never null; where the
     *        answer for the one below is null nothing on it is sampled
     * @return the group's name; null: this thread is not sampled; empty counts as {@code [unnamed]}
     */
    @Nullable String getManipulatedThreadName(Thread thread);

    /**
     * Called before the first question: once at each {@code init()} of the sampler, and when the manipulator is set
     * on a running sampler. What it throws comes out of that call, and nothing has changed.
     */
    default void init() {
    }
}
