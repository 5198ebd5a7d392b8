// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.engine.RunState.Phase;
import com.incapsula.sampler.internal.loading.Platform;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.Collections;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Starts, pauses and ends a sampler: those calls of the bean that change its phase, in the order that {@link RunState} allows.
 *
 * <p>Where sampling is not possible the sampler goes through the same phases with an {@link InertEngine}.
 *
 * <p>Threads: any. The lock of {@link RunState} guards the fields. No thread holds it while it runs user code or waits
 * for the engine: such work is done in a phase that belongs to the thread that does it.
 */
public final class Lifecycle {

    private final Engine.Source source;
    private final BooleanSupplier jvmExits;
    private final RunState state = new RunState();
    private final ReportDispatcher dispatcher = new ReportDispatcher();
    private final EngineUpdater updater = new EngineUpdater(state, dispatcher, new HideCurrentThread());
    private final SamplerProperties properties = new SamplerProperties(state, dispatcher, updater);
    private final SnapshotReaders readers = new SnapshotReaders(state, dispatcher);
    private final LiveState liveState = new LiveState(state);
    private final OnDemand onDemand = new OnDemand(state, dispatcher, properties);

    private @Nullable ExitReport exitReport;
    private boolean closedByOther; // at the exit of the JVM
    private boolean closesLeftStart; // with the lock: close() has gone on without the start
    private volatile Engine.Source usedSource; // of the engine that runs, or ran last

    /** The lifecycle of a sampler on the native core, which is loaded at {@link #init()}. */
    public Lifecycle() {
        this(new NativeHandle.Source());
    }

    Lifecycle(Engine.Source source) {
        this(source, new JvmExit());
    }

    /** @param jvmExits whether the JVM has begun to exit */
    Lifecycle(Engine.Source source, BooleanSupplier jvmExits) {
        this.source = source;
        this.usedSource = source;
        this.jvmExits = jvmExits;
    }

    /**
     * The sampler's properties.
     *
     * @return the same object for each call
     */
    public SamplerProperties properties() {
        return properties;
    }

    /**
     * The readers of the sampler's intervals.
     *
     * @return the same object for each call
     */
    public SnapshotReaders readers() {
        return readers;
    }

    /**
     * What the sampler has counted, and what it does now.
     *
     * @return the same object for each call
     */
    public LiveState liveState() {
        return liveState;
    }

    /**
     * What a running sampler does on demand.
     *
     * @return the same object for each call
     */
    public OnDemand onDemand() {
        return onDemand;
    }

    /**
     * Sets the observer of this sampler's life. Called once, before anything else.
     *
     * @param observer the observer
     */
    public void setObserver(Observer observer) {
        dispatcher.setObserver(observer);
    }

    // ---- start ----

    /**
     * Starts the sampler. A start that fails leaves nothing behind. Where sampling is not possible and not
     * {@link SamplerProperties#setRequired required}, the sampler is started on an {@link InertEngine}, with a warning;
     * where the JVM exits meanwhile, and in a native image, without one.
     *
     * @throws IllegalStateException if it was started and not closed, or if an end has waited for it in vain
     * @throws IllegalArgumentException if the properties do not go together
     * @throws UnsupportedOperationException if sampling is required and not possible here
     */
    public void init() {
        boolean interrupted = Thread.interrupted();
        try {
            String warning = start();
            if (warning != null) {
                dispatcher.warn(warning);
            }
        } finally {
            restoreInterrupt(interrupted);
        }
    }

    /** @return the user's warning, or null */
    private @Nullable String start() {
        Phase before = beginStart();
        boolean started = false;
        try {
            Throwable obstacle = tryToSample();
            if (obstacle != null) {
                launch(new InertEngine.Source(String.valueOf(obstacle.getMessage())));
            }
            started = true;
            if (obstacle != null) {
                return obstacle instanceof JvmExits || Platform.isNativeImage()
                        ? null
                        : "threads-sampler does not sample: " + obstacle.getMessage();
            }
            warnIfTheExitIsNotSeen();
            return properties.config().threads().isOver()
                    ? "threads-sampler does not sample: all chosen threads have ended"
                    : null;
        } finally {
            if (!started) {
                abandonStart(before);
            }
        }
    }

    /* Without the lock, as it may log. */
    private void warnIfTheExitIsNotSeen() {
        ExitReport installed;
        state.lockAgain();
        try {
            installed = exitReport;
        } finally {
            state.unlock();
        }
        SecurityException refusal = installed == null ? null : installed.refusal();
        if (refusal != null) {
            LibraryLog.log(
                    System.Logger.Level.WARNING,
                    "a JVM that exits without close() will write no last report: " + refusal.getMessage(),
                    null);
        }
    }

    private void abandonStart(Phase before) {
        try {
            SamplingOutputer outputer = dispatcher.outputer();
            dispatcher.observer().ended();
            dispatcher.release();
            if (isLeftToClose()) {
                closeOutputer(outputer);
            }
        } catch (IOException e) {
            LibraryLog.log(System.Logger.Level.WARNING, "a start that failed after close()", e);
        } finally {
            state.reach(before);
        }
    }

    /** @return true: a {@code close()} has gone on without this start */
    private boolean isLeftToClose() {
        state.lock();
        try {
            return closesLeftStart;
        } finally {
            state.unlock();
        }
    }

    private void requireWanted() {
        state.lock();
        try {
            state.requireWanted();
        } finally {
            state.unlock();
        }
    }

    private Phase beginStart() {
        state.lock();
        try {
            Phase before = state.phase();
            if (!before.isIdle()) {
                throw new IllegalStateException("init() was called already; close() has to come first");
            }
            properties.prepareStart();
            dispatcher.begin(Thread.currentThread().getContextClassLoader());
            state.begin(Phase.STARTING);
            state.setEngineAtExit(null);
            closesLeftStart = false;
            return before;
        } finally {
            state.unlock();
        }
    }

    /* A start that fails because the JVM exits is no failure of the application's. */
    private static final class JvmExits extends Exception {

        private static final long serialVersionUID = 1L;

        JvmExits(Throwable cause) {
            super("the JVM is exiting", cause);
        }
    }

    /** @return why the sampler has to be inert, or null: it samples */
    private @Nullable Throwable tryToSample() {
        UnsupportedOperationException obstacle = findObstacle();
        if (obstacle == null) {
            dispatcher.manipulator().init();
            requireWanted();
            dispatcher.outputer().starting();
            requireWanted();
        }
        dispatcher.observer().starting();
        if (obstacle != null) {
            return obstacle;
        }
        try {
            launch(source);
            return null;
        } catch (RuntimeException | Error e) {
            if (jvmExits.getAsBoolean()) {
                return new JvmExits(e);
            }
            if (properties.isRequired()
                    || !(e instanceof UnsupportedOperationException || e instanceof OutOfMemoryError)) {
                throw e;
            }
            return e;
        }
    }

    private @Nullable UnsupportedOperationException findObstacle() {
        try {
            source.require();
            return null;
        } catch (UnsupportedOperationException e) {
            if (properties.isRequired()) {
                throw e;
            }
            return e;
        }
    }

    /** Creates and starts an engine with the properties of now, then applies what was set meanwhile. */
    private void launch(Engine.Source from) {
        EngineConfig config = properties.config();
        usedSource = from;
        ReportRun run = Objects.requireNonNull(dispatcher.run(), "a start has begun a run");
        Engine launched = from.create(config.options(), run);
        try {
            if (config.threads().only()) {
                config.applyThreads(launched);
            }
            int reader = launched.openReader();
            readers.keepWindowsIfOpen(launched);
            run.setEngine(launched);
            launched.start();
            for (EngineConfig next = properties.config();
                    !enterRunning(launched, reader, config);
                    next = properties.config()) {
                next.apply(launched, config);
                config = next;
            }
            readers.keepWindowsIfOpen(launched);
            launched = null;
        } finally {
            if (launched != null) {
                launched.destroy();
            }
        }
    }

    /** @return false: properties have changed since the engine was configured */
    private boolean enterRunning(Engine launched, int reader, EngineConfig config) {
        state.lock();
        try {
            state.requireWanted();
            if (!properties.config().isSameAs(config)) {
                return false;
            }
            ExitReport installed = new ExitReport(new HideCurrentThread(), new FinishAtExit(), new LimitAtExit());
            closedByOther |= ExitOwner.isStarting();
            if (!closedByOther) {
                installed.install();
            }
            exitReport = installed;
            readers.setShared(launched, reader);
            updater.setApplied(config);
            liveState.countStart();
            state.setEngine(launched);
            state.reach(Phase.RUNNING);
            return true;
        } finally {
            state.unlock();
        }
    }

    /* Classes, not lambdas: each start would link those (ColdCallsIT). */

    private static final class JvmExit implements BooleanSupplier {

        @Override
        public boolean getAsBoolean() {
            return ExitReport.isExiting();
        }
    }

    private final class HideCurrentThread implements Runnable {

        @Override
        public void run() {
            usedSource.hideCurrentThread();
        }
    }

    private final class LimitAtExit implements ExitReport.Limit {

        @Override
        public long millis() {
            long own = TimeUnit.SECONDS.toMillis(properties.closeTimeoutSeconds());
            return own == 0 ? ExitReport.longestMillis() : Math.min(own, ExitReport.longestMillis());
        }

        @Override
        public void exceeded() {
            ReportRun run = dispatcher.run();
            new BlockedWarning("the JVM exits without the last report", run, null).give(Lifecycle.this);
        }
    }

    private final class FinishAtExit implements Runnable {

        @Override
        public void run() {
            finishAtExit();
        }
    }

    // ---- end ----

    /**
     * Ends the sampler: last sample, last report, then the outputer is closed. Does nothing before {@link #init()} or
     * after the end; waits while another thread ends the sampler; all that for closeTimeoutSeconds at most.
     *
     * @throws IOException if the outputer cannot be closed; everything else is done nevertheless
     * @throws IllegalStateException if called from the outputer or the manipulator
     */
    public void close() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            finish("close()", true, false);
        } finally {
            restoreInterrupt(interrupted);
        }
    }

    /**
     * As {@link #close()}, but the outputer is left open.
     *
     * @throws IllegalStateException if called from the outputer or the manipulator
     */
    public void shutdown() {
        boolean interrupted = Thread.interrupted();
        try {
            finish("shutdown()", false, false);
        } catch (IOException e) {
            throw new IllegalStateException("the outputer was closed by shutdown()", e);
        } finally {
            restoreInterrupt(interrupted);
        }
    }

    /* Other shutdown hooks may use the sampler meanwhile and afterwards: the engine is stopped and not destroyed.
     * Package-private for the test. */
    void finishAtExit() {
        try {
            finish("the exit of the JVM", true, true);
        } catch (IOException e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the outputer could not be closed", e);
        }
    }

    private void finish(String call, boolean mayCloseOutputer, boolean atExit) throws IOException {
        boolean closeOutputer = mayCloseOutputer && properties.isCloseOutputer();
        Deadline deadline = new Deadline(atExit ? 0 : properties.closeTimeoutSeconds());
        Engine ending = beginEnd(call, closeOutputer, atExit, deadline);
        if (ending == null) {
            return;
        }
        new Ending(call, ending, closeOutputer, atExit, deadline).finish();
    }

    /** When a call that ends the sampler goes on without what it waits for. */
    private static final class Deadline {

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

    /** @return the engine to be stopped, or null where there is none */
    private @Nullable Engine beginEnd(String call, boolean closeOutputer, boolean atExit, Deadline deadline) {
        dispatcher.refuseInCallback(call);
        boolean starts;
        Thread worker;
        state.lock();
        try {
            boolean isStable = state.awaitStable(call, deadline.leftNanos());
            Phase phase = state.phase();
            if (phase.isRunning()) { // perhaps in the middle of a pause or a change, which is left behind
                state.begin(Phase.CLOSING);
                state.setEngineAtExit(atExit ? state.engine() : null);
                return state.engine();
            }
            if (isStable) { // idle; or CLOSING, at the exit, with an outputer that is stuck
                return null;
            }
            starts = phase == Phase.STARTING;
            if (starts) {
                state.refuseStart();
                closesLeftStart = closeOutputer;
            }
            worker = state.worker();
        } finally {
            state.unlock();
        }
        String what = starts ? "init() has not ended, and will fail" : "another call ends the sampler";
        new BlockedWarning(call + " went on after " + deadline + "; " + what, dispatcher.run(), worker).give(this);
        return null;
    }

    /**
     * The work of an end. It waits for the outputer, which may block for ever, so it has a thread of its own; where it
     * takes too long, the caller of {@code close()} goes on, and the sampler is closed. The work then ends when the
     * outputer does.
     */
    private final class Ending implements Runnable {

        private final String call;
        private final Engine engine;
        private final ReportRun run = Objects.requireNonNull(dispatcher.run(), "what runs has begun a run");
        private final boolean closesOutputer;
        private final boolean atExit;
        private final Deadline deadline;

        /* Guarded by this. */
        private boolean isStopped; // the engine's threads have ended
        private boolean isObserverTold;
        private boolean isOver;
        private boolean isAbandoned; // the caller has gone on, and left
        private @Nullable SamplingOutputer left; // this one to be closed
        private @Nullable Throwable failure;

        Ending(String call, Engine engine, boolean closesOutputer, boolean atExit, Deadline deadline) {
            this.call = call;
            this.engine = engine;
            this.closesOutputer = closesOutputer;
            this.atExit = atExit;
            this.deadline = deadline;
        }

        /** Does all, or goes on without it. */
        void finish() throws IOException {
            Thread worker = deadline.isNever() ? null : start();
            if (worker == null) {
                run();
            } else if (!TimedWork.await(worker, deadline.leftNanos()) && abandon()) {
                new BlockedWarning(call + " went on after " + deadline + "; reports that wait are lost", run, worker)
                        .give(Lifecycle.this);
                return;
            }
            rethrow();
        }

        /** @return null: there can be no thread, for lack of memory or by a security manager */
        private @Nullable Thread start() {
            try {
                return TimedWork.start(InternalThreads.hidden(Lifecycle.this), "threads-sampler-close", this);
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
                if (tellsObserver()) {
                    dispatcher.observer().ended();
                }
                if (closesOutputer) {
                    closeOutputer(dispatcher.outputer());
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

        /** @return false: the caller has gone on, and the sampler may run again */
        private synchronized boolean stopped() {
            if (!isAbandoned) {
                isStopped = true;
                discard(LiveState.lastOf(engine));
            }
            return isStopped;
        }

        /** @return once: later the observer may be that of the next run */
        private synchronized boolean tellsObserver() {
            boolean tells = !isObserverTold;
            isObserverTold = true;
            return tells;
        }

        private synchronized void over(@Nullable Throwable failed) {
            failure = failed;
            if (!isAbandoned) {
                isOver = true;
                state.reach(Phase.CLOSED);
            }
        }

        /** @return false: it is over by now */
        private boolean abandon() {
            boolean tells;
            synchronized (this) {
                if (isOver) {
                    return false;
                }
                isAbandoned = true;
                state.takeOver();
                left = closesOutputer ? dispatcher.outputer() : null;
                tells = tellsObserver();
                if (!isStopped) {
                    run.abandon();
                    discard(LiveState.lastOf(engine).withoutWaiting());
                }
            }
            try {
                if (tells) {
                    dispatcher.observer().ended();
                }
            } finally {
                state.reach(Phase.CLOSED);
            }
            return true;
        }

        /* What was blocked has ended. Nothing of the engine is used any more. */
        private void endLate() {
            try {
                engine.destroy();
                SamplingOutputer outputer = leftOutputer();
                if (outputer != null && !isUsedAgain(outputer)) {
                    closeOutputer(outputer);
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
    }

    private void discard(RawStatistics last) {
        ExitReport installed;
        state.lockAgain();
        try {
            liveState.setLast(last);
            installed = exitReport;
            exitReport = null;
            state.setEngine(null);
        } finally {
            state.unlock();
        }
        if (installed != null) {
            installed.remove();
        }
        dispatcher.release();
    }

    private static void closeOutputer(SamplingOutputer outputer) throws IOException {
        try {
            outputer.close();
        } catch (Throwable t) {
            throw new IOException("the outputer could not be closed: " + t.getMessage(), t);
        }
    }

    // ---- while it runs ----

    /**
     * Stops the time: nothing is sampled until {@link #resume()}. What was collected is kept.
     *
     * @throws IllegalStateException before {@link #init()}, after the end, or from the outputer or the manipulator
     */
    public void pause() {
        change("pauseSampling()", Phase.PAUSING, Phase.PAUSED);
    }

    /**
     * Undoes {@link #pause()}.
     *
     * @throws IllegalStateException as for {@link #pause()}
     */
    public void resume() {
        change("resumeSampling()", Phase.RESUMING, Phase.RUNNING);
    }

    private void change(String call, Phase via, Phase to) {
        dispatcher.refuseInCallback(call);
        Engine running;
        Phase from;
        state.lock();
        try {
            state.awaitStable(call);
            from = state.phase();
            running = state.requireRunning(call);
            if (from == to || state.isStoppedByExit(running)) {
                return;
            }
            state.begin(via);
        } finally {
            state.unlock();
        }
        Phase reached = from;
        try {
            if (to == Phase.PAUSED) {
                running.pause();
            } else {
                running.resume();
            }
            reached = to;
        } finally {
            state.reach(reached);
        }
    }

    /**
     * Keeps threads that are created in one group from now on out of the samples. Loads the native library; hides nothing
     * where that cannot be used and is not required.
     *
     * @param group taken if no copy of the library in this JVM has such a group yet, and held for as long as one of them
     *     is loaded
     * @return the group that is hidden
     */
    public ThreadGroup hide(ThreadGroup group) {
        return findObstacle() == null ? source.hide(group) : group;
    }

    private static void restoreInterrupt(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
