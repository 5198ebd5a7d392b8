// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.outputer.SamplingOutputer;

/**
 * Receives the events of a sampler's life. No method but {@link #interval} may throw.
 *
 * <p>Threads: {@code starting} and {@code ended} run on the threads that start and end the sampler, one after the
 * other; {@code interval} runs on the reporter thread, in between. No lock is held.
 */
public interface Observer {

    /** Does nothing. */
    Observer NONE = new Observer() {
        @Override
        public void starting() {}

        @Override
        public void ended() {}

        @Override
        public boolean isInterested(SamplingOutputer outputer) {
            return false;
        }

        @Override
        public void interval(Snapshot snapshot, SamplingOutputer outputer) {}
    };

    /** An engine is about to start. */
    void starting();

    /** The last report is written; or the engine that was about to start did not. */
    void ended();

    /**
     * Whether {@link #interval} would do anything.
     *
     * @param outputer where the report goes
     * @return false: it need not be called
     */
    boolean isInterested(SamplingOutputer outputer);

    /**
     * Receives an interval before its report is printed. What it throws fails the report.
     *
     * @param snapshot the interval; an observer that uses it longer than this call holds it
     * @param outputer where the report goes
     */
    void interval(Snapshot snapshot, SamplingOutputer outputer);
}
