// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * What stands behind the bean: the properties, and when what may happen.
 *
 * <pre>
 *   NEW ──► STARTING ──► RUNNING ◄──► PAUSED      (through PAUSING and RESUMING)
 *              ▲            └────┬───────┘
 *              └── CLOSED ◄── CLOSING
 * </pre>
 *
 * <p>Where sampling is not possible the same states are gone through with an {@link InertEngine}.
 *
 * <p>Threads: any. One lock guards all fields. It is never held while user code runs or while the core is waited
 * for: such work is done in one of the states that end in -ING, which belong to the thread that does it, or by the
 * one thread that tells the core of changed properties; who needs the sampler settled waits for the next state.
 * A property that is set from within a callback is told to the core by a thread of its own: the core takes it
 * between two ticks, and the callback may be what the next tick waits for.
 */
public final class Lifecycle {

    private enum State {
        NEW, STARTING, RUNNING, PAUSING, PAUSED, RESUMING, CLOSING, CLOSED;

        /** No core exists and nobody is making one. */
        boolean isIdle() {
            return this == NEW || this == CLOSED;
        }

        /** The core takes options, and answers. */
        boolean isRunning() {
            return this == RUNNING || this == PAUSING || this == PAUSED || this == RESUMING;
        }

        boolean isSettled() {
            return isIdle() || this == RUNNING || this == PAUSED;
        }
    }

    /** What the core is to do, as far as it can change while it runs. */
    private record Orders(String options, ThreadChoice choice) {

        /* Not equals: that of a record is made by a method handle, which on JDK 17 holds our class loader for good. */
        boolean isSameAs(Orders other) {
            return choice == other.choice && options.equals(other.options);
        }
    }

    private final Engine.Source source;
    private final BooleanSupplier exiting;
    private final ReportDispatcher dispatcher = new ReportDispatcher();
    private final Object ownTaking = new Object(); // held while a window of ownConsumer is taken
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    private State state = State.NEW;
    private Thread changing; // who does the work of an -ING state
    private Settings settings = new Settings();
    private ThreadChoice choice = ThreadChoice.EVERYBODY;
    private boolean standardOutputer = true;
    private Engine engine; // from RUNNING until it is destroyed
    private int ownConsumer; // of engine: what snapshot() reads
    private Orders told; // what it knows
    private boolean telling; // somebody is at it
    private boolean tellingLater; // a thread is on its way
    private ExitReport exitReport;
    private RawStatistics lastStatistics = RawStatistics.NONE;
    private volatile boolean required;
    private volatile Engine.Source used; // what engine comes from
    private volatile Engine leaving; // stopped because the JVM exits, and kept for a last snapshot

    /** The lifecycle of a sampler on the native core, which is loaded at {@link #init()}. */
    public Lifecycle() {
        this(new NativeHandle.Source());
    }

    Lifecycle(Engine.Source source) {
        this(source, ExitReport::isExiting);
    }

    /** @param exiting whether the JVM has begun to exit */
    Lifecycle(Engine.Source source, BooleanSupplier exiting) {
        this.source = source;
        this.used = source;
        this.exiting = exiting;
    }

    /**
     * Sets who is told of this sampler's life. Called once, before anything else.
     *
     * @param observer the observer
     */
    public void setObserver(Observer observer) {
        dispatcher.setObserver(observer);
    }

    // ---- properties ----

    /**
     * Sets what {@link #init()} does where sampling is not possible; takes effect with the next one.
     *
     * @param required true: it throws; false: it warns, and nothing is sampled
     */
    public void setRequired(boolean required) {
        this.required = required;
    }

    /**
     * Whether {@link #init()} throws where sampling is not possible.
     *
     * @return true if it does
     */
    public boolean isRequired() {
        return required;
    }

    /**
     * Sets a property; while the sampler runs this takes effect with the next tick.
     *
     * @param property which
     * @param value its value, of the type of its default
     * @throws IllegalArgumentException if the value is out of range
     * @throws IllegalStateException if the property is fixed and the sampler runs
     */
    public void set(Property property, Object value) {
        Settings before;
        Settings wanted;
        lock.lock();
        try {
            before = settings;
            wanted = before.with(property, value);
            if (property.fixed()) {
                checkIdle(property.text());
            }
            if (!state.isIdle()) {
                wanted.checkTogether();
            }
            settings = wanted;
        } finally {
            lock.unlock();
        }
        tellOrUndo(() -> {
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
        lock.lock();
        try {
            return settings.get(property);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds to the threads that are sampled exclusively.
     *
     * @param property the name of the property for messages
     * @param threads the threads; none: everybody is sampled again
     */
    public void choose(String property, List<Thread> threads) {
        if (threads == null) {
            throw new IllegalArgumentException(property + " must not be null");
        }
        List<Thread> added = new ArrayList<>(threads);
        added.forEach(thread -> ThreadChoice.check(property, thread));
        ThreadChoice before;
        ThreadChoice wanted;
        lock.lock();
        try {
            before = choice;
            wanted = added.isEmpty() ? ThreadChoice.EVERYBODY : before.and(added);
            choice = wanted;
        } finally {
            lock.unlock();
        }
        tellOrUndo(() -> {
            if (choice == wanted) {
                choice = before;
            }
        });
        added.stream().filter(ThreadChoice::hasEnded).forEach(thread -> LibraryLog.log(
                System.Logger.Level.WARNING, property + ": thread \"" + thread.getName() + "\" has ended, so it is not"
                        + " sampled", null));
    }

    /**
     * The threads that are sampled exclusively.
     *
     * @return those that have not ended; empty also where everybody is sampled
     */
    public List<Thread> chosen() {
        lock.lock();
        try {
            return choice.alive();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets where reports go; takes effect with the next report.
     *
     * @param outputer the outputer
     */
    public void setOutputer(SamplingOutputer outputer) {
        if (outputer == null) {
            throw new IllegalArgumentException("samplingOutputer must not be null");
        }
        if (!replaceOutputer(outputer, false)) {
            if (!isInert()) {
                outputer.starting();
            }
            replaceOutputer(outputer, true);
        }
    }

    /* Where nothing is sampled nothing is asked of an outputer or a manipulator. */
    private boolean isInert() {
        lock.lock();
        try {
            return engine instanceof InertEngine;
        } finally {
            lock.unlock();
        }
    }

    /** @return false: it has to be started first, because the sampler runs */
    private boolean replaceOutputer(SamplingOutputer outputer, boolean started) {
        lock.lock();
        try {
            if (!state.isIdle() && !started) {
                return false;
            }
            standardOutputer = false;
            dispatcher.setOutputer(outputer);
            return true;
        } finally {
            lock.unlock();
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
            if (!isInert()) {
                manipulator.init();
            }
            replaceManipulator(manipulator, true);
        }
    }

    /** @return false: it has to be initialised first, because the sampler runs */
    private boolean replaceManipulator(ThreadNameManipulator manipulator, boolean initialised) {
        ThreadNameManipulator before;
        lock.lock();
        try {
            if (!state.isIdle() && !initialised) {
                return false;
            }
            before = dispatcher.manipulator();
            dispatcher.setManipulator(manipulator);
        } finally {
            lock.unlock();
        }
        tellOrUndo(() -> {
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

    // ---- start and end ----

    /**
     * Starts the sampler. Where that fails nothing is left behind. Where sampling is not possible and not
     * {@link #setRequired required}, the sampler is started on an {@link InertEngine}, with a warning; where the JVM
     * exits meanwhile, without one.
     *
     * @throws IllegalStateException if it was started and not closed
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

    /** @return what is to be told of it, or null */
    private String start() {
        State before = beginStart();
        boolean started = false;
        try {
            Throwable obstacle = tryToSample();
            if (obstacle != null) {
                launch(new InertEngine.Source(obstacle.getMessage()));
            }
            started = true;
            if (obstacle != null) {
                return obstacle instanceof Exiting ? null
                        : "threads-sampler does not sample: " + obstacle.getMessage();
            }
            return orders().choice().isOver() ? "threads-sampler does not sample: all chosen threads have ended" : null;
        } finally {
            if (!started) {
                dispatcher.observer().ended();
                dispatcher.release();
                settle(before);
            }
        }
    }

    /* A start that fails because the JVM is going is no failure of the application's. */
    private static final class Exiting extends Exception {

        private static final long serialVersionUID = 1L;

        Exiting(Throwable cause) {
            super("the JVM is exiting", cause);
        }
    }

    /** @return why the sampler has to be inert, or null: it samples */
    private Throwable tryToSample() {
        UnsupportedOperationException obstacle = findObstacle();
        if (obstacle == null) {
            dispatcher.manipulator().init();
            dispatcher.outputer().starting();
        }
        dispatcher.observer().starting();
        if (obstacle != null) {
            return obstacle;
        }
        try {
            launch(source);
            return null;
        } catch (RuntimeException | Error e) {
            if (exiting.getAsBoolean()) {
                return new Exiting(e);
            }
            if (required || !(e instanceof UnsupportedOperationException || e instanceof OutOfMemoryError)) {
                throw e;
            }
            return e;
        }
    }

    private UnsupportedOperationException findObstacle() {
        try {
            source.require();
            return null;
        } catch (UnsupportedOperationException e) {
            if (required) {
                throw e;
            }
            return e;
        }
    }

    private State beginStart() {
        lock.lock();
        try {
            if (!state.isIdle()) {
                throw new IllegalStateException("init() was called already; close() has to come first");
            }
            settings.checkTogether();
            if (standardOutputer) {
                dispatcher.setOutputer(new PrintStreamSamplingOutputer());
            }
            dispatcher.reset(Thread.currentThread().getContextClassLoader());
            State before = state;
            begin(State.STARTING);
            leaving = null;
            return before;
        } finally {
            lock.unlock();
        }
    }

    /** Creates and starts a core with what is set now, then brings it up to what was set meanwhile. */
    private void launch(Engine.Source from) {
        Orders known = orders();
        used = from;
        Engine launched = from.create(known.options(), dispatcher);
        try {
            if (known.choice().only()) {
                select(launched, known.choice());
            }
            int consumer = launched.openConsumer();
            dispatcher.setEngine(launched);
            launched.start();
            for (Orders wanted = orders(); !enterRunning(launched, consumer, known); wanted = orders()) {
                tell(launched, known, wanted);
                known = wanted;
            }
            launched = null;
        } finally {
            if (launched != null) {
                launched.destroy();
            }
        }
    }

    /** @return false: what is wanted has changed since the core was told */
    private boolean enterRunning(Engine launched, int consumer, Orders known) {
        lock.lock();
        try {
            if (!orders().isSameAs(known)) {
                return false;
            }
            ExitReport installed =
                    new ExitReport(used::hideCurrentThread, this::finishAtExit, ExitReport.MAX_WAIT_MILLIS);
            installed.install();
            engine = launched;
            ownConsumer = consumer;
            told = known;
            exitReport = installed;
            lastStatistics = RawStatistics.NONE;
            settle(State.RUNNING);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the sampler: last sample, last report, then the outputer is closed. Does nothing before {@link #init()} or
     * after the end; waits where another thread is at it.
     *
     * @throws IOException if the outputer cannot be closed; everything else is done nevertheless
     * @throws IllegalStateException if called from the outputer or the manipulator
     */
    public void close() throws IOException {
        boolean interrupted = Thread.interrupted();
        try {
            finish("close()", true);
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
            finish("shutdown()", false);
        } catch (IOException e) {
            throw new IllegalStateException("the outputer was closed by shutdown()", e);
        } finally {
            restoreInterrupt(interrupted);
        }
    }

    /* What other shutdown hooks call meanwhile and afterwards does no harm: the core is stopped and stays.
     * Package-private for the test. */
    void finishAtExit() {
        try {
            finish("the exit of the JVM", true, true);
        } catch (IOException e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the outputer could not be closed", e);
        }
    }

    private void finish(String call, boolean closeOutputer) throws IOException {
        finish(call, closeOutputer, false);
    }

    private void finish(String call, boolean closeOutputer, boolean atExit) throws IOException {
        Engine ending = beginEnd(call, atExit);
        if (ending == null) {
            return;
        }
        try {
            ending.stop();
        } finally {
            try {
                discard(ending, atExit);
                dispatcher.observer().ended();
                if (closeOutputer) {
                    closeOutputer();
                }
            } finally {
                settle(State.CLOSED);
            }
        }
    }

    /** @return the core to be ended, or null where there is none */
    private Engine beginEnd(String call, boolean atExit) {
        refuseInCallback(call);
        lock.lock();
        try {
            awaitSettled(call);
            if (state.isIdle() || state == State.CLOSING) { // the latter only at the exit, with an outputer that is stuck
                return null;
            }
            begin(State.CLOSING);
            leaving = atExit ? engine : null;
            return engine;
        } finally {
            lock.unlock();
        }
    }

    private void discard(Engine ending, boolean atExit) {
        RawStatistics last = lastFiguresOf(ending); // may log, which is others' code: without the lock
        ExitReport installed;
        lock.lock();
        try {
            lastStatistics = last;
            engine = null;
            installed = exitReport;
            exitReport = null;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        installed.remove();
        if (!atExit) {
            ending.destroy();
        }
        dispatcher.release();
    }

    private static RawStatistics lastFiguresOf(Engine ending) {
        try {
            return ending.statistics();
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "the last statistics are lost", e);
            return RawStatistics.NONE;
        }
    }

    private void closeOutputer() throws IOException {
        try {
            dispatcher.outputer().close();
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
        change("pauseSampling()", State.PAUSING, State.PAUSED, Engine::pause);
    }

    /**
     * Undoes {@link #pause()}.
     *
     * @throws IllegalStateException as for {@link #pause()}
     */
    public void resume() {
        change("resumeSampling()", State.RESUMING, State.RUNNING, Engine::resume);
    }

    private void change(String call, State via, State to, Consumer<Engine> work) {
        refuseInCallback(call);
        Engine running;
        State from;
        lock.lock();
        try {
            awaitSettled(call);
            from = state;
            running = requireRunning(call);
            if (from == to || running == leaving) {
                return;
            }
            begin(via);
        } finally {
            lock.unlock();
        }
        State reached = from;
        try {
            work.accept(running);
            reached = to;
        } finally {
            settle(reached);
        }
    }

    /**
     * Tells whether time stands still.
     *
     * @return true from {@link #pause()} to {@link #resume()}
     */
    public boolean isPaused() {
        lock.lock();
        try {
            return state == State.PAUSED;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes a report now; returns when it is written.
     *
     * @throws IllegalStateException as for {@link #pause()}
     */
    public void printReport() {
        Engine running;
        refuseInCallback("printReport()");
        lock.lock();
        try {
            running = requireRunning("printReport()");
        } finally {
            lock.unlock();
        }
        unlessLeaving(running, running::report);
    }

    /**
     * Takes one sample of a paused or inactive sampler and writes a report.
     *
     * @throws IllegalStateException as for {@link #pause()}, and if the sampler is sampling
     */
    public void sampleOnceAndPrint() {
        String call = "sampleOnceAndPrint()";
        Engine running;
        refuseInCallback(call);
        lock.lock();
        try {
            awaitSettled(call);
            running = requireRunning(call);
            if (running == leaving) {
                return;
            }
            if (state != State.PAUSED && settings.is(Property.ACTIVE)) {
                throw new IllegalStateException(call + " needs a sampler that is paused or not active");
            }
        } finally {
            lock.unlock();
        }
        unlessLeaving(running, running::sampleOnce);
    }

    /**
     * Everything since the last call, or since the start.
     *
     * @return held by the caller
     * @throws IllegalStateException as for {@link #pause()}
     */
    public Snapshot snapshot() {
        String call = "snapshot()";
        refuseInCallback(call);
        Engine running;
        int consumer;
        lock.lock();
        try {
            running = requireRunning(call);
            consumer = ownConsumer;
        } finally {
            lock.unlock();
        }
        return takeWindow(running, consumer, ownTaking);
    }

    /* At the exit: what was collected up to the end. Not available while the core is stopping; and what has been
     * taken is not there a second time. */
    private Snapshot takeLast(Engine from, int consumer, Object taking) {
        lock.lock();
        try {
            awaitAtExit(() -> engine != from);
        } finally {
            lock.unlock();
        }
        try {
            synchronized (taking) {
                return from.takeWindow(consumer);
            }
        } catch (IllegalStateException nothingIsLeft) {
            return new InertSnapshot(System.currentTimeMillis(), "the JVM is exiting");
        }
    }

    /* One at a time: of two that end an interval each, the first would get both, and the second nothing. */
    private Snapshot takeWindow(Engine from, int consumer, Object taking) {
        if (from != leaving) {
            try {
                synchronized (taking) {
                    return from.takeWindow(consumer);
                }
            } catch (IllegalStateException ended) {
                if (from != leaving) {
                    throw ended;
                }
            }
        }
        return takeLast(from, consumer, taking);
    }

    /**
     * Opens a window of its own, which begins now.
     *
     * @return to be closed; dead when the sampler has ended
     * @throws IllegalStateException as for {@link #pause()}
     */
    public Cursor openCursor() {
        String call = "openCursor()";
        refuseInCallback(call);
        Engine running;
        lock.lock();
        try {
            running = requireRunning(call);
        } finally {
            lock.unlock();
        }
        int[] consumer = new int[1];
        if (unlessLeaving(running, () -> consumer[0] = running.openConsumer())) {
            return new EngineCursor(running, consumer[0]);
        }
        Engine over = new InertEngine.Source("the JVM is exiting").create("", dispatcher);
        return new EngineCursor(over, over.openConsumer());
    }

    /* The JVM's exit may stop the core between any two lines of a caller's.
     * @return false: the sampler is being ended by the exit of the JVM, and nothing was done */
    private boolean unlessLeaving(Engine running, Runnable work) {
        if (running == leaving) {
            return false;
        }
        try {
            work.run();
            return true;
        } catch (IllegalStateException stopped) {
            if (running == leaving) {
                return false;
            }
            throw stopped;
        }
    }

    private final class EngineCursor implements Cursor {

        private final Engine source;
        private final int consumer;
        private final Object taking = new Object();
        private boolean closed; // guarded by this

        EngineCursor(Engine source, int consumer) {
            this.source = source;
            this.consumer = consumer;
        }

        @Override
        public Snapshot next() {
            refuseInCallback("next()");
            requireOpen();
            try {
                return takeWindow(source, consumer, taking);
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
            closed = true;
            try {
                source.closeConsumer(consumer);
            } catch (IllegalStateException ended) {
                // it went together with its core
            }
        }
    }

    /**
     * No thread is sampled that is born into this group. Loads the native library; does nothing where that cannot be
     * used and is not required.
     *
     * @param group the same for all calls; it is held for as long as the library is loaded
     */
    public void hide(ThreadGroup group) {
        if (findObstacle() == null) {
            source.hide(group);
        }
    }

    /**
     * Changes something that is fixed while the sampler runs.
     *
     * @param name the property's name for messages
     * @param change does it, fast; runs under the lock
     * @throws IllegalStateException while the sampler runs
     */
    public void changeWhileIdle(String name, Runnable change) {
        lock.lock();
        try {
            checkIdle(name);
            change.run();
        } finally {
            lock.unlock();
        }
    }

    private void checkIdle(String name) {
        if (!state.isIdle()) {
            throw new IllegalStateException(name + " cannot be changed while the sampler runs");
        }
    }

    /**
     * What the core counted.
     *
     * @return the figures of the last look, or the last ones where the sampler has ended
     */
    public RawStatistics statistics() {
        Engine running;
        lock.lock();
        try {
            running = engine;
        } finally {
            lock.unlock();
        }
        try {
            if (running != null) {
                return running.statistics();
            }
        } catch (IllegalStateException ended) {
            // between the two looks; the last figures were kept before the core went
        }
        lock.lock();
        try {
            return lastStatistics;
        } finally {
            lock.unlock();
        }
    }

    // ---- telling the core ----

    private Orders orders() {
        lock.lock();
        try {
            ThreadNameManipulator rule = dispatcher.manipulator();
            boolean standard = rule.getClass() == RegexThreadNameManipulator.class
                    && ((RegexThreadNameManipulator) rule).getThreadNameRemovalPatterns()
                            .equals(new RegexThreadNameManipulator().getThreadNameRemovalPatterns());
            Settings all = settings.with(Property.DEFAULT_THREAD_NAME_RULE, standard);
            return new Orders(all.toOptionsText(), choice);
        } finally {
            lock.unlock();
        }
    }

    /** @param undo runs under the lock where the core refuses */
    private void tellOrUndo(Runnable undo) {
        if (dispatcher.isInCallback()) {
            tellLater();
            return;
        }
        try {
            tellCore();
        } catch (RuntimeException | Error e) {
            lock.lock();
            try {
                undo.run();
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    private void tellLater() {
        lock.lock();
        try {
            if (tellingLater || !state.isRunning() || orders().isSameAs(told)) {
                return;
            }
            tellingLater = true;
        } finally {
            lock.unlock();
        }
        Thread teller = new Thread(null, this::tellOnOwnThread, "threads-sampler-settings", 0, false);
        teller.setDaemon(true);
        boolean started = false;
        try {
            teller.start();
            started = true;
        } finally {
            if (!started) {
                forgetTellingLater();
            }
        }
    }

    private void forgetTellingLater() {
        lock.lock();
        try {
            tellingLater = false;
        } finally {
            lock.unlock();
        }
    }

    private void tellOnOwnThread() {
        try {
            forgetTellingLater();
            used.hideCurrentThread();
            tellCore();
        } catch (RuntimeException | Error e) {
            LibraryLog.log(System.Logger.Level.WARNING, "changed properties could not be applied", e);
        }
    }

    /** Returns when the running core knows what is wanted. One thread at a time. */
    private void tellCore() {
        for (Orders wanted = beginTelling(); wanted != null; wanted = beginTelling()) {
            Orders known = told;
            boolean done = false;
            try {
                tell(engine, known, wanted);
                done = true;
            } finally {
                endTelling(done ? wanted : known);
            }
        }
    }

    /** @return null where there is nothing to tell, or nobody */
    private Orders beginTelling() {
        lock.lock();
        try {
            while (telling) {
                changed.awaitUninterruptibly();
            }
            Orders wanted = orders();
            if (!state.isRunning() || wanted.isSameAs(told)) {
                return null;
            }
            telling = true;
            return wanted;
        } finally {
            lock.unlock();
        }
    }

    private void endTelling(Orders known) {
        lock.lock();
        try {
            told = known;
            telling = false;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private static void tell(Engine to, Orders known, Orders wanted) {
        if (!wanted.options().equals(known.options())) {
            to.configure(wanted.options());
        }
        if (wanted.choice() != known.choice()) {
            select(to, wanted.choice());
        }
    }

    // ---- helpers ----

    private static void select(Engine to, ThreadChoice wanted) {
        to.select(wanted.alive().toArray(new Thread[0]), wanted.only());
    }

    private void begin(State work) {
        state = work;
        changing = Thread.currentThread();
    }

    private void settle(State reached) {
        lock.lock();
        try {
            state = reached;
            changing = null;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void awaitSettled(String call) {
        while (!state.isSettled() || telling) {
            if (changing == Thread.currentThread()) {
                throw selfCall(call);
            }
            if (leaving != null) {
                awaitAtExit(() -> state.isSettled());
                return;
            }
            changed.awaitUninterruptibly();
        }
    }

    /* No longer than the exit itself waits for the last report: the outputer may be stuck. */
    private void awaitAtExit(BooleanSupplier done) {
        boolean interrupted = Thread.interrupted();
        long left = TimeUnit.MILLISECONDS.toNanos(ExitReport.MAX_WAIT_MILLIS);
        while (!done.getAsBoolean() && left > 0) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        restoreInterrupt(interrupted);
    }

    private void refuseInCallback(String call) {
        if (dispatcher.isInCallback()) {
            throw selfCall(call);
        }
    }

    private static IllegalStateException selfCall(String call) {
        return new IllegalStateException(
                call + " would wait for itself: it was called from the sampler's own outputer or manipulator");
    }

    private Engine requireRunning(String call) {
        if (!state.isRunning() && leaving != null) {
            return leaving;
        }
        if (!state.isRunning()) {
            throw new IllegalStateException(call + " needs a running sampler: init() comes first");
        }
        return engine;
    }

    private static void restoreInterrupt(boolean interrupted) {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
