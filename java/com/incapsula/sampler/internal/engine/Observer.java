// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.outputer.SamplingOutputer;

/**
 * Is told of a sampler's life. Nothing but {@link #interval} may throw.
 *
 * <p>Threads: {@code starting} and {@code ended} on the threads that start and end the sampler, the one after the
 * other; {@code interval} on the reporter thread, in between. No lock is held.
 */
public interface Observer {

    /** Does nothing. */
    Observer NONE = new Observer() {
        @Override
        public void starting() {
        }

        @Override
        public void ended() {
        }

        @Override
        public boolean isInterested(SamplingOutputer outputer) {
            return false;
        }

        @Override
        public void interval(Snapshot snapshot, SamplingOutputer outputer) {
        }
    };

    /** A core is about to start. */
    void starting();

    /** The last report is written; or the core that was about to start did not. */
    void ended();

    /**
     * Asks whether {@link #interval} would do anything.
     *
     * @param outputer where the report goes
     * @return false: it need not be called
     */
    boolean isInterested(SamplingOutputer outputer);

    /**
     * Takes notice of an interval before its report is printed. Whatever it throws fails the report.
     *
     * @param snapshot the interval; to be held where it is used longer than this call
     * @param outputer where the report goes
     */
    void interval(Snapshot snapshot, SamplingOutputer outputer);
}
