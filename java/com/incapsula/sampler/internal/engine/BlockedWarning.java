// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.LibraryLog;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The warning that a call no longer waits for a blocked thread, with the stack of that thread. */
final class BlockedWarning implements Runnable {

    private static final String THREAD = "threads-sampler-warning";
    private static final long MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final String text;
    private final @Nullable Throwable stack;

    /**
     * Captures the stack of the blocked thread.
     *
     * @param run the run whose user code may be blocked, or null
     * @param otherwise the blocked thread if no user code runs; null if not known
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

    /** Logs the warning. If the log itself is blocked, prints it on standard error. */
    void give(Lifecycle lifecycle) {
        try {
            ThreadGroup group = InternalThreads.hidden(lifecycle);
            if (!InternalThreads.await(InternalThreads.start(group, THREAD, this), MAX_NANOS)) {
                InternalThreads.await(InternalThreads.start(group, THREAD, this::print), MAX_NANOS);
            }
        } catch (RuntimeException | Error silent) {
            // without a thread there is no warning
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
