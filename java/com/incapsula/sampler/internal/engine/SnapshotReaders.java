// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The readers of a running sampler's intervals: one that all callers of {@link #snapshot} share, cursors, and windows
 * of the last minutes. If a window is open when an engine starts, the engine keeps the windows from then on.
 *
 * <p>A caller passes a maker of its result, which then holds the interval. If the maker throws, the interval is still
 * held here.
 *
 * <p>When the JVM exits, readers wait until the engine has stopped, and return what it has collected up to then.
 *
 * <p>Threads: any.
 */
public final class SnapshotReaders {

    private final RunState state;
    private final ReportDispatcher dispatcher;

    private int windows; // open ones; guarded by the lock of state
    private volatile @Nullable Engine keeping; // the engine that keeps windows

    @SuppressWarnings("NullAway.Init") // set when an engine starts, before there is anything to read
    private Intervals shared; // guarded by the lock of state

    SnapshotReaders(RunState state, ReportDispatcher dispatcher) {
        this.state = state;
        this.dispatcher = dispatcher;
    }

    /**
     * Lock held.
     *
     * @param running the engine that runs from now on
     * @param reader its shared reader
     */
    void setShared(Engine running, int reader) {
        shared = new Intervals(running, reader);
    }

    /**
     * Reads everything since the last successful call, or since the start.
     *
     * @throws IllegalStateException before the start, after the end, or from the outputer or the manipulator
     */
    public <T> T snapshot(Function<Snapshot, T> maker) {
        String call = "snapshot()";
        dispatcher.refuseInCallback(call);
        Intervals intervals;
        state.lock();
        try {
            state.requireRunning(call);
            intervals = shared;
        } finally {
            state.unlock();
        }
        return take(intervals, maker);
    }

    /**
     * Opens a reader whose first interval begins now.
     *
     * @return to be closed; unusable after the sampler's end
     * @throws IllegalStateException as for {@link #snapshot}
     */
    public Cursor openCursor() {
        String call = "openCursor()";
        dispatcher.refuseInCallback(call);
        Engine running = state.runningEngine(call);
        if (!state.isStoppedByExit(running)) {
            try {
                return new Cursor(new Intervals(running, running.openReader()));
            } catch (IllegalStateException stopped) {
                state.requireStoppedByExit(running, stopped);
            }
        }
        Engine ended = new InertEngine("the JVM is exiting");
        return new Cursor(new Intervals(ended, ended.openReader()));
    }

    // ---- windows ----

    /** Adds a user of windows. With the first one, windows are kept from now on, or from the next start on. */
    public void openWindow() {
        Engine running = countWindow(1);
        if (running != null) {
            tryToKeepWindows(running);
        }
    }

    /** Removes a user of windows. With the last one, windows are forgotten. */
    public void closeWindow() {
        Engine running = countWindow(-1);
        if (running != null && keeping == running) {
            forgetWindows(running);
        }
    }

    private void forgetWindows(Engine running) {
        keeping = null;
        try {
            running.forgetWindows();
        } catch (IllegalStateException ended) {
            // the windows have ended together with their engine
        }
    }

    /* @return the engine to be told: for the first user and after the last one; else null */
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

    /** Called before an engine starts. */
    void keepWindowsIfOpen(Engine launched) {
        if (isWindowOpen()) {
            keepWindows(launched);
        }
    }

    /** Called once an engine runs, because windows may have been opened or closed during the start. */
    void followWindowsOfStart(Engine running) {
        if (keeping == running) {
            forgetUnusedWindows(running);
        } else if (isWindowOpen()) {
            tryToKeepWindows(running);
        }
    }

    private boolean isWindowOpen() {
        state.lockAgain();
        try {
            return windows > 0;
        } finally {
            state.unlock();
        }
    }

    private void tryToKeepWindows(Engine running) {
        try {
            keepWindows(running);
        } catch (RuntimeException | Error notNow) {
            // the first report tries again
        }
    }

    private void keepWindows(Engine running) {
        running.keepWindows();
        keeping = running;
        forgetUnusedWindows(running);
    }

    /* The last window may have been closed before the engine kept windows. */
    private void forgetUnusedWindows(Engine running) {
        if (!isWindowOpen()) {
            forgetWindows(running);
        }
    }

    /**
     * Reads a window. Other readers lose nothing.
     *
     * @param window see {@link NativeBridge#takeWindow}
     * @throws IllegalStateException as for {@link #snapshot}, and while the JVM exits
     */
    public <T> T window(int window, Function<Snapshot, T> maker) {
        String call = "report()";
        dispatcher.refuseInCallback(call);
        StackRoom.require();
        Engine running = state.runningEngine(call);
        if (keeping != running) {
            keepWindows(running);
        }
        return takeWindow(running, window).heldBy(maker);
    }

    /* A close() of the last window may have forgotten the windows after this one was opened. */
    private Snapshot takeWindow(Engine running, int window) {
        try {
            return running.takeWindow(window);
        } catch (IllegalStateException forgotten) {
            keepWindows(running);
            return running.takeWindow(window);
        }
    }

    // ---- intervals ----

    private <T> T take(Intervals intervals, Function<Snapshot, T> maker) {
        Engine engine = intervals.engine;
        if (!state.isStoppedByExit(engine)) {
            try {
                return intervals.take(maker);
            } catch (IllegalStateException stopped) {
                state.requireStoppedByExit(engine, stopped);
            }
        }
        /* A stopping engine returns no intervals, and a stopped one returns its last interval only once. */
        state.awaitStopAtExit(engine);
        return intervals.takeLast(maker);
    }

    /**
     * The intervals of one reader of an engine. The engine returns an interval once. If a caller fails to get it, for
     * lack of memory for its report or of room on its stack, it is kept for the next call.
     *
     * <p>Threads: any; one at a time takes an interval. If two threads ended an interval each at the same time, the
     * first one would get both.
     */
    private static final class Intervals {

        private final Engine engine;
        private final int reader; // its number

        /* Taken from the engine, not returned yet. While two cannot be merged, no further one is taken. */
        private @Nullable Snapshot taken; // guarded by this
        private @Nullable Snapshot later; // guarded by this; only beside the other one

        Intervals(Engine engine, int reader) {
            this.engine = engine;
            this.reader = reader;
        }

        /**
         * Takes everything since the last successful call.
         *
         * @throws IllegalStateException if the engine has stopped or was destroyed, and has no interval for this reader
         * @throws IllegalArgumentException if the engine no longer knows the reader
         */
        <T> T take(Function<Snapshot, T> maker) {
            StackRoom.require();
            synchronized (this) {
                join();
                if (taken == null) {
                    taken = engine.takeInterval(reader);
                } else {
                    later = engine.takeInterval(reader);
                    join();
                }
                return give(maker);
            }
        }

        /** As {@link #take} after the JVM's exit has stopped the engine: an empty interval if nothing is left. */
        <T> T takeLast(Function<Snapshot, T> maker) {
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

        private <T> T give(Function<Snapshot, T> maker) {
            T made = maker.apply(Objects.requireNonNull(taken, "taken before"));
            taken = null;
            return made;
        }

        /* The garbage collector frees kept snapshots. */
        void close() {
            try {
                engine.closeReader(reader);
            } catch (IllegalStateException ended) {
                // the reader has ended together with its engine
            }
        }
    }

    /**
     * A reader with intervals of its own.
     *
     * <p>Threads: any.
     */
    public final class Cursor {

        private final Intervals intervals;
        private boolean closed; // guarded by this

        Cursor(Intervals intervals) {
            this.intervals = intervals;
        }

        /**
         * Reads everything since the last successful call, or since the cursor was opened.
         *
         * @throws IllegalStateException if the cursor is closed, the engine has ended, or from the outputer or the
         *     manipulator
         */
        public <T> T next(Function<Snapshot, T> maker) {
            dispatcher.refuseInCallback("next()");
            StackRoom.require();
            requireOpen();
            try {
                return take(intervals, maker);
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

        /** Ends the reader. Does nothing the second time, and after the engine has ended. */
        public synchronized void close() {
            if (closed) {
                return;
            }
            StackRoom.require();
            closed = true;
            intervals.close();
        }
    }
}
