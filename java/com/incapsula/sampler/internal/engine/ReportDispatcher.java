// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.ErrorsToLog;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.remote.RemoteSamplingOutputer;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/**
 * Passes the calls of the native core to the user's outputer and manipulator, and catches what those throw.
 *
 * <p>Threads: {@link #groupNames} runs on the sampler thread, the other callbacks on the reporter thread; the other
 * methods are for any thread.
 */
final class ReportDispatcher implements NativeCallbacks {

    private volatile Observer observer = Observer.NONE;

    @SuppressWarnings("NullAway.Init") // set before its first report
    private volatile Engine engine;

    private volatile SamplingOutputer outputer = new PrintStreamSamplingOutputer();
    private volatile ThreadNameManipulator manipulator = new RegexThreadNameManipulator();
    private volatile @Nullable ClassLoader contextLoader;

    /* The threads that run user code for us: they must not wait for the core. */
    private volatile @Nullable Thread reporting;
    private volatile @Nullable Thread naming;

    /* Reporter thread only: a report goes to one outputer from title to flush. */
    @SuppressWarnings("NullAway.Init") // set by title()
    private SamplingOutputer current;

    private @Nullable String currentTitle;

    private final Object namingFailureLock = new Object();
    private @Nullable Throwable firstNamingFailure; // guarded by namingFailureLock
    private long namingFailures; // guarded by namingFailureLock

    Observer observer() {
        return observer;
    }

    void setObserver(Observer next) {
        observer = next;
    }

    /** @param next the engine whose reports come, until {@link #release} */
    void setEngine(Engine next) {
        engine = next;
    }

    /**
     * Begins a new run.
     *
     * @param userContextLoader the context class loader that user code sees
     */
    void reset(@Nullable ClassLoader userContextLoader) {
        contextLoader = userContextLoader;
        takeNamingFailure();
    }

    /** Ends a run: drops its references to the application. */
    @SuppressWarnings("NullAway") // no report comes any more
    void release() {
        contextLoader = null;
        current = null;
        engine = null;
    }

    SamplingOutputer outputer() {
        return outputer;
    }

    /** Takes effect with the next report. */
    void setOutputer(SamplingOutputer next) {
        outputer = next;
    }

    ThreadNameManipulator manipulator() {
        return manipulator;
    }

    /** Takes effect with the next tick. */
    void setManipulator(ThreadNameManipulator next) {
        manipulator = next;
    }

    /** @return true on a thread that runs user code for us at this moment */
    boolean isInCallback() {
        Thread caller = Thread.currentThread();
        return caller == reporting || caller == naming;
    }

    /**
     * Refuses a call that waits for the core.
     *
     * @throws IllegalStateException within a callback
     */
    void refuseInCallback(String call) {
        if (isInCallback()) {
            throw selfCall(call);
        }
    }

    static IllegalStateException selfCall(String call) {
        return new IllegalStateException(
                call + " would wait for itself: it was called from the sampler's own outputer or manipulator");
    }

    @Override
    public boolean title(long fromWallMillis, long tillWallMillis) {
        try {
            begin();
            current = outputer;
            currentTitle = "Report interval: from " + new Date(fromWallMillis) + " till " + new Date(tillWallMillis);
            if (observer.isInterested(current)) {
                showWhole();
            }
            current.printIntervalTitle(currentTitle);
            return true;
        } catch (Throwable t) {
            return failed(t);
        } finally {
            reporting = null;
        }
    }

    private void showWhole() {
        Snapshot whole = engine.currentReport();
        try {
            observer.interval(whole, current);
        } finally {
            whole.release();
        }
    }

    @Override
    public boolean record(String title, String rows) {
        try {
            begin();
            current.printThreadRecord(title, rows);
            return true;
        } catch (Throwable t) {
            return failed(t);
        } finally {
            reporting = null;
        }
    }

    @Override
    public boolean flush() {
        try {
            begin();
            reportNamingFailures();
            current.flush();
            return true;
        } catch (Throwable t) {
            return failed(t);
        } finally {
            reporting = null;
        }
    }

    @Override
    public void message(int level, String text) {
        System.Logger.Level[] levels = {
            System.Logger.Level.INFO, System.Logger.Level.WARNING, System.Logger.Level.ERROR,
        };
        LibraryLog.log(levels[Math.max(0, Math.min(level, levels.length - 1))], text, null);
    }

    @Override
    public void groupNames(Thread[] threads, int count, String[] names, boolean[] failed) {
        ThreadNameManipulator rule = manipulator;
        naming = Thread.currentThread();
        try {
            adoptContext(naming);
            for (int i = 0; i < count; i++) {
                nameOne(rule, threads[i], i, names, failed);
            }
        } finally {
            naming = null;
        }
    }

    private void nameOne(ThreadNameManipulator rule, Thread thread, int i, String[] names, boolean[] failed) {
        names[i] = null;
        failed[i] = false;
        try {
            String name = rule.getManipulatedThreadName(thread);
            names[i] = name != null && name.isEmpty() ? RegexThreadNameManipulator.UNNAMED : name;
        } catch (Throwable t) {
            failed[i] = true;
            noteNamingFailure(t);
        }
    }

    /* Of each part of a report. */
    private void begin() {
        Thread caller = Thread.currentThread();
        reporting = caller;
        adoptContext(caller);
    }

    /** @return false: the report has failed */
    private boolean failed(Throwable cause) {
        printError("Report could not be printed: " + currentTitle, cause);
        return false;
    }

    /* A thread from native code has the system class loader as context, where frameworks would not find their classes. */
    private void adoptContext(Thread thread) {
        ClassLoader wanted = contextLoader;
        if (thread.getContextClassLoader() != wanted) {
            thread.setContextClassLoader(wanted);
        }
    }

    private void printError(String message, @Nullable Throwable cause) {
        try {
            current.printError(message, cause);
        } catch (Throwable t) {
            LibraryLog.log(System.Logger.Level.WARNING, message + " (and printError failed: " + t + ")", cause);
        }
    }

    private void noteNamingFailure(Throwable failure) {
        synchronized (namingFailureLock) {
            namingFailures++;
            if (firstNamingFailure == null) {
                firstNamingFailure = failure;
            }
        }
    }

    private record NamingFailure(@Nullable Throwable first, long count) {}

    private NamingFailure takeNamingFailure() {
        synchronized (namingFailureLock) {
            NamingFailure taken = new NamingFailure(firstNamingFailure, namingFailures);
            firstNamingFailure = null;
            namingFailures = 0;
            return taken;
        }
    }

    private void reportNamingFailures() {
        NamingFailure failure = takeNamingFailure();
        if (failure.count() > 0) {
            printError(
                    "The thread name manipulator failed " + failure.count()
                            + (failure.count() == 1 ? " time" : " times")
                            + " in this interval; such threads go under their own names. The first failure:",
                    failure.first());
        }
    }

    /**
     * Warns in the log, and through printError if reports do not go to the log.
     *
     * @param text one line
     */
    void warn(String text) {
        LibraryLog.log(System.Logger.Level.WARNING, text, null);
        for (SamplingOutputer receiver : OutputerParts.of(outputer)) {
            if (!logsErrors(receiver)) {
                warn(receiver, text);
            }
        }
    }

    /* Its printError goes to the log that has the warning already. */
    private static boolean logsErrors(SamplingOutputer receiver) {
        return receiver instanceof LoggerSamplingOutputer
                || receiver instanceof FileSamplingOutputer
                || receiver instanceof RemoteSamplingOutputer
                || receiver instanceof ErrorsToLog;
    }

    private static void warn(SamplingOutputer receiver, String text) {
        try {
            receiver.printError(text, null);
        } catch (Throwable t) {
            LibraryLog.log(System.Logger.Level.WARNING, "printError failed", t);
        }
    }
}
