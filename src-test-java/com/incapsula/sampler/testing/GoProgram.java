// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.ThreadsSampler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Two threads run code of a Go library. Arguments: the library's file, seconds, and the way to sample them, see {@link
 * #sampler}.
 */
public final class GoProgram {

    private GoProgram() {}

    private static native long work(long steps);

    private static native long fill(long entries);

    /** Runs the program. */
    public static void main(String[] arguments) throws Exception {
        String how = arguments[2];
        ThreadsSampler sampler = null;
        if (how.startsWith("before")) {
            sampler = sampler(how);
        }
        System.load(arguments[0]);
        work(10);
        if (how.startsWith("after")) {
            sampler = sampler(how);
        }
        System.out.println("ready");
        runFor(Long.parseLong(arguments[1]) * 1_000_000_000L);
        if (sampler != null) {
            boolean isSeen = sampler.snapshot().toString(ReportFormat.COLLAPSED).contains("GoProgram.work");
            sampler.close();
            if (!isSeen) {
                throw new IllegalStateException("the native method was not seen");
            }
        }
        System.out.println("fine");
    }

    /* The sampler starts "before" or "after" the Go library is loaded. A clock may follow, as in "afterCPU". */
    private static ThreadsSampler sampler(String how) {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        sampler.setClock(how.endsWith("CPU") ? SamplingClock.CPU : SamplingClock.WALL);
        sampler.init();
        return sampler;
    }

    private static void runFor(long nanos) throws InterruptedException {
        long start = System.nanoTime();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(
                    () -> {
                        while (System.nanoTime() - start < nanos) {
                            work(200_000);
                            fill(20_000);
                        }
                    },
                    "go-" + i);
            thread.setUncaughtExceptionHandler((which, thrown) -> failure.set(thrown));
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        if (failure.get() != null) {
            throw new IllegalStateException(failure.get());
        }
    }
}
