// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import counted.Edges;
import counted.FailingHook;
import counted.Failures;
import java.util.Map;

/**
 * Counts the program's calls while the hooks of {@link HookingAgent} throw. Prints the number of exact rounds, or a
 * difference.
 */
public final class HookedCallsProgram {

    private static final int ROUNDS = 12;
    private static final int WARM_UPS = 200;
    private static final int RUNS = 60;
    private static final int TIMES = 8;

    private HookedCallsProgram() {}

    /** Arguments: Instrumentation, MethodTiming, and whether the agent's hooks were inserted before the probes. */
    public static void main(String[] arguments) throws Exception {
        boolean isOlder = arguments[2].equals("OLDER");
        if (isOlder) {
            HookingAgent.hook();
        }
        try (ThreadsSampler sampler = Samplers.quick(new Recorder())) {
            sampler.setOverheadLimitPercent(100); // no method loses its probes
            sampler.setRootMethods("counted.Failures.root");
            sampler.setInstrumentationFilter("counted.Failures*");
            sampler.setMaxCallNodes(1_000_000);
            sampler.setInstrumentation(Instrumentation.valueOf(arguments[0]));
            sampler.setMethodTiming(MethodTiming.valueOf(arguments[1]));
            sampler.init();
            run(0);
            if (!isOlder) {
                HookingAgent.hook();
            }
            FailingHook.begin();
            System.out.println(roundsOf(sampler));
        }
    }

    /* Repeats rounds until all methods have their probes; from then on each round is exact. */
    private static String roundsOf(ThreadsSampler sampler) throws InterruptedException {
        int exact = 0;
        String last = "";
        for (int round = 0; round < WARM_UPS && exact < ROUNDS; round++) {
            take(sampler);
            Edges.reset();
            run(round);
            Map<String, Long> counted = take(sampler);
            boolean isExact = counted.equals(Edges.counts());
            last = "counted " + counted + ", are " + Edges.counts();
            if (!isExact && exact > 0) {
                return "after " + exact + " exact rounds: " + last;
            }
            exact += isExact ? 1 : 0;
        }
        return exact == ROUNDS ? "all rounds are exact" : last;
    }

    private static Map<String, Long> take(ThreadsSampler sampler) {
        try (SamplingReport report = sampler.snapshot()) {
            return CountedEdges.of(report);
        }
    }

    private static void run(int round) throws InterruptedException {
        Thread thread = new Thread(() -> {
            for (int i = 0; i < RUNS; i++) {
                try {
                    Failures.run(round * (long) RUNS + i, TIMES, false);
                } catch (RuntimeException | Error e) {
                    // the exception of a hook in the root
                }
            }
        });
        thread.start();
        thread.join();
    }
}
