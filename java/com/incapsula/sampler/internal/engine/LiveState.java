// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import org.jspecify.annotations.Nullable;

/**
 * What a sampler has counted, and what it does now: the answers of the engine that runs; after its end, its last figures.
 * Whether it runs is the phase of {@link RunState}.
 *
 * <p>Threads: any. The lock of {@link RunState} guards the figures and is not held during calls of the engine.
 */
public final class LiveState {

    private static final String STARTS = "gauge.starts";

    private final RunState state;
    private RawStatistics last = RawStatistics.NONE;
    private long starts; // guarded by the lock of state

    LiveState(RunState state) {
        this.state = state;
    }

    /** @return the figures of an engine that has stopped and is not destroyed yet; none, and a warning, if it fails */
    static RawStatistics lastOf(Engine ending) {
        try {
            return ending.statistics();
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the last statistics are lost", e);
            return RawStatistics.NONE;
        }
    }

    /**
     * The lock is held.
     *
     * @param figures of the engine that is about to be destroyed
     */
    void setLast(RawStatistics figures) {
        last = figures;
    }

    /** The lock is held: the figures of another engine follow. */
    void countStart() {
        starts++;
    }

    /**
     * Whether there is an engine that takes calls.
     *
     * @return true from the end of {@link Lifecycle#init()} to the end of the sampler, paused or not
     */
    public boolean isRunning() {
        return phase().isRunning();
    }

    /**
     * Whether time stands still.
     *
     * @return true from {@link Lifecycle#pause()} to {@link Lifecycle#resume()}
     */
    public boolean isPaused() {
        return phase() == RunState.Phase.PAUSED;
    }

    /**
     * What the engine counted.
     *
     * @return the figures of the last tick; after the end, the last ones
     */
    public RawStatistics statistics() {
        Engine running;
        long start;
        state.lock();
        try {
            running = state.engine();
            start = starts;
        } finally {
            state.unlock();
        }
        try {
            if (running != null) {
                return running.statistics().with(STARTS, start);
            }
        } catch (IllegalStateException ended) {
            // the sampler has ended since, and stored the last figures before
        }
        state.lock();
        try {
            return starts == 0 ? last : last.with(STARTS, starts);
        } finally {
            state.unlock();
        }
    }

    /** {@return the engine's live state as text; where none runs, a text that says so} */
    public String dump() {
        Engine running = engine();
        try {
            if (running != null) {
                return running.dump();
            }
        } catch (IllegalStateException ended) {
            // ended since
        }
        return "threads-sampler, live state\nstate: not started, or closed\n";
    }

    private RunState.Phase phase() {
        state.lock();
        try {
            return state.phase();
        } finally {
            state.unlock();
        }
    }

    /* It may end at once. */
    private @Nullable Engine engine() {
        state.lock();
        try {
            return state.engine();
        } finally {
            state.unlock();
        }
    }
}
