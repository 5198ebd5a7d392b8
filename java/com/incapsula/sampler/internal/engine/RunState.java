// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The phase of a sampler, and the one lock that guards the phase and everything that changes with it.
 *
 * <pre>
 *   NEW ──► STARTING ──► RUNNING ◄──► PAUSED      (through PAUSING and RESUMING)
 *              ▲            └────┬───────┘
 *              └── CLOSED ◄── CLOSING
 * </pre>
 *
 * <p>A phase that ends in -ING belongs to the thread that began it. That thread works without the lock; other threads
 * wait for the next phase.
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
    private @Nullable Engine updating; // a thread hands changed properties to this engine
    private boolean startRefused; // a call that ends the sampler no longer waits for the start
    private volatile @Nullable Engine engineAtExit; // stopped because the JVM exits, and kept for a last snapshot

    /**
     * Takes the lock as the first step of a call. If the call has held the lock before, use {@link #lockAgain()}.
     *
     * @throws StackOverflowError if a later step, or releasing the lock, might overflow the stack
     */
    void lock() {
        StackRoom.require();
        lock.lock();
    }

    /** Takes the lock to finish what began with {@link #lock()}: this must not fail. */
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

    /** Lock held. @return null if none exists */
    @Nullable
    Engine engine() {
        return engine;
    }

    /** Lock held. Enters an -ING phase, in which the calling thread works. */
    void begin(Phase work) {
        phase = work;
        worker = Thread.currentThread();
        startRefused = false;
    }

    /** Lock held. @return the thread that works in an -ING phase, or null */
    @Nullable
    Thread worker() {
        return worker;
    }

    /** Lock held, while STARTING: makes the start fail. */
    void refuseStart() {
        startRefused = true;
    }

    /** Lock held, before the end of a start. @throws IllegalStateException if the start has to fail */
    void requireWanted() {
        if (startRefused) {
            throw new IllegalStateException("close() was called before init() had ended");
        }
    }

    /** Makes the calling thread the worker of the -ING phase. Takes the lock itself. */
    void takeOver() {
        lock.lock();
        try {
            worker = Thread.currentThread();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the -ING phase, unless another thread has taken over from the calling thread. Takes the lock itself. */
    void reach(Phase reached) {
        lock.lock();
        try {
            if (worker == Thread.currentThread()) {
                phase = reached;
                worker = null;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lock held. Sets the engine that runs from now on; null if the last one is about to be destroyed. */
    void setEngine(@Nullable Engine next) {
        engine = next;
        changed.signalAll();
    }

    /** Lock held. Sets the engine that the JVM's exit stops, or null. */
    void setEngineAtExit(@Nullable Engine next) {
        engineAtExit = next;
    }

    /** @return true if the JVM's exit stops this engine, or has stopped it */
    boolean isStoppedByExit(Engine running) {
        return running == engineAtExit;
    }

    /**
     * Ignores the failure of an engine's call if the JVM's exit is its cause.
     *
     * @throws IllegalStateException the failure, if it has another cause
     */
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
     * @throws IllegalStateException if there is neither
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
     * Lock held. Waits until no thread starts, ends, pauses or updates the sampler. While the JVM exits, the wait is no
     * longer than the exit's own, so the phase may still be CLOSING afterwards.
     *
     * @throws IllegalStateException if the calling thread would wait for itself
     */
    void awaitStable(String call) {
        awaitStable(call, Long.MAX_VALUE);
    }

    /** As {@link #awaitStable(String)}, for a limited time. @return false if another thread still works at its end */
    boolean awaitStable(String call, long maxNanos) {
        if (isStable()) {
            return true;
        }
        if (worker == Thread.currentThread()) {
            throw ReportDispatcher.selfCall(call);
        }
        if (!await(() -> isStable() || engineAtExit != null, maxNanos)) {
            return false;
        }
        if (engineAtExit != null) {
            awaitAtExit(() -> phase.isStable());
        }
        return true;
    }

    private boolean isStable() {
        return phase.isStable() && !isUpdating();
    }

    /* An abandoned engine may be updated for ever, so it does not count. */
    private boolean isUpdating() {
        return updating != null && updating == engine;
    }

    /** Lock held. @return false if the engine's end has not waited for this update */
    boolean isUpdating(Engine updated) {
        return phase.isRunning() && updating == updated && engine == updated;
    }

    /** Waits until the JVM's exit has stopped this engine, or the exit's time is over. */
    void awaitStopAtExit(Engine stopping) {
        lock.lock();
        try {
            awaitAtExit(() -> engine != stopping);
        } finally {
            lock.unlock();
        }
    }

    /* The outputer may be stuck, so the wait is no longer than the exit's own wait for the last report. */
    private void awaitAtExit(BooleanSupplier done) {
        await(done, TimeUnit.MILLISECONDS.toNanos(ExitReport.longestMillis()));
    }

    /* Interrupts do not shorten the wait; the interrupt flag is set again afterwards. */
    private boolean await(BooleanSupplier done, long maxNanos) {
        boolean interrupted = Thread.interrupted();
        long left = maxNanos;
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
        return done.getAsBoolean();
    }

    /** Lock held. Waits until no other thread updates the engine. */
    void awaitUpdate() {
        while (isUpdating()) {
            changed.awaitUninterruptibly();
        }
    }

    /** Lock held. @return the engine that runs, which is not destroyed before the update's end */
    Engine beginUpdate() {
        Engine running = Objects.requireNonNull(engine, "a phase that runs has an engine");
        updating = running;
        return running;
    }

    /** Lock held. */
    void endUpdate(Engine updated) {
        if (updating == updated) {
            updating = null;
            changed.signalAll();
        }
    }

    /** Calls the engine, unless the JVM's exit stops it: that may happen between any two lines of the caller. */
    void callUnlessExiting(Engine running, Runnable call) {
        if (isStoppedByExit(running)) {
            return;
        }
        try {
            call.run();
        } catch (IllegalStateException stopped) {
            requireStoppedByExit(running, stopped);
        }
    }
}
