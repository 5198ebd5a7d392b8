// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a sampler: the values of the core's options, the chosen threads, and some that only Java needs.
 *
 * <p>A setter of a running sampler hands the change to the engine before it returns. If the engine refuses the change,
 * the property keeps its old value. The engine takes changes between two ticks, and a caller that changes the threads
 * waits for the end of the tick. The tick may wait for a callback, so a change that a callback makes is applied by a
 * thread of its own.
 *
 * <p>Threads: any; one thread at a time talks to the engine. The lock of {@link RunState} guards the fields. No thread
 * holds it during calls of the engine or of user code.
 */
public final class Options {

    private static final long MAX_CLOSE_TIMEOUT_SECONDS = 86_400;

    private final RunState state;
    private final ReportDispatcher dispatcher;
    private final Runnable hideCurrentThread;
    private OptionValues values = new OptionValues();
    private boolean standardOutputer = true;
    private volatile boolean required;
    private volatile boolean closeOutputer = true;
    private volatile long closeTimeoutSeconds = 60;

    @SuppressWarnings("NullAway.Init") // set when an engine starts, before there is anything to apply
    private OptionValues applied; // the configuration of the running engine

    private boolean threadStarting; // a thread for changes by callbacks was made and has not begun yet

    /** @param hideCurrentThread makes the calling thread an internal one */
    Options(RunState state, ReportDispatcher dispatcher, Runnable hideCurrentThread) {
        this.state = state;
        this.dispatcher = dispatcher;
        this.hideCurrentThread = hideCurrentThread;
    }

    // ---- properties of Java ----

    /**
     * Sets what {@link Lifecycle#init()} does where sampling is not possible. Takes effect with the next start.
     *
     * @param required true: it throws; false: it warns, and nothing is sampled
     */
    public void setRequired(boolean required) {
        this.required = required;
    }

    /** {@return whether {@link Lifecycle#init()} throws where sampling is not possible} */
    public boolean isRequired() {
        return required;
    }

    /**
     * Sets whether the end of the sampler closes the outputer. Takes effect at once.
     *
     * @param closeOutputer false: the outputer's owner closes it
     */
    public void setCloseOutputer(boolean closeOutputer) {
        this.closeOutputer = closeOutputer;
    }

    /** {@return whether the end of the sampler closes the outputer} */
    public boolean isCloseOutputer() {
        return closeOutputer;
    }

    /**
     * Limits how long the end of the sampler may take. Takes effect with the next end.
     *
     * @param seconds 0: no limit
     * @throws IllegalArgumentException if it is out of range
     */
    public void setCloseTimeoutSeconds(long seconds) {
        closeTimeoutSeconds = Values.between("closeTimeoutSeconds", seconds, 0, MAX_CLOSE_TIMEOUT_SECONDS);
    }

    /** {@return how long the end of the sampler may take, in seconds; 0: no limit} */
    public long closeTimeoutSeconds() {
        return closeTimeoutSeconds;
    }

    /**
     * Changes a property that is stored elsewhere and fixed while the sampler runs.
     *
     * @param name the property's name, for messages
     * @param change stores the value; runs under the lock, so it has to be fast
     * @throws IllegalStateException while the sampler runs
     */
    public void changeWhileIdle(String name, Runnable change) {
        state.lock();
        try {
            state.requireIdle(name);
            change.run();
        } finally {
            state.unlock();
        }
    }

    // ---- options of the core ----

    /**
     * Sets an option. While the sampler runs, the change takes effect with the next tick.
     *
     * @param value its value, of the type of its default
     * @throws IllegalArgumentException if the value is out of range
     * @throws IllegalStateException if the option is fixed and the sampler runs
     */
    public void set(Option option, @Nullable Object value) {
        OptionValues before;
        OptionValues changed;
        state.lock();
        try {
            before = values;
            changed = before.with(option, value);
            if (option.fixed()) {
                state.requireIdle(option.text());
            }
            if (state.phase().isIdle()) {
                values = changed; // the next start takes it
                return;
            }
            changed.checkTogether();
            values = changed;
        } finally {
            state.unlock();
        }
        applyOrUndo(() -> {
            if (values.get(option).equals(changed.get(option))) {
                values = values.with(option, before.get(option));
            }
        });
    }

    /** {@return the value of an option that is a number} */
    public long number(Option option) {
        return (Long) get(option);
    }

    /** {@return the value of an option that is a flag} */
    public boolean flag(Option option) {
        return (Boolean) get(option);
    }

    /** {@return the value of an option that is a text or a choice} */
    public String text(Option option) {
        return (String) get(option);
    }

    Object get(Option option) {
        state.lock();
        try {
            return values.get(option);
        } finally {
            state.unlock();
        }
    }

    // ---- threads ----

    /** Adds a thread to the chosen ones. Messages have the property's name. */
    public void chooseOne(String property, Thread chosen) {
        ThreadFilter.check(property, chosen);
        add(property, List.of(chosen));
    }

    /**
     * Adds threads to the chosen ones. If threads are chosen, only those are sampled.
     *
     * @param property the property's name, for messages
     * @param chosen the threads; an empty list: all threads are sampled again
     */
    public void choose(String property, List<Thread> chosen) {
        List<Thread> added = new ArrayList<>(Values.notNull(property, chosen));
        for (int i = 0; i < added.size(); i++) {
            ThreadFilter.check(property + "[" + i + "]", added.get(i));
        }
        add(property, added);
    }

    private void add(String property, List<Thread> added) {
        ThreadFilter before;
        ThreadFilter changed;
        boolean isIdle;
        state.lock();
        try {
            before = values.threads();
            changed = added.isEmpty() ? ThreadFilter.ALL : before.and(added);
            values = values.with(changed);
            isIdle = state.phase().isIdle();
        } finally {
            state.unlock();
        }
        if (!isIdle) {
            applyOrUndo(() -> {
                if (values.threads() == changed) {
                    values = values.with(before);
                }
            });
        }
        for (Thread thread : added) {
            if (ThreadFilter.hasEnded(thread)) {
                LibraryLog.log(
                        System.Logger.Level.WARNING,
                        property + ": thread \"" + thread.getName() + "\" has ended, so it is not sampled",
                        null);
            }
        }
    }

    /** {@return the chosen threads that have not ended; empty also if all threads are sampled} */
    public List<Thread> chosen() {
        state.lock();
        try {
            return values.threads().alive();
        } finally {
            state.unlock();
        }
    }

    // ---- user code ----

    /**
     * Sets where reports go. Takes effect with the next report. While the sampler runs, the outputer's
     * {@code starting()} is called first.
     */
    public void setOutputer(SamplingOutputer outputer) {
        Values.notNull("samplingOutputer", outputer);
        if (!replaceOutputer(outputer, false)) {
            if (!state.isInert()) {
                outputer.starting();
            }
            replaceOutputer(outputer, true);
        }
    }

    /** @return false: the sampler runs, so the outputer has to be started first */
    private boolean replaceOutputer(SamplingOutputer outputer, boolean started) {
        state.lock();
        try {
            if (!state.phase().isIdle() && !started) {
                return false;
            }
            standardOutputer = false;
            dispatcher.setOutputer(outputer);
            return true;
        } finally {
            state.unlock();
        }
    }

    /** {@return the destination of reports} */
    public SamplingOutputer outputer() {
        return dispatcher.outputer();
    }

    /**
     * Sets how threads are grouped. Takes effect with the next tick. While the sampler runs, the manipulator's
     * {@code init()} is called first.
     */
    public void setManipulator(ThreadNameManipulator manipulator) {
        Values.notNull("threadNameManipulator", manipulator);
        if (!replaceManipulator(manipulator, false)) {
            if (!state.isInert()) {
                manipulator.init();
            }
            replaceManipulator(manipulator, true);
        }
    }

    /** @return false: the sampler runs, so the manipulator has to be initialised first */
    private boolean replaceManipulator(ThreadNameManipulator manipulator, boolean initialised) {
        ThreadNameManipulator before;
        state.lock();
        try {
            if (!state.phase().isIdle() && !initialised) {
                return false;
            }
            before = dispatcher.manipulator();
            dispatcher.setManipulator(manipulator);
            if (state.phase().isIdle()) {
                return true;
            }
        } finally {
            state.unlock();
        }
        applyOrUndo(() -> {
            if (dispatcher.manipulator() == manipulator) {
                dispatcher.setManipulator(before);
            }
        });
        return true;
    }

    /** {@return how threads are grouped} */
    public ThreadNameManipulator manipulator() {
        return dispatcher.manipulator();
    }

    // ---- for the lifecycle ----

    /** Prepares a start. Lock held. @throws IllegalArgumentException if the properties do not go together */
    void prepareStart() {
        values.checkTogether();
        if (standardOutputer) {
            dispatcher.setOutputer(new PrintStreamSamplingOutputer());
        }
    }

    /** Lock held. */
    boolean isActive() {
        return (Boolean) values.get(Option.ACTIVE);
    }

    /** @return the configuration for an engine now, with the derived options */
    OptionValues current() {
        state.lock();
        try {
            return values.with(Option.DEFAULT_THREAD_NAME_RULE, isStandard(dispatcher.manipulator()))
                    .with(Option.MAIN_PACKAGES, MainPackages.get());
        } finally {
            state.unlock();
        }
    }

    private static boolean isStandard(ThreadNameManipulator rule) {
        return rule.getClass() == RegexThreadNameManipulator.class
                && ((RegexThreadNameManipulator) rule)
                        .getThreadNameRemovalPatterns()
                        .equals(new RegexThreadNameManipulator().getThreadNameRemovalPatterns());
    }

    // ---- changes of a running engine ----

    /** Lock held. Sets the configuration with which the engine that runs from now on was started. */
    void setApplied(OptionValues configuration) {
        applied = configuration;
    }

    /**
     * Hands changed properties to the engine, if one runs. In a callback, a thread of its own does that.
     *
     * @param undo runs under the lock if the engine refuses the change
     */
    private void applyOrUndo(Runnable undo) {
        if (dispatcher.isInCallback()) {
            applyOnOwnThread();
            return;
        }
        try {
            apply();
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

    private void applyOnOwnThread() {
        state.lock();
        try {
            if (threadStarting || !state.phase().isRunning() || current().isSameAs(applied)) {
                return;
            }
            threadStarting = true;
        } finally {
            state.unlock();
        }
        Thread thread = new Thread(null, this::runOwnThread, "threads-sampler-settings", 0, false);
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

    private void runOwnThread() {
        try {
            endThreadStarting(); // first: a change from now on starts another thread
            hideCurrentThread.run();
            apply();
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "changed properties could not be applied", e);
        }
    }

    private void apply() {
        for (Update next = beginUpdate(); next != null; next = beginUpdate()) {
            OptionValues reached = applied;
            try {
                next.configuration.applyTo(next.engine, applied);
                reached = next.configuration;
            } catch (IllegalStateException e) {
                if (isApplying(next.engine)) {
                    throw e;
                }
            } finally {
                endUpdate(next.engine, reached);
            }
        }
    }

    private record Update(Engine engine, OptionValues configuration) {}

    /** @return null if no engine runs, or it has the current configuration */
    private @Nullable Update beginUpdate() {
        state.lock();
        try {
            state.awaitUpdate();
            OptionValues next = current();
            if (!state.phase().isRunning() || next.isSameAs(applied)) {
                return null;
            }
            return new Update(state.beginUpdate(), next);
        } finally {
            state.unlock();
        }
    }

    /** @return false if the engine's end has not waited for this update */
    private boolean isApplying(Engine engine) {
        state.lockAgain();
        try {
            return state.isUpdating(engine);
        } finally {
            state.unlock();
        }
    }

    private void endUpdate(Engine engine, OptionValues reached) {
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
