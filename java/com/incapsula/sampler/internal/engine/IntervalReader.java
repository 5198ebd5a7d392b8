// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.engine.SnapshotReaders.Maker;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One reader of an engine's intervals. The engine gives an interval once, so what a caller was to get and did not,
 * because there was no memory for its report or no room on its stack, is kept for the next call.
 *
 * <p>Threads: any. One at a time takes: of two that end an interval each, the first would get both, and the second
 * nothing.
 */
final class IntervalReader {

    private final Engine engine;
    private final int number;

    /* Taken, and not given to a caller yet. At most two: while they cannot be merged none is taken. */
    private @Nullable Snapshot taken; // guarded by this
    private @Nullable Snapshot later; // guarded by this; only beside the other one

    /** @param number the reader's, of the engine */
    IntervalReader(Engine engine, int number) {
        this.engine = engine;
        this.number = number;
    }

    Engine engine() {
        return engine;
    }

    /**
     * Everything since the last call that did not fail.
     *
     * @throws IllegalStateException if the engine has stopped or was destroyed, and has no interval for this reader
     * @throws IllegalArgumentException if the engine does not know the reader any more
     */
    <T> T take(Maker<T> maker) {
        StackRoom.require();
        synchronized (this) {
            join();
            if (taken == null) {
                taken = engine.takeInterval(number);
            } else {
                later = engine.takeInterval(number);
                join();
            }
            return give(maker);
        }
    }

    /** As {@link #take}, of an engine that the JVM's exit has stopped: an empty interval where there is nothing left. */
    <T> T takeLast(Maker<T> maker) {
        synchronized (this) {
            try {
                return take(maker);
            } catch (IllegalStateException noInterval) {
                if (taken == null) {
                    taken = new InertSnapshot(System.currentTimeMillis(), "the JVM is exiting");
                }
                return give(maker);
            }
        }
    }

    private void join() {
        Snapshot first = taken;
        Snapshot second = later;
        if (first != null && second != null) {
            taken = first.mergedWith(second);
            later = null;
            first.release();
            second.release();
        }
    }

    private <T> T give(Maker<T> maker) {
        T made = maker.make(Objects.requireNonNull(taken, "taken before"));
        taken = null;
        return made;
    }

    /** Ends the reader. What it keeps is freed as a snapshot that was forgotten; the engine may have ended before. */
    void close() {
        try {
            engine.closeReader(number);
        } catch (IllegalStateException ended) {
            // the reader ended together with its engine
        }
    }
}
