// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.outputer.SamplingOutputer;

/**
 * Receives the events of a sampler's life; ignores them by default. Only {@link #interval} may throw.
 *
 * <p>Threads: {@code starting} and {@code ended} run one after the other, on the threads that start and end the
 * sampler; {@code interval} runs on the reporter thread, in between. No lock is held.
 */
public interface LifecycleListener {

    /** Does nothing. */
    LifecycleListener NONE = new LifecycleListener() {};

    /** An engine is about to start. */
    default void starting() {}

    /** The last report is written, or the engine that was about to start failed to. */
    default void ended() {}

    /**
     * Whether {@link #interval} would do anything.
     *
     * @param outputer where the report goes
     * @return false if it need not be called
     */
    default boolean isInterested(SamplingOutputer outputer) {
        return false;
    }

    /**
     * Receives an interval before its report is printed. An exception fails the report.
     *
     * @param snapshot the interval; a listener that uses it after this call has to hold it
     * @param outputer where the report goes
     */
    default void interval(Snapshot snapshot, SamplingOutputer outputer) {}
}
