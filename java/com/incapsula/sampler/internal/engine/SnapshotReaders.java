// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * The readers of a running sampler's intervals: one that all callers of {@link #snapshot()} share, and cursors.
 *
 * <p>When the JVM exits, they wait until the engine has stopped and give what was collected up to then.
 *
 * <p>Threads: any.
 */
public final class SnapshotReaders {

    private final RunState state;
    private final ReportDispatcher dispatcher;
    private final Object sharedTaking = new Object(); // held while the shared reader takes an interval
    private int shared; // the engine's number of the shared reader; guarded by the lock of state

    SnapshotReaders(RunState state, ReportDispatcher dispatcher) {
        this.state = state;
        this.dispatcher = dispatcher;
    }

    /**
     * The lock is held.
     *
     * @param reader the shared one of the engine that runs from now on
     */
    void setShared(int reader) {
        shared = reader;
    }

    /**
     * Everything since the last call, or since the start.
     *
     * @return held by the caller
     * @throws IllegalStateException before the start, after the end, or from the outputer or the manipulator
     */
    public Snapshot snapshot() {
        String call = "snapshot()";
        dispatcher.refuseInCallback(call);
        Engine running;
        int reader;
        state.lock();
        try {
            running = state.requireRunning(call);
            reader = shared;
        } finally {
            state.unlock();
        }
        return take(running, reader, sharedTaking);
    }

    /**
     * Opens a reader whose first interval begins now.
     *
     * @return to be closed; dead when the sampler has ended
     * @throws IllegalStateException as for {@link #snapshot()}
     */
    public Cursor openCursor() {
        String call = "openCursor()";
        dispatcher.refuseInCallback(call);
        Engine running = state.runningEngine(call);
        int[] reader = new int[1];
        if (state.callUnlessExiting(running, () -> reader[0] = running.openReader())) {
            return new EngineCursor(running, reader[0]);
        }
        Engine ended = new InertEngine.Source("the JVM is exiting").create(new Settings().toOptionValues(), dispatcher);
        return new EngineCursor(ended, ended.openReader());
    }

    /* One caller at a time: of two that end an interval each, the first would get both, and the second nothing. */
    private Snapshot take(Engine engine, int reader, Object taking) {
        Snapshot[] taken = new Snapshot[1];
        boolean done = state.callUnlessExiting(engine, () -> {
            synchronized (taking) {
                taken[0] = engine.takeInterval(reader);
            }
        });
        return done ? taken[0] : takeLast(engine, reader, taking);
    }

    /* While the engine stops, it gives no intervals; and its last one only once. */
    private Snapshot takeLast(Engine stopping, int reader, Object taking) {
        state.awaitStopAtExit(stopping);
        try {
            synchronized (taking) {
                return stopping.takeInterval(reader);
            }
        } catch (IllegalStateException nothingIsLeft) {
            return new InertSnapshot(System.currentTimeMillis(), "the JVM is exiting");
        }
    }

    private final class EngineCursor implements Cursor {

        private final Engine engine;
        private final int reader;
        private final Object taking = new Object();
        private boolean closed; // guarded by this

        EngineCursor(Engine engine, int reader) {
            this.engine = engine;
            this.reader = reader;
        }

        @Override
        public Snapshot next() {
            dispatcher.refuseInCallback("next()");
            StackRoom.require();
            requireOpen();
            try {
                return take(engine, reader, taking);
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
            try {
                engine.closeReader(reader);
            } catch (IllegalStateException ended) {
                // the reader ended together with its engine
            }
        }
    }
}
