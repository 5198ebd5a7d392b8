// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The warning that a call went on without a thread that is blocked, with the stack of that thread. */
final class BlockedWarning implements Runnable {

    private static final String THREAD = "threads-sampler-warning";
    private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final String text;
    private final @Nullable Throwable stack;

    /**
     * Takes the stack of the thread that runs user code.
     *
     * @param text of the warning
     * @param run the run whose user code may be what is blocked; null: none
     * @param otherwise the thread that is blocked where no user code runs; null: not known
     */
    BlockedWarning(String text, @Nullable ReportRun run, @Nullable Thread otherwise) {
        Thread user = run == null ? null : run.inCallback();
        Thread blocked = user == null ? otherwise : user;
        this.text = text;
        if (blocked == null) {
            stack = null;
        } else {
            stack = new Throwable("thread " + blocked.getName());
            stack.setStackTrace(blocked.getStackTrace());
        }
    }

    /** Writes it to the log. The log may be what is blocked: then standard error has to do, for as long. */
    void give(Lifecycle lifecycle) {
        try {
            ThreadGroup group = InternalThreads.hidden(lifecycle);
            if (!TimedWork.await(TimedWork.start(group, THREAD, this), MAX_NANOS)) {
                TimedWork.await(TimedWork.start(group, THREAD, this::print), MAX_NANOS);
            }
        } catch (RuntimeException | Error silent) {
            // no thread, and so no warning
        }
    }

    @Override
    public void run() {
        LibraryLog.log(System.Logger.Level.WARNING, text, stack);
    }

    private void print() {
        System.err.println("threads-sampler: " + text);
        if (stack != null) {
            stack.printStackTrace();
        }
    }
}
