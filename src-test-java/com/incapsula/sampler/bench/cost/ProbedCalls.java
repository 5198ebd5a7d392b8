// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import counted.HotCalls;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/** The CPU time of a call that a tool counts or times, compared with a call of an equal method without a probe. */
public final class ProbedCalls {

    /** The class whose methods the tool counts. */
    static final String PROBED = HotCalls.Probed.class.getName();

    /** The root methods, for tools that need them. */
    static final String ROOTS = HotCalls.ProbedLoops.class.getName() + ".*";

    /** A flag of the JVM. */
    static final String NOT_INLINED = "-XX:CompileCommand=dontinline," + HotCalls.class.getName() + "$*::apart";

    private static final int WARM_UP_SECONDS = 4;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private ProbedCalls() {}

    /**
     * The measured program.
     *
     * @param arguments a constant of CallTool, the calls of a round, rounds
     */
    public static void main(String... arguments) throws Exception {
        CallTool tool = CallTool.valueOf(arguments[0]);
        int calls = tool.callsOf(Integer.parseInt(arguments[1]));
        int rounds = Integer.parseInt(arguments[2]);
        CallTool.Meter meter = tool.meter();
        if (!meter.isThere()) {
            return;
        }
        runAll(1);
        meter.start();
        /* Runs until LAZY has found all methods, and all code is compiled again. */
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(WARM_UP_SECONDS);
        while (System.nanoTime() < until) {
            runAll(calls / 10);
        }
        measure(
                "a call that is not inlined",
                calls,
                rounds,
                HotCalls.PlainLoops::callsApart,
                HotCalls.ProbedLoops::callsApart);
        measure(
                "an inlined call",
                calls,
                rounds,
                HotCalls.PlainLoops::callsInlined,
                HotCalls.ProbedLoops::callsInlined);
        long seen = meter.stop();
        if (seen < 2L * rounds * calls) {
            throw new IllegalStateException(tool + " has seen " + seen + " calls");
        }
        System.exit(0);
    }

    private static void runAll(int calls) {
        HotCalls.PlainLoops.callsApart(calls);
        HotCalls.ProbedLoops.callsApart(calls);
        HotCalls.PlainLoops.callsInlined(calls);
        HotCalls.ProbedLoops.callsInlined(calls);
    }

    private static void measure(String what, int calls, int rounds, IntConsumer plain, IntConsumer probed) {
        List<Double> without = new ArrayList<>();
        List<Double> with = new ArrayList<>();
        for (int i = 0; i < rounds; i++) {
            without.add(nanosOf(plain, calls));
            with.add(nanosOf(probed, calls));
        }
        Jvm.tell(what, Figures.median(with), Figures.median(without), HotCalls.sink());
    }

    private static double nanosOf(IntConsumer loop, int calls) {
        long start = THREADS.getCurrentThreadCpuTime();
        loop.accept(calls);
        return (double) (THREADS.getCurrentThreadCpuTime() - start) / calls;
    }
}
