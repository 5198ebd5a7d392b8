// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a sampler. A running sampler's engine is brought up to date before a setter returns; where the
 * engine refuses the new value, the property keeps the old one.
 *
 * <p>Threads: any. The lock of {@link RunState} guards the fields; it is not held while user code runs.
 */
public final class SamplerProperties {

    private static final long MAX_CLOSE_TIMEOUT_SECONDS = 86_400;

    private final RunState state;
    private final ReportDispatcher dispatcher;
    private final EngineUpdater updater;
    private Settings settings = new Settings();
    private ThreadFilter threads = ThreadFilter.ALL;
    private boolean standardOutputer = true;
    private volatile boolean required;
    private volatile boolean closeOutputer = true;
    private volatile long closeTimeoutSeconds = 60;

    SamplerProperties(RunState state, ReportDispatcher dispatcher, EngineUpdater updater) {
        this.state = state;
        this.dispatcher = dispatcher;
        this.updater = updater;
    }

    /**
     * Sets what {@link Lifecycle#init()} does where sampling is not possible; takes effect with the next one.
     *
     * @param required true: it throws; false: it warns, and nothing is sampled
     */
    public void setRequired(boolean required) {
        this.required = required;
    }

    /**
     * Whether {@link Lifecycle#init()} throws where sampling is not possible.
     *
     * @return true if it does
     */
    public boolean isRequired() {
        return required;
    }

    /**
     * Sets whether the end of the sampler closes the outputer; takes effect at once.
     *
     * @param closeOutputer false: its owner closes it
     */
    public void setCloseOutputer(boolean closeOutputer) {
        this.closeOutputer = closeOutputer;
    }

    /**
     * Whether the end of the sampler closes the outputer.
     *
     * @return true if it does
     */
    public boolean isCloseOutputer() {
        return closeOutputer;
    }

    /**
     * Sets how long the end of the sampler may take; takes effect with the next one.
     *
     * @param seconds 0: without a limit
     * @throws IllegalArgumentException if it is out of range
     */
    public void setCloseTimeoutSeconds(long seconds) {
        if (seconds < 0 || seconds > MAX_CLOSE_TIMEOUT_SECONDS) {
            throw new IllegalArgumentException(
                    "closeTimeoutSeconds must be between 0 and " + MAX_CLOSE_TIMEOUT_SECONDS + ", got " + seconds);
        }
        closeTimeoutSeconds = seconds;
    }

    /**
     * How long the end of the sampler may take.
     *
     * @return seconds; 0: without a limit
     */
    public long closeTimeoutSeconds() {
        return closeTimeoutSeconds;
    }

    /**
     * Sets a property; while the sampler runs this takes effect with the next tick.
     *
     * @param property which
     * @param value its value, of the type of its default
     * @throws IllegalArgumentException if the value is out of range
     * @throws IllegalStateException if the property is fixed and the sampler runs
     */
    public void set(Property property, @Nullable Object value) {
        Settings before;
        Settings wanted;
        state.lock();
        try {
            before = settings;
            wanted = before.with(property, value);
            if (property.fixed()) {
                state.requireIdle(property.text());
            }
            if (state.phase().isIdle()) {
                settings = wanted; // the next start takes it
                return;
            }
            wanted.checkTogether();
            settings = wanted;
        } finally {
            state.unlock();
        }
        updater.applyOrUndo(this::config, () -> {
            if (settings == wanted) {
                settings = before;
            }
        });
    }

    /**
     * Gets a property.
     *
     * @param property which
     * @return its value, of the type of its default
     */
    public Object get(Property property) {
        state.lock();
        try {
            return settings.get(property);
        } finally {
            state.unlock();
        }
    }

    /**
     * Changes a property that is kept elsewhere and fixed while the sampler runs.
     *
     * @param name the property's name for messages
     * @param change does it, fast; runs under the lock
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

    /**
     * Adds a thread to those that are sampled exclusively.
     *
     * @param property the name of the property for messages
     * @param chosen the thread
     */
    public void chooseOne(String property, Thread chosen) {
        ThreadFilter.check(property, chosen);
        add(property, List.of(chosen));
    }

    /**
     * Adds to the threads that are sampled exclusively.
     *
     * @param property the name of the property for messages
     * @param chosen the threads; none: all threads are sampled again
     */
    public void choose(String property, List<Thread> chosen) {
        if (chosen == null) {
            throw new IllegalArgumentException(property + " must not be null");
        }
        List<Thread> added = new ArrayList<>(chosen);
        for (int i = 0; i < added.size(); i++) {
            ThreadFilter.check(property + "[" + i + "]", added.get(i));
        }
        add(property, added);
    }

    private void add(String property, List<Thread> added) {
        ThreadFilter before;
        ThreadFilter wanted;
        boolean isIdle;
        state.lock();
        try {
            before = threads;
            wanted = added.isEmpty() ? ThreadFilter.ALL : before.and(added);
            threads = wanted;
            isIdle = state.phase().isIdle();
        } finally {
            state.unlock();
        }
        if (!isIdle) {
            updater.applyOrUndo(this::config, () -> {
                if (threads == wanted) {
                    threads = before;
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

    /**
     * The threads that are sampled exclusively.
     *
     * @return those that have not ended; empty also where all threads are sampled
     */
    public List<Thread> chosen() {
        state.lock();
        try {
            return threads.alive();
        } finally {
            state.unlock();
        }
    }

    /**
     * Sets where reports go; takes effect with the next report. While the sampler runs, the outputer's
     * {@code starting()} is called first.
     *
     * @param outputer the outputer
     */
    public void setOutputer(SamplingOutputer outputer) {
        if (outputer == null) {
            throw new IllegalArgumentException("samplingOutputer must not be null");
        }
        if (!replaceOutputer(outputer, false)) {
            if (!state.isInert()) {
                outputer.starting();
            }
            replaceOutputer(outputer, true);
        }
    }

    /** @return false: the outputer has to be started first, because the sampler runs */
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

    /**
     * Where reports go.
     *
     * @return never null
     */
    public SamplingOutputer outputer() {
        return dispatcher.outputer();
    }

    /**
     * Sets how threads are grouped; takes effect with the next tick. While the sampler runs, the manipulator's
     * {@code init()} is called first.
     *
     * @param manipulator the manipulator
     */
    public void setManipulator(ThreadNameManipulator manipulator) {
        if (manipulator == null) {
            throw new IllegalArgumentException("threadNameManipulator must not be null");
        }
        if (!replaceManipulator(manipulator, false)) {
            if (!state.isInert()) {
                manipulator.init();
            }
            replaceManipulator(manipulator, true);
        }
    }

    /** @return false: the manipulator has to be initialised first, because the sampler runs */
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
        updater.applyOrUndo(this::config, () -> {
            if (dispatcher.manipulator() == manipulator) {
                dispatcher.setManipulator(before);
            }
        });
        return true;
    }

    /**
     * How threads are grouped.
     *
     * @return never null
     */
    public ThreadNameManipulator manipulator() {
        return dispatcher.manipulator();
    }

    /**
     * The lock is held. Checks the properties for a start.
     *
     * @throws IllegalArgumentException if they do not go together
     */
    void prepareStart() {
        settings.checkTogether();
        if (standardOutputer) {
            dispatcher.setOutputer(new PrintStreamSamplingOutputer());
        }
    }

    /** The lock is held. */
    boolean isActive() {
        return settings.is(Property.ACTIVE);
    }

    /** What an engine is to be configured with now. */
    EngineConfig config() {
        state.lock();
        try {
            ThreadNameManipulator rule = dispatcher.manipulator();
            boolean standard = rule.getClass() == RegexThreadNameManipulator.class
                    && ((RegexThreadNameManipulator) rule)
                            .getThreadNameRemovalPatterns()
                            .equals(new RegexThreadNameManipulator().getThreadNameRemovalPatterns());
            Settings all = settings.with(Property.DEFAULT_THREAD_NAME_RULE, standard)
                    .with(Property.MAIN_PACKAGES, MainPackages.get());
            return new EngineConfig(all.toOptionValues(), threads);
        } finally {
            state.unlock();
        }
    }
}
