// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.report.ApplicationStart;
import com.incapsula.sampler.internal.report.ContextSlf4jTarget;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import org.jspecify.annotations.Nullable;

/**
 * Logs reports with the application's SLF4J. The agent's class loader does not see it, and the agent starts before the
 * application's class loaders exist. So each report looks for SLF4J on the class path, then through the context class
 * loaders of live threads. The first reports wait until the application has had time to choose its log.
 *
 * <p>Threads: one at a time.
 */
final class ApplicationLog extends LoggerSamplingOutputer {

    private static final int MORE_THREADS = 16; // may start while threads are listed

    @Override
    public void printIntervalTitle(String title) {
        ApplicationStart.sleepUntilOver();
        Thread current = Thread.currentThread();
        ClassLoader before = current.getContextClassLoader();
        ClassLoader found = find();
        if (found == null) {
            super.printIntervalTitle(title);
            return;
        }
        current.setContextClassLoader(found);
        try {
            super.printIntervalTitle(title);
        } finally {
            current.setContextClassLoader(before);
        }
    }

    private static @Nullable ClassLoader find() {
        ClassLoader classPath = ClassLoader.getSystemClassLoader();
        return ContextSlf4jTarget.isIn(classPath) ? classPath : findInThreads();
    }

    /* Takes the first match: the application's main thread is listed before its workers. */
    private static @Nullable ClassLoader findInThreads() {
        ThreadGroup top = Thread.currentThread().getThreadGroup();
        while (top.getParent() != null) {
            top = top.getParent();
        }
        @Nullable Thread[] threads = new Thread[top.activeCount() + MORE_THREADS];
        int count = top.enumerate(threads);
        ClassLoader last = null;
        for (int i = 0; i < count; i++) {
            Thread thread = threads[i];
            ClassLoader loader = thread == null ? null : thread.getContextClassLoader();
            if (loader != null && loader != last && ContextSlf4jTarget.isIn(loader)) {
                return loader;
            }
            last = loader;
        }
        return null;
    }
}
