// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;

/**
 * Native code uses CPU time, attaches its thread, calls Java code that computes, and keeps the thread alive. One
 * interval ends during the call, another one afterwards. Prints CPU times in nanoseconds. Arguments: the test library,
 * the clock.
 */
public final class AttachedThreadProgram {

    /** The CPU time that the thread uses before it is attached. */
    public static final long BEFORE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long IN_JAVA_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private AttachedThreadProgram() {}

    /** @return the CPU time of the thread while it was attached; the thread stays alive */
    private static native long call(long beforeNanos, Runnable task);

    private static native void end();

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        SamplingReport[] reports = new SamplingReport[2];
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setClock(SamplingClock.valueOf(arguments[1]));
            sampler.setSamplingFrequencyMillis(5);
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingOutputer(SamplingOutputer.of(SamplingReport::close));
            sampler.init();
            long used = call(BEFORE_NANOS, () -> {
                compute();
                reports[0] = sampler.snapshot();
            });
            reports[1] = sampler.snapshot();
            System.out.println("used " + used);
        }
        end();
        System.out.println("worker "
                + (Samplers.cpuOf(reports[0], "native-worker") + Samplers.cpuOf(reports[1], "native-worker")));
        System.out.println("jvm " + Samplers.cpuOf(reports[1], "[JVM]"));
        System.out.println("fine");
    }

    private static void compute() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long end = threads.getCurrentThreadCpuTime() + IN_JAVA_NANOS;
        while (threads.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
    }
}
