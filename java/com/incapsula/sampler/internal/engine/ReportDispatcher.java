// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import org.jspecify.annotations.Nullable;

/**
 * The user code that a sampler calls: outputer and manipulator. Each run of the sampler calls them through a
 * {@link ReportRun} of its own.
 *
 * <p>Threads: any.
 */
final class ReportDispatcher {

    private volatile LifecycleListener listener = LifecycleListener.NONE;
    private volatile SamplingOutputer outputer = new PrintStreamSamplingOutputer();
    private volatile ThreadNameManipulator manipulator = new RegexThreadNameManipulator();
    private volatile @Nullable ReportRun run; // null if the sampler does not run

    LifecycleListener listener() {
        return listener;
    }

    void setListener(LifecycleListener next) {
        listener = next;
    }

    /** Begins a new run. User code sees this context class loader. */
    ReportRun begin(@Nullable ClassLoader userContextLoader) {
        ReportRun begun = new ReportRun(this, userContextLoader);
        run = begun;
        return begun;
    }

    /** @return the last run that {@link #begin} has made, or null after {@link #release} */
    @Nullable
    ReportRun run() {
        return run;
    }

    /** Ends a run: drops the reference to it, and so to the application. */
    void release() {
        run = null;
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

    /** @return true on a thread that runs user code of this sampler now */
    boolean isInCallback() {
        ReportRun current = run;
        return current != null && current.isInCallback();
    }

    /** Refuses a call that would wait for the core. @throws IllegalStateException within a callback */
    void refuseInCallback(String call) {
        if (isInCallback()) {
            throw selfCall(call);
        }
    }

    static IllegalStateException selfCall(String call) {
        return new IllegalStateException(
                call + " would wait for itself: it was called from the sampler's own outputer or manipulator");
    }

    /** Logs a warning of one line, and passes it to printError if reports do not go to the log. */
    void warn(String text) {
        LibraryLog.log(System.Logger.Level.WARNING, text, null);
        for (SamplingOutputer receiver : OutputerParts.of(outputer)) {
            if (!logsErrors(receiver)) {
                warn(receiver, text);
            }
        }
    }

    /* Whether printError of this outputer writes to the log, which has the warning already. */
    private static boolean logsErrors(SamplingOutputer receiver) {
        try {
            return receiver.logsErrors();
        } catch (Throwable t) {
            return false;
        }
    }

    private static void warn(SamplingOutputer receiver, String text) {
        try {
            receiver.printError(text, null);
        } catch (Throwable t) {
            LibraryLog.log(System.Logger.Level.WARNING, "printError failed", t);
        }
    }
}
