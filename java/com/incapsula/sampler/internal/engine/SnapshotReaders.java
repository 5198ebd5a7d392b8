// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import org.jspecify.annotations.Nullable;

/**
 * The readers of a running sampler's intervals: one that all callers of {@link #snapshot} share, cursors, and windows
 * of the last minutes, which an engine keeps from its start on if one is open.
 *
 * <p>When the JVM exits, they wait until the engine has stopped and give what was collected up to then.
 *
 * <p>Threads: any.
 */
public final class SnapshotReaders {

    /**
     * Makes of an interval what its reader gives.
     *
     * @param <T> what is made
     */
    @FunctionalInterface
    public interface Maker<T> {

        /**
         * Makes it.
         *
         * @param interval held by the result from now on; where this fails, by the caller as before
         * @return the result
         */
        T make(Snapshot interval);
    }

    private final RunState state;
    private final ReportDispatcher dispatcher;

    private int windows; // open ones; guarded by the lock of state
    private volatile @Nullable Engine keeping; // the engine that keeps them

    @SuppressWarnings("NullAway.Init") // set when an engine starts, before there is anything to read
    private IntervalReader shared; // guarded by the lock of state

    SnapshotReaders(RunState state, ReportDispatcher dispatcher) {
        this.state = state;
        this.dispatcher = dispatcher;
    }

    /**
     * The lock is held.
     *
     * @param running the engine that runs from now on
     * @param reader its shared one
     */
    void setShared(Engine running, int reader) {
        shared = new IntervalReader(running, reader);
    }

    /**
     * Everything since the last call that did not fail, or since the start.
     *
     * @param <T> what the caller gets
     * @param maker makes it of the interval
     * @return the result
     * @throws IllegalStateException before the start, after the end, or from the outputer or the manipulator
     */
    public <T> T snapshot(Maker<T> maker) {
        String call = "snapshot()";
        dispatcher.refuseInCallback(call);
        IntervalReader reader;
        state.lock();
        try {
            state.requireRunning(call);
            reader = shared;
        } finally {
            state.unlock();
        }
        return take(reader, maker);
    }

    /**
     * Opens a reader whose first interval begins now.
     *
     * @return to be closed; dead when the sampler has ended
     * @throws IllegalStateException as for {@link #snapshot}
     */
    public Cursor openCursor() {
        String call = "openCursor()";
        dispatcher.refuseInCallback(call);
        Engine running = state.runningEngine(call);
        if (!state.isStoppedByExit(running)) {
            try {
                return new EngineCursor(new IntervalReader(running, running.openReader()));
            } catch (IllegalStateException stopped) {
                state.requireStoppedByExit(running, stopped);
            }
        }
        Engine ended = InertEngine.of("the JVM is exiting");
        return new EngineCursor(new IntervalReader(ended, ended.openReader()));
    }

    /** One more user of windows, which are kept from now on, or from the next start on. */
    public void openWindow() {
        Engine running = countWindow(1);
        if (running != null) {
            try {
                keepWindows(running);
            } catch (IllegalStateException | OutOfMemoryError notNow) {
                // the first report keeps them
            }
        }
    }

    /** One user less. */
    public void closeWindow() {
        Engine running = countWindow(-1);
        if (running != null && keeping == running) {
            keeping = null;
            try {
                running.forgetWindows();
            } catch (IllegalStateException ended) {
                // they have ended together with their engine
            }
        }
    }

    /* @return the engine that has something to do: with the first user and without the last one; null: none */
    private @Nullable Engine countWindow(int more) {
        state.lock();
        try {
            boolean had = windows > 0;
            windows += more;
            return had != windows > 0 ? state.engine() : null;
        } finally {
            state.unlock();
        }
    }

    /** Before an engine starts, and after that: a user may have come meanwhile. */
    void keepWindowsIfOpen(Engine launched) {
        state.lock();
        boolean isOpen = windows > 0;
        state.unlock();
        if (isOpen && keeping != launched) {
            keepWindows(launched);
        }
    }

    private void keepWindows(Engine running) {
        running.keepWindows();
        keeping = running;
    }

    /**
     * What was sampled in a window. No other reader loses it.
     *
     * @param <T> what the caller gets
     * @param window see {@link NativeBridge#takeWindow}
     * @param maker makes it of the interval
     * @return the result
     * @throws IllegalStateException as for {@link #snapshot}, and while the JVM exits
     */
    public <T> T window(int window, Maker<T> maker) {
        String call = "report()";
        dispatcher.refuseInCallback(call);
        StackRoom.require();
        Engine running = state.runningEngine(call);
        if (keeping != running) {
            keepWindows(running);
        }
        Snapshot taken = running.takeWindow(window);
        boolean complete = false;
        try {
            T made = maker.make(taken);
            complete = true;
            return made;
        } finally {
            if (!complete) {
                taken.release();
            }
        }
    }

    private <T> T take(IntervalReader reader, Maker<T> maker) {
        if (!state.isStoppedByExit(reader.engine())) {
            try {
                return reader.take(maker);
            } catch (IllegalStateException stopped) {
                state.requireStoppedByExit(reader.engine(), stopped);
            }
        }
        /* While the engine stops, it gives no intervals; and its last one only once. */
        state.awaitStopAtExit(reader.engine());
        return reader.takeLast(maker);
    }

    private final class EngineCursor implements Cursor {

        private final IntervalReader reader;
        private boolean closed; // guarded by this

        EngineCursor(IntervalReader reader) {
            this.reader = reader;
        }

        @Override
        public <T> T next(Maker<T> maker) {
            dispatcher.refuseInCallback("next()");
            StackRoom.require();
            requireOpen();
            try {
                return take(reader, maker);
            } catch (IllegalArgumentException unknown) {
                requireOpen(); // closed meanwhile
                throw unknown;
            }
        }

        private synchronized void requireOpen() {
            if (closed) {
                throw new IllegalStateException("the cursor is closed");
            }
        }

        @Override
        public synchronized void close() {
            if (closed) {
                return;
            }
            StackRoom.require();
            closed = true;
            reader.close();
        }
    }
}
