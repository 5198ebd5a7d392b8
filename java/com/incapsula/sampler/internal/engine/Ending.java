// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.engine.RunState.Phase;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.Collections;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One end of a sampler. It waits for the outputer, which may block for ever, so the work has a thread of its own. If
 * the work takes too long, the caller of {@code close()} abandons it and the sampler counts as closed; the thread ends
 * when the outputer returns.
 *
 * <p>Threads: the caller and the thread of the work.
 */
final class Ending implements Runnable {

    private final Lifecycle lifecycle;
    private final RunState state;
    private final ReportDispatcher dispatcher;
    private final String call;
    private final Engine engine;
    private final ReportRun run;
    private final boolean closesOutputer;
    private final boolean atExit;
    private final Deadline deadline;

    /* Guarded by this. */
    private boolean isStopped; // the engine's threads have ended
    private boolean isListenerTold;
    private boolean isOver;
    private boolean isAbandoned; // the caller no longer waits
    private @Nullable SamplingOutputer left; // to close after the abandoned work
    private @Nullable Throwable failure;

    Ending(Lifecycle lifecycle, String call, Engine engine, boolean closesOutputer, boolean atExit, Deadline deadline) {
        this.lifecycle = lifecycle;
        this.state = lifecycle.state();
        this.dispatcher = lifecycle.dispatcher();
        this.run = Objects.requireNonNull(dispatcher.run(), "a running sampler has begun a run");
        this.call = call;
        this.engine = engine;
        this.closesOutputer = closesOutputer;
        this.atExit = atExit;
        this.deadline = deadline;
    }

    /** Does the work, or abandons it at the deadline. */
    void finish() throws IOException {
        Thread worker = deadline.isNever() ? null : start();
        if (worker == null) {
            run();
        } else if (!InternalThreads.await(worker, deadline.leftNanos()) && abandon()) {
            new BlockedWarning(call + " went on after " + deadline + "; reports that wait are lost", run, worker)
                    .give(lifecycle);
            return;
        }
        rethrow();
    }

    /** @return null if no thread can be made, for lack of memory or because of a security manager */
    private @Nullable Thread start() {
        try {
            return InternalThreads.start(InternalThreads.hidden(lifecycle), "threads-sampler-close", this);
        } catch (RuntimeException | Error e) {
            return null;
        }
    }

    @Override
    public void run() {
        takeOver();
        Throwable failed = null;
        try {
            engine.stop();
        } catch (RuntimeException | Error e) {
            failed = e;
        }
        try {
            if (!stopped()) {
                endLate();
                return;
            }
            if (!atExit) {
                engine.destroy();
            }
            if (tellsListener()) {
                dispatcher.listener().ended();
            }
            if (closesOutputer) {
                Lifecycle.closeOutputer(dispatcher.outputer());
            }
        } catch (IOException | RuntimeException | Error e) {
            failed = e;
        } finally {
            over(failed);
        }
    }

    private synchronized void takeOver() {
        if (!isAbandoned) {
            state.takeOver();
        }
    }

    /** @return false if the caller has abandoned this work, so the sampler may run again */
    private synchronized boolean stopped() {
        if (!isAbandoned) {
            isStopped = true;
            lifecycle.discard(lastStatistics());
        }
        return isStopped;
    }

    /* The engine is not destroyed yet. */
    private RawStatistics lastStatistics() {
        try {
            return engine.statistics();
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the last statistics are lost", e);
            return RawStatistics.NONE;
        }
    }

    /** @return true once: later the listener may serve the next run */
    private synchronized boolean tellsListener() {
        boolean tells = !isListenerTold;
        isListenerTold = true;
        return tells;
    }

    private synchronized void over(@Nullable Throwable failed) {
        failure = failed;
        if (!isAbandoned) {
            isOver = true;
            state.reach(Phase.CLOSED);
        }
    }

    /** @return false if the work is over by now */
    private boolean abandon() {
        boolean tells;
        synchronized (this) {
            if (isOver) {
                return false;
            }
            isAbandoned = true;
            state.takeOver();
            left = closesOutputer ? dispatcher.outputer() : null;
            tells = tellsListener();
            if (!isStopped) {
                run.abandon();
                lifecycle.discard(lastStatistics().withoutWaiting());
            }
        }
        try {
            if (tells) {
                dispatcher.listener().ended();
            }
        } finally {
            state.reach(Phase.CLOSED);
        }
        return true;
    }

    /* The blocked call has returned, so nothing uses the engine any more. */
    private void endLate() {
        try {
            engine.destroy();
            SamplingOutputer outputer = leftOutputer();
            if (outputer != null && !isUsedAgain(outputer)) {
                Lifecycle.closeOutputer(outputer);
            }
        } catch (IOException | RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the end of a sampler failed, after " + call, e);
        }
    }

    private synchronized @Nullable SamplingOutputer leftOutputer() {
        return left;
    }

    private boolean isUsedAgain(SamplingOutputer outputer) {
        state.lockAgain();
        try {
            return !state.phase().isIdle()
                    && !Collections.disjoint(OutputerParts.of(outputer), OutputerParts.of(dispatcher.outputer()));
        } finally {
            state.unlock();
        }
    }

    private synchronized void rethrow() throws IOException {
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
        if (failure instanceof Error e) {
            throw e;
        }
    }

    /** When a call that ends the sampler no longer waits. */
    static final class Deadline {

        private final long seconds; // 0: never
        private final long begunNanos = System.nanoTime();

        Deadline(long seconds) {
            this.seconds = seconds;
        }

        boolean isNever() {
            return seconds == 0;
        }

        long leftNanos() {
            long left = TimeUnit.SECONDS.toNanos(seconds) - (System.nanoTime() - begunNanos);
            return isNever() ? Long.MAX_VALUE : Math.max(left, 0);
        }

        @Override
        public String toString() {
            return "closeTimeoutSeconds=" + seconds;
        }
    }
}
