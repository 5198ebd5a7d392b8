// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.patiently;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A virtual thread that parks again and again, deep in a chain of calls. When it continues, the JVM restores only its
 * innermost frames. Prints the engine, and for how long the thread was seen with its root and without it.
 */
public final class VirtualThreadsProgram {

    /** Begins the lines about stacks. */
    public static final String SEEN = "seen whole %d us, cut %d us";

    private static final String GROUP = "deep-";
    private static final String CLASS = VirtualThreadsProgram.class.getName() + ".";
    private static final long PARK_NANOS = 100_000;
    private static final long WORK_NANOS = 10_000_000;
    private static volatile long sink;

    private VirtualThreadsProgram() {}

    /**
     * Runs the program.
     *
     * @param arguments the number of frames below the work; the milliseconds for which the thread must have been seen;
     *     "whole" to wait until a report shows the thread as the JVM does
     */
    public static void main(String... arguments) throws Exception {
        int depth = Integer.parseInt(arguments[0]);
        long millis = Long.parseLong(arguments[1]);
        CountDownLatch goHome = new CountDownLatch(1);
        Thread thread = start(() -> dive(depth, goHome));
        CrossChecks.ofAllWalks();
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setSamplingFrequencyMillis(1);
            sampler.setReportFrequencySeconds(0);
            // without a limit, because the number of skipped polls depends on the machine
            sampler.setOverheadLimitPercent(100);
            sampler.setEngine(SamplingEngine.AUTO);
            sampler.init();
            if (arguments.length > 2) {
                patiently().until(() -> sawAsItIs(sampler, thread));
            }
            long[] seen = new long[2];
            patiently().until(() -> {
                addTo(seen, linesOf(sampler));
                return TimeUnit.MICROSECONDS.toMillis(seen[0] + seen[1]) >= millis;
            });
            System.out.printf(
                    "engine %s%n" + SEEN + "%n", sampler.getStatistics().getEngine(), seen[0], seen[1]);
            System.out.printf("compared %d, different %d%n", CrossChecks.compared(), CrossChecks.different());
        }
        goHome.countDown();
        thread.join();
    }

    /* Uses reflection, because the tests are compiled for Java 17. */
    private static Thread start(Runnable body) throws ReflectiveOperationException {
        Class<?> virtual = Class.forName("java.lang.Thread$Builder$OfVirtual");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        virtual.getMethod("name", String.class).invoke(builder, GROUP + "1");
        return (Thread) virtual.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void dive(int depth, CountDownLatch goHome) {
        if (depth == 0) {
            serve(goHome);
        } else {
            dive(depth - 1, goHome);
        }
    }

    private static void serve(CountDownLatch goHome) {
        while (goHome.getCount() > 0) {
            LockSupport.parkNanos(PARK_NANOS);
            work(System.nanoTime() + WORK_NANOS);
        }
    }

    private static void work(long end) {
        long value = sink;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1000; i++) {
                value = value * 31 + i;
            }
        }
        sink = value;
    }

    private static List<String> linesOf(ThreadsSampler sampler) {
        try (SamplingReport report = sampler.snapshot()) {
            return report.toString(ReportFormat.COLLAPSED)
                    .lines()
                    .filter(line -> line.startsWith(GROUP + ";"))
                    .toList();
        }
    }

    /* Compares all frames except the one that works, whose line changes. */
    private static boolean sawAsItIs(ThreadsSampler sampler, Thread thread) {
        String shown = ShownStack.of(thread);
        int end = shown.indexOf(CLASS + "serve(");
        return linesOf(sampler).stream()
                .map(ShownStack::ofLine)
                .anyMatch(line -> end > 0
                        && line.startsWith(shown.substring(0, end) + CLASS + "serve(")
                        && line.contains(CLASS + "work("));
    }

    private static void addTo(long[] seen, List<String> lines) {
        for (String line : lines) {
            boolean isWhole = line.startsWith(GROUP + ";java.lang.VirtualThread.run(");
            seen[isWhole ? 0 : 1] +=
                    TimeUnit.NANOSECONDS.toMicros(Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)));
        }
    }
}
