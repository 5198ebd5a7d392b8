// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.internal.report.WithoutText;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.Arrays;
import java.util.Date;
import org.jspecify.annotations.Nullable;

/**
 * One run of a sampler: passes calls of the native core to the user's outputer and manipulator, and catches their
 * exceptions. An abandoned run calls no user code, because the sampler may have been started again with the same
 * outputer.
 *
 * <p>Threads: {@link #groupNames} runs on the sampler thread, the other callbacks on the reporter thread; the other
 * methods are for any thread.
 */
final class ReportRun implements NativeCallbacks {

    private final ReportDispatcher user;

    @SuppressWarnings("NullAway.Init") // set before its first report
    private volatile Engine engine;

    private volatile @Nullable ClassLoader contextLoader;
    private volatile boolean isAbandoned;

    /* The threads that run user code now; they must not wait for the core. */
    private volatile @Nullable Thread reporting;
    private volatile @Nullable Thread naming;

    /* Used by the reporter thread only: a report goes to the same outputer from title to flush. */
    @SuppressWarnings("NullAway.Init") // set by title()
    private SamplingOutputer current;

    private boolean printsText; // whether current uses titles and records
    private long fromMillis; // the report's interval
    private long tillMillis;

    private final Object namingFailureLock = new Object();
    private @Nullable Throwable firstNamingFailure; // guarded by namingFailureLock
    private long namingFailures; // guarded by namingFailureLock

    ReportRun(ReportDispatcher user, @Nullable ClassLoader userContextLoader) {
        this.user = user;
        this.contextLoader = userContextLoader;
    }

    /** @param next the engine of this run */
    void setEngine(Engine next) {
        engine = next;
    }

    /** @return true on a thread that runs user code for this run now */
    boolean isInCallback() {
        Thread caller = Thread.currentThread();
        return caller == reporting || caller == naming;
    }

    /** @return the thread that runs user code for this run now, or null */
    @Nullable
    Thread inCallback() {
        Thread reporter = reporting;
        return reporter == null ? naming : reporter;
    }

    /** From now on no user code is called; a call under way may still run. */
    void abandon() {
        isAbandoned = true;
        contextLoader = null;
    }

    @Override
    public boolean title(long fromWallMillis, long tillWallMillis) {
        if (isAbandoned) {
            return false;
        }
        Thread.interrupted(); // an outputer may have left the flag set in an earlier report
        try {
            begin();
            current = user.outputer();
            fromMillis = fromWallMillis;
            tillMillis = tillWallMillis;
            printsText = printsText(current);
            if (user.listener().isInterested(current)) {
                showWhole();
            }
            if (printsText) {
                current.printIntervalTitle(title());
            }
            return true;
        } catch (Throwable t) {
            return failed(t);
        } finally {
            reporting = null;
        }
    }

    private String title() {
        return "Report interval: from " + new Date(fromMillis) + " till " + new Date(tillMillis);
    }

    /* A user's class that extends one of ours may print. */
    private static boolean printsText(SamplingOutputer outputer) {
        for (SamplingOutputer part : OutputerParts.of(outputer)) {
            if (!(part instanceof WithoutText) && part.getClass() != FileSamplingOutputer.class) {
                return true;
            }
        }
        return false;
    }

    private void showWhole() {
        Snapshot whole = engine.currentReport();
        try {
            user.listener().interval(whole, current);
        } finally {
            whole.release();
        }
    }

    @Override
    public boolean record(String title, String rows) {
        if (isAbandoned) {
            return false;
        }
        try {
            begin();
            if (printsText) {
                current.printThreadRecord(title, rows);
            }
            return true;
        } catch (Throwable t) {
            return failed(t);
        } finally {
            reporting = null;
        }
    }

    @Override
    public boolean flush() {
        if (isAbandoned) {
            return false;
        }
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
    public void deadlock(String title, String record) {
        if (isAbandoned) {
            return;
        }
        SamplingOutputer to = user.outputer();
        try {
            begin();
            to.printDeadlock(title, record);
        } catch (Throwable t) {
            printError(to, "A deadlock could not be printed: " + title, t);
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
        if (isAbandoned) {
            Arrays.fill(names, 0, count, null); // not sampled
            Arrays.fill(failed, 0, count, false);
            return;
        }
        ThreadNameManipulator rule = user.manipulator();
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

    /* Begins a call of user code. */
    private void begin() {
        Thread caller = Thread.currentThread();
        reporting = caller;
        adoptContext(caller);
    }

    /** @return false, as the report has failed */
    private boolean failed(Throwable cause) {
        if (isAbandoned) {
            return false;
        }
        printError(current, "Report could not be printed: " + title(), cause);
        return false;
    }

    /* An attached native thread has the system class loader as its context, where frameworks may not find their
     * classes. */
    private void adoptContext(Thread thread) {
        ClassLoader wanted = contextLoader;
        if (thread.getContextClassLoader() != wanted) {
            thread.setContextClassLoader(wanted);
        }
    }

    private static void printError(SamplingOutputer to, String message, @Nullable Throwable cause) {
        try {
            to.printError(message, cause);
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
                    current,
                    "The thread name manipulator failed " + failure.count()
                            + (failure.count() == 1 ? " time" : " times")
                            + " in this interval; such threads go under their own names. The first failure:",
                    failure.first());
        }
    }
}
