// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Brings a running engine to the properties as they are now.
 *
 * <p>The engine takes changes between two ticks. A caller that changes the threads waits for that; so a property that
 * is set from within a callback is applied by a thread of its own: the callback may be what the next tick waits for.
 *
 * <p>Threads: any; one thread at a time talks to the engine. The lock of {@link RunState} guards the fields and is not
 * held during calls of the engine.
 */
final class EngineUpdater {

    private final RunState state;
    private final ReportDispatcher dispatcher;
    private final Runnable hideCurrentThread;

    @SuppressWarnings("NullAway.Init") // set when an engine starts, before there is anything to update
    private EngineConfig applied; // the running engine's

    private boolean threadStarting; // a thread for changes from callbacks has not begun yet

    /** @param hideCurrentThread keeps the calling thread out of the samples */
    EngineUpdater(RunState state, ReportDispatcher dispatcher, Runnable hideCurrentThread) {
        this.state = state;
        this.dispatcher = dispatcher;
        this.hideCurrentThread = hideCurrentThread;
    }

    /**
     * The lock is held.
     *
     * @param config what the engine that runs from now on was started with
     */
    void setApplied(EngineConfig config) {
        applied = config;
    }

    /**
     * Returns when the running engine has what is wanted; from within a callback, at once.
     *
     * @param wanted the properties of the moment
     * @param undo runs under the lock where the engine refuses them
     */
    void applyOrUndo(Supplier<EngineConfig> wanted, Runnable undo) {
        if (dispatcher.isInCallback()) {
            applyOnOwnThread(wanted);
            return;
        }
        try {
            apply(wanted);
        } catch (RuntimeException | Error e) {
            state.lockAgain();
            try {
                undo.run();
            } finally {
                state.unlock();
            }
            throw e;
        }
    }

    private void applyOnOwnThread(Supplier<EngineConfig> wanted) {
        state.lock();
        try {
            if (threadStarting || !state.phase().isRunning() || wanted.get().isSameAs(applied)) {
                return;
            }
            threadStarting = true;
        } finally {
            state.unlock();
        }
        Thread thread = new Thread(null, () -> runOwnThread(wanted), "threads-sampler-settings", 0, false);
        thread.setDaemon(true);
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started) {
                endThreadStarting();
            }
        }
    }

    private void endThreadStarting() {
        state.lockAgain();
        try {
            threadStarting = false;
        } finally {
            state.unlock();
        }
    }

    private void runOwnThread(Supplier<EngineConfig> wanted) {
        try {
            endThreadStarting(); // first: a change from now on starts another thread
            hideCurrentThread.run();
            apply(wanted);
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "changed properties could not be applied", e);
        }
    }

    private void apply(Supplier<EngineConfig> wanted) {
        for (Update next = beginUpdate(wanted); next != null; next = beginUpdate(wanted)) {
            EngineConfig reached = applied;
            try {
                next.config.apply(next.engine, applied);
                reached = next.config;
            } catch (IllegalStateException e) {
                if (isApplying(next.engine)) {
                    throw e;
                }
            } finally {
                endUpdate(next.engine, reached);
            }
        }
    }

    private record Update(Engine engine, EngineConfig config) {}

    /** @return null where there is nothing to apply, or no engine */
    private @Nullable Update beginUpdate(Supplier<EngineConfig> wanted) {
        state.lock();
        try {
            state.awaitUpdate();
            EngineConfig next = wanted.get();
            if (!state.phase().isRunning() || next.isSameAs(applied)) {
                return null;
            }
            return new Update(state.beginUpdate(), next);
        } finally {
            state.unlock();
        }
    }

    /* False: an end has not waited for this update. */
    private boolean isApplying(Engine engine) {
        state.lockAgain();
        try {
            return state.isUpdating(engine);
        } finally {
            state.unlock();
        }
    }

    private void endUpdate(Engine engine, EngineConfig reached) {
        state.lockAgain();
        try {
            if (state.isUpdating(engine)) {
                applied = reached;
            }
            state.endUpdate(engine);
        } finally {
            state.unlock();
        }
    }
}
