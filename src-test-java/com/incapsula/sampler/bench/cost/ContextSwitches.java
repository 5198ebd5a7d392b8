// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Do polls every millisecond wake parked threads? */
public final class ContextSwitches {

    private static final int THREADS = 100;
    private static final int DEPTH = 20;

    private ContextSwitches() {}

    /**
     * Runs everything.
     *
     * @param plan rounds times window is the time for which parked threads are polled
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        int threads = plan.scaled(THREADS);
        Table table = new Table(
                "Context switches of " + threads + " parked threads, polled every ms for "
                        + plan.rounds() * plan.windowMillis() / 1000.0 + " s",
                "JDK",
                "profiler",
                "voluntary and involuntary",
                "bar");
        for (Path jdk : plan.jdks()) {
            for (String[] cells :
                    Jvm.of(jdk, List.of()).run(ContextSwitches.class, threads, plan.rounds() * plan.windowMillis())) {
                if (cells[0].equals("walks")) {
                    table.note("Stacks walked by the hybrid meanwhile, of all threads, JDK " + Jvm.version(jdk) + ": "
                            + cells[1]);
                    continue;
                }
                table.row(
                        Jvm.version(jdk),
                        cells[0],
                        cells[1],
                        cells[0].startsWith(Peer.HYBRID) ? Table.atMost(Double.parseDouble(cells[1]), 0) : "");
            }
        }
        return List.of(table);
    }

    /**
     * The measured program.
     *
     * @param arguments threads, milliseconds; a third one: the hybrid engine only
     */
    public static void main(String... arguments) throws Exception {
        long millis = Long.parseLong(arguments[1]);
        Crowd.gather(Integer.parseInt(arguments[0]), DEPTH);
        SamplerPeer hybrid = new SamplerPeer(SamplingEngine.AUTO, 1);
        hybrid.start();
        long walks = walks(hybrid.statistics());
        measure(Peer.HYBRID + " (" + hybrid.statistics().getEngine() + ")", millis);
        Jvm.tell("walks", walks(hybrid.statistics()) - walks);
        hybrid.stop(thread -> false);
        if (arguments.length > 2) {
            System.exit(0);
        }
        SamplerPeer jvmti = new SamplerPeer(SamplingEngine.JVMTI, 1);
        jvmti.start();
        measure(Peer.JVMTI + " (" + jvmti.statistics().getEngine() + ")", millis);
        jvmti.stop(thread -> false);
        AsyncProfilerPeer.start("wall", 1);
        measure(Peer.ASYNC + ", wall mode", millis);
        AsyncProfilerPeer.end();
        System.exit(0);
    }

    private static long walks(SamplerStatistics statistics) {
        return statistics.getPolls() - statistics.getOutcomes().get("IDLE");
    }

    /* The first polls may walk stacks, which also needs no action of the threads. */
    private static void measure(String name, long millis) throws Exception {
        Map<String, Long> before = Tasks.switches(Crowd.NAME);
        if (before.isEmpty()) {
            throw new IllegalStateException("no thread is called " + Crowd.NAME);
        }
        Thread.sleep(millis);
        Jvm.tell(name, Tasks.grown(before, Tasks.switches(Crowd.NAME)));
    }
}
