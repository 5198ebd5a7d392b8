// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.engine.Ending.Deadline;
import com.incapsula.sampler.internal.engine.RunState.Phase;
import com.incapsula.sampler.internal.loading.Platform;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A sampler's life: starts it, ends it, and passes calls to its engine meanwhile. {@link RunState} says which call may
 * come when.
 *
 * <p>Where sampling is not possible, the sampler goes through the same phases with an {@link InertEngine}.
 *
 * <p>Threads: any. The lock of {@link RunState} guards the fields. No thread holds it while it runs user code or waits
 * for the engine; a thread that does either first enters a phase of its own.
 */
public final class Lifecycle {

    private static final String STARTS = "gauge.starts";

    private final Engine.Source source;
    private final BooleanSupplier jvmExits;
    private final RunState state = new RunState();
    private final ReportDispatcher dispatcher = new ReportDispatcher();
    private final Options options = new Options(state, dispatcher, new HideCurrentThread());
    private final SnapshotReaders readers = new SnapshotReaders(state, dispatcher);

    private @Nullable ExitReport exitReport;
    private boolean closedByOther; // the sampler's starter closes it at the exit of the JVM
    private boolean closesLeftStart; // a close() did not wait for the start, so the start closes the outputer
    private RawStatistics lastStatistics = RawStatistics.NONE; // of the engine that was destroyed last
    private long starts;
    private volatile Engine.Source usedSource; // of the engine that runs, or ran last

    /** A sampler on the native core, which is loaded at {@link #init()}. */
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

    /** {@return the sampler's options} */
    public Options options() {
        return options;
    }

    /** {@return the readers of the sampler's intervals} */
    public SnapshotReaders readers() {
        return readers;
    }

    /** Sets the listener to this sampler's life. Called once, before anything else. */
    public void setListener(LifecycleListener listener) {
        dispatcher.setListener(listener);
    }

    // ---- start ----

    /**
     * Starts the sampler. A start that fails leaves nothing behind. Where sampling is neither possible nor
     * {@link Options#setRequired required}, the sampler starts on an {@link InertEngine}, with a warning. In a native
     * image, and if the JVM exits meanwhile, there is no warning.
     *
     * @throws IllegalStateException if it was started and not closed, or if a close() did not wait for this call
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

    /** @return a warning for the user, or null */
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
            warnIfHookWasRefused();
            return options.current().threads().isOver()
                    ? "threads-sampler does not sample: all chosen threads have ended"
                    : null;
        } finally {
            if (!started) {
                abandonStart(before);
            }
        }
    }

    /* Logs, so the lock must not be held. */
    private void warnIfHookWasRefused() {
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
            dispatcher.listener().ended();
            dispatcher.release();
            if (wasLeftByClose()) {
                closeOutputer(outputer);
            }
        } catch (IOException e) {
            LibraryLog.log(System.Logger.Level.WARNING, "a start that failed after close()", e);
        } finally {
            state.reach(before);
        }
    }

    /** @return true if a {@code close()} did not wait for this start */
    private boolean wasLeftByClose() {
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
            options.prepareStart();
            dispatcher.begin(Thread.currentThread().getContextClassLoader());
            state.begin(Phase.STARTING);
            state.setEngineAtExit(null);
            closesLeftStart = false;
            return before;
        } finally {
            state.unlock();
        }
    }

    /* The start failed because the JVM exits, which is not the application's fault. */
    private static final class JvmExits extends Exception {

        private static final long serialVersionUID = 1L;

        JvmExits(Throwable cause) {
            super("the JVM is exiting", cause);
        }
    }

    /** @return why the sampler has to be inert; null if it samples */
    private @Nullable Throwable tryToSample() {
        UnsupportedOperationException obstacle = findObstacle();
        if (obstacle == null) {
            dispatcher.manipulator().init();
            requireWanted();
            dispatcher.outputer().starting();
            requireWanted();
        }
        dispatcher.listener().starting();
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
            if (options.isRequired()
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
            if (options.isRequired()) {
                throw e;
            }
            return e;
        }
    }

    /** Creates and starts an engine with the current properties, then applies changes that came meanwhile. */
    private void launch(Engine.Source from) {
        OptionValues configuration = options.current();
        usedSource = from;
        ReportRun run = Objects.requireNonNull(dispatcher.run(), "a start has begun a run");
        Engine launched = from.create(configuration, run);
        try {
            if (configuration.threads().only()) {
                configuration.applyThreadsTo(launched);
            }
            int reader = launched.openReader();
            readers.keepWindowsIfOpen(launched);
            run.setEngine(launched);
            launched.start();
            for (OptionValues next = options.current();
                    !enterRunning(launched, reader, configuration);
                    next = options.current()) {
                next.applyTo(launched, configuration);
                configuration = next;
            }
            readers.followWindowsOfStart(launched);
            launched = null;
        } finally {
            if (launched != null) {
                launched.destroy();
            }
        }
    }

    /** @return false if properties have changed since the engine was configured */
    private boolean enterRunning(Engine launched, int reader, OptionValues configuration) {
        state.lock();
        try {
            state.requireWanted();
            if (!options.current().isSameAs(configuration)) {
                return false;
            }
            ExitReport installed = new ExitReport(new HideCurrentThread(), new FinishAtExit(), new LimitAtExit());
            closedByOther |= ExitOwner.isStarting();
            if (!closedByOther) {
                installed.install();
            }
            exitReport = installed;
            readers.setShared(launched, reader);
            options.setApplied(configuration);
            starts++;
            state.setEngine(launched);
            state.reach(Phase.RUNNING);
            return true;
        } finally {
            state.unlock();
        }
    }

    /* Classes instead of lambdas: the JVM would link the lambdas during the first start (ColdCallsIT). */

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
            long own = TimeUnit.SECONDS.toMillis(options.closeTimeoutSeconds());
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
     * Ends the sampler: takes the last sample, writes the last report, then closes the outputer. Does nothing before
     * {@link #init()} or after the end. Waits while another thread ends the sampler. Takes at most
     * closeTimeoutSeconds.
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

    /* The engine is stopped but not destroyed: other shutdown hooks may use the sampler meanwhile and afterwards.
     * Package-private for the test. */
    void finishAtExit() {
        try {
            finish("the exit of the JVM", true, true);
        } catch (IOException e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the outputer could not be closed", e);
        }
    }

    private void finish(String call, boolean mayCloseOutputer, boolean atExit) throws IOException {
        boolean closeOutputer = mayCloseOutputer && options.isCloseOutputer();
        Deadline deadline = new Deadline(atExit ? 0 : options.closeTimeoutSeconds());
        Engine ending = beginEnd(call, closeOutputer, atExit, deadline);
        if (ending == null) {
            return;
        }
        new Ending(this, call, ending, closeOutputer, atExit, deadline).finish();
    }

    /** @return the engine to stop, or null if there is none */
    private @Nullable Engine beginEnd(String call, boolean closeOutputer, boolean atExit, Deadline deadline) {
        dispatcher.refuseInCallback(call);
        boolean starts;
        Thread worker;
        state.lock();
        try {
            boolean isStable = state.awaitStable(call, deadline.leftNanos());
            Phase phase = state.phase();
            if (phase.isRunning()) { // a pause or a change that is under way is abandoned
                state.begin(Phase.CLOSING);
                state.setEngineAtExit(atExit ? state.engine() : null);
                return state.engine();
            }
            if (isStable) { // idle; or CLOSING, if the outputer is stuck while the JVM exits
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

    /** For {@link Ending}: forgets an engine that is about to be destroyed, and stores its last figures. */
    void discard(RawStatistics last) {
        ExitReport installed;
        state.lockAgain();
        try {
            lastStatistics = last;
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

    static void closeOutputer(SamplingOutputer outputer) throws IOException {
        try {
            outputer.close();
        } catch (Throwable t) {
            throw new IOException("the outputer could not be closed: " + t.getMessage(), t);
        }
    }

    RunState state() {
        return state;
    }

    ReportDispatcher dispatcher() {
        return dispatcher;
    }

    // ---- calls while it runs ----

    /**
     * Pauses the sampler: nothing is sampled until {@link #resume()}. Collected data is kept.
     *
     * @throws IllegalStateException before {@link #init()}, after the end, or from the outputer or the manipulator
     */
    public void pause() {
        change("pauseSampling()", Phase.PAUSING, Phase.PAUSED);
    }

    /** Ends a pause. @throws IllegalStateException as for {@link #pause()} */
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

    /** Writes a report now; returns when it is written. @throws IllegalStateException as for {@link #pause()} */
    public void printReport() {
        Engine running = beginCall("printReport()");
        state.callUnlessExiting(running, running::report);
    }

    /**
     * Resets the counted calls of the running interval, and their times, to zero.
     *
     * @throws IllegalStateException as for {@link #pause()}
     */
    public void resetCollectedResults() {
        Engine running = beginCall("resetCollectedResults()");
        state.callUnlessExiting(running, running::resetCounts);
    }

    private Engine beginCall(String call) {
        dispatcher.refuseInCallback(call);
        return state.runningEngine(call);
    }

    /**
     * Takes one sample of a paused or inactive sampler and writes a report.
     *
     * @throws IllegalStateException as for {@link #pause()}, and if the sampler is sampling
     */
    public void sampleOnceAndPrint() {
        String call = "sampleOnceAndPrint()";
        Engine running;
        dispatcher.refuseInCallback(call);
        state.lock();
        try {
            state.awaitStable(call);
            running = state.requireRunning(call);
            if (state.isStoppedByExit(running)) {
                return;
            }
            if (state.phase() != Phase.PAUSED && options.isActive()) {
                throw new IllegalStateException(call + " needs a sampler that is paused or not active");
            }
        } finally {
            state.unlock();
        }
        state.callUnlessExiting(running, running::sampleOnce);
    }

    // ---- status ----

    /** {@return true from the end of {@link #init()} to the end of the sampler, paused or not} */
    public boolean isRunning() {
        return phase().isRunning();
    }

    /** {@return true from {@link #pause()} to {@link #resume()}} */
    public boolean isPaused() {
        return phase() == Phase.PAUSED;
    }

    private Phase phase() {
        state.lock();
        try {
            return state.phase();
        } finally {
            state.unlock();
        }
    }

    /** {@return the engine's figures in the last tick; after the end, the last ones} */
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
            // the engine has ended since, and its last figures were stored before
        }
        state.lock();
        try {
            return starts == 0 ? lastStatistics : lastStatistics.with(STARTS, starts);
        } finally {
            state.unlock();
        }
    }

    /** {@return the engine's live state as text; if none runs, a text that says so} */
    public String dump() {
        Engine running;
        state.lock();
        try {
            running = state.engine();
        } finally {
            state.unlock();
        }
        try {
            if (running != null) {
                return running.dump();
            }
        } catch (IllegalStateException ended) {
            // the engine has ended since
        }
        return "threads-sampler, live state\nstate: not started, or closed\n";
    }

    // ---- internal threads ----

    /**
     * Excludes threads that are created in one group from now on from sampling. Loads the native library. If the
     * library cannot be used and is not required, nothing is excluded.
     *
     * @param group offered for that; held as long as a copy of the library is loaded
     * @return the group whose threads are excluded: the first that was offered in this JVM
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
