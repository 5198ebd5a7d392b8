// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The phase a sampler is in, and the one lock that guards it and everything that changes with it.
 *
 * <pre>
 *   NEW ──► STARTING ──► RUNNING ◄──► PAUSED      (through PAUSING and RESUMING)
 *              ▲            └────┬───────┘
 *              └── CLOSED ◄── CLOSING
 * </pre>
 *
 * <p>A phase that ends in -ING belongs to the thread that began it. That thread works without the lock; all other
 * threads wait for the next phase.
 *
 * <p>Threads: any. Methods marked "lock held" are for callers between {@link #lock()} and {@link #unlock()}.
 */
final class RunState {

    enum Phase {
        NEW,
        STARTING,
        RUNNING,
        PAUSING,
        PAUSED,
        RESUMING,
        CLOSING,
        CLOSED;

        /** No engine exists, and no thread is creating one. */
        boolean isIdle() {
            return this == NEW || this == CLOSED;
        }

        /** The engine takes calls. */
        boolean isRunning() {
            return this == RUNNING || this == PAUSING || this == PAUSED || this == RESUMING;
        }

        boolean isStable() {
            return isIdle() || this == RUNNING || this == PAUSED;
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Phase phase = Phase.NEW;
    private @Nullable Thread worker; // the thread that works in an -ING phase
    private @Nullable Engine engine; // from RUNNING until it is destroyed
    private boolean updating; // a thread hands changed properties to the engine
    private volatile @Nullable Engine engineAtExit; // stopped because the JVM exits, and kept for a last snapshot

    /**
     * The first step of a call: {@link #lockAgain()} takes the lock where it has been held before.
     *
     * @throws StackOverflowError where a later step, or the release of the lock, would perhaps find no room on the stack
     */
    void lock() {
        StackRoom.require();
        lock.lock();
    }

    /** For the end of what began with {@link #lock()}, which has to be done in any case. */
    void lockAgain() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    /** Lock held. */
    Phase phase() {
        return phase;
    }

    /** Lock held, or within an update: the engine is not destroyed before its end. @return null if none exists */
    @Nullable
    Engine engine() {
        return engine;
    }

    /** Lock held. Enters an -ING phase, in which the calling thread works. */
    void begin(Phase work) {
        phase = work;
        worker = Thread.currentThread();
    }

    /** The calling thread goes on with the work of the -ING phase; takes the lock itself. */
    void takeOver() {
        lock.lock();
        try {
            worker = Thread.currentThread();
        } finally {
            lock.unlock();
        }
    }

    /** Ends an -ING phase; takes the lock itself. */
    void reach(Phase reached) {
        lock.lock();
        try {
            phase = reached;
            worker = null;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lock held.
     *
     * @param next the engine that runs from now on; null: the last one is about to be destroyed
     */
    void setEngine(@Nullable Engine next) {
        engine = next;
        changed.signalAll();
    }

    /**
     * Lock held.
     *
     * @param next the engine that the JVM's exit stops; null: none
     */
    void setEngineAtExit(@Nullable Engine next) {
        engineAtExit = next;
    }

    /** @return true where the JVM's exit stops this engine, or has stopped it */
    boolean isStoppedByExit(Engine running) {
        return running == engineAtExit;
    }

    /** After a call of an engine that has failed. @throws IllegalStateException the failure, unless it is the exit's */
    void requireStoppedByExit(Engine running, IllegalStateException failure) {
        if (!isStoppedByExit(running)) {
            throw failure;
        }
    }

    /** @return true if the sampler runs and samples nothing */
    boolean isInert() {
        lock();
        try {
            return engine instanceof InertEngine;
        } finally {
            lock.unlock();
        }
    }

    /** Lock held. @throws IllegalStateException while the sampler runs */
    void requireIdle(String property) {
        if (!phase.isIdle()) {
            throw new IllegalStateException(property + " cannot be changed while the sampler runs");
        }
    }

    /**
     * Lock held.
     *
     * @return the engine that runs, or the one that the JVM's exit has stopped
     * @throws IllegalStateException where there is neither
     */
    Engine requireRunning(String call) {
        if (phase.isRunning()) {
            return Objects.requireNonNull(engine, "a phase that runs has an engine");
        }
        if (engineAtExit != null) {
            return engineAtExit;
        }
        throw new IllegalStateException(call + " needs a running sampler: init() comes first");
    }

    /** As {@link #requireRunning}; takes the lock itself. */
    Engine runningEngine(String call) {
        lock();
        try {
            return requireRunning(call);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lock held. Waits until no thread starts, ends, pauses or updates the sampler. While the JVM exits it waits no
     * longer than the exit does, so the phase may still be CLOSING afterwards.
     *
     * @throws IllegalStateException where the calling thread would wait for itself
     */
    void awaitStable(String call) {
        while (!phase.isStable() || updating) {
            if (worker == Thread.currentThread()) {
                throw ReportDispatcher.selfCall(call);
            }
            if (engineAtExit != null) {
                awaitAtExit(() -> phase.isStable());
                return;
            }
            changed.awaitUninterruptibly();
        }
    }

    /** Waits until this engine of the JVM's exit has stopped, or the exit's time is over. */
    void awaitStopAtExit(Engine stopping) {
        lock.lock();
        try {
            awaitAtExit(() -> engine != stopping);
        } finally {
            lock.unlock();
        }
    }

    /* No longer than the exit itself waits for the last report: the outputer may be stuck. */
    private void awaitAtExit(BooleanSupplier done) {
        boolean interrupted = Thread.interrupted();
        long left = TimeUnit.MILLISECONDS.toNanos(ExitReport.longestMillis());
        while (!done.getAsBoolean() && left > 0) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Lock held. Waits until no other thread updates the engine. */
    void awaitUpdate() {
        while (updating) {
            changed.awaitUninterruptibly();
        }
    }

    /** Lock held. */
    void setUpdating(boolean next) {
        updating = next;
        changed.signalAll();
    }

    /**
     * Calls the engine. The JVM's exit may stop it between any two lines of the caller.
     *
     * @return false: the JVM's exit ends the sampler, and nothing was done
     */
    boolean callUnlessExiting(Engine running, Runnable call) {
        if (isStoppedByExit(running)) {
            return false;
        }
        try {
            call.run();
            return true;
        } catch (IllegalStateException stopped) {
            requireStoppedByExit(running, stopped);
            return false;
        }
    }
}
