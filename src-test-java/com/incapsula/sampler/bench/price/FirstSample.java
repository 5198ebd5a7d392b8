// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.price;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How long a fresh JVM waits from init() to the first sample; writing out and loading the library is included. */
public final class FirstSample {

    private static final double BAR = 30;
    private static final int JVMS_PER_ROUND = 3;
    private static final int THREADS = 20;
    private static final int DEPTH = 20;

    private FirstSample() {
    }

    /**
     * Runs everything.
     *
     * @param plan rounds times three JVMs per engine
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table("From init() to the first sample, ms, in a fresh JVM with " + THREADS + " threads",
                "JDK", "engine", "init() median", "first sample median", "spread",
                "second init() to first sample", "bar");
        for (Path jdk : plan.jdks()) {
            Map<String, List<double[]>> starts = new LinkedHashMap<>();
            for (int i = 0; i < plan.rounds() * JVMS_PER_ROUND; i++) {
                for (String engine : List.of("AUTO", "JVMTI")) {
                    String[] cells = Jvm.of(jdk, List.of()).run(FirstSample.class, engine).get(0);
                    String name = (engine.equals("AUTO") ? Peer.HYBRID : Peer.JVMTI) + " (" + cells[3] + ")";
                    starts.computeIfAbsent(name, key -> new ArrayList<>()).add(new double[] {
                            Double.parseDouble(cells[0]), Double.parseDouble(cells[1]), Double.parseDouble(cells[2])});
                }
            }
            starts.forEach((name, rows) -> {
                double first = Figures.median(rows.stream().map(row -> row[1]).toList());
                table.row(Jvm.version(jdk), name, Figures.median(rows.stream().map(row -> row[0]).toList()), first,
                        Figures.spread(rows.stream().map(row -> row[1]).toList()),
                        Figures.median(rows.stream().map(row -> row[2]).toList()),
                        name.startsWith(Peer.HYBRID) ? Table.atMost(first, BAR) : "");
            });
        }
        table.note("Interval 1 ms. A sample is a look at a thread that had time to credit, so the second look at it.");
        return List.of(table);
    }

    /**
     * The measured program.
     *
     * @param arguments engine
     */
    public static void main(String... arguments) throws Exception {
        Crowd.gather(THREADS, DEPTH);
        SamplerPeer first = new SamplerPeer(SamplingEngine.valueOf(arguments[0]), 1);
        double[] cold = start(first);
        String engine = first.statistics().getEngine();
        first.stop(thread -> false);
        SamplerPeer second = new SamplerPeer(SamplingEngine.valueOf(arguments[0]), 1);
        double[] warm = start(second);
        second.stop(thread -> false);
        Jvm.tell(cold[0], cold[1], warm[1], engine);
        System.exit(0);
    }

    private static double[] start(SamplerPeer sampler) {
        long start = System.nanoTime();
        sampler.start();
        double init = (System.nanoTime() - start) / 1e6;
        while (sampler.statistics().getAttempts() == 0) {
            Thread.onSpinWait();
        }
        return new double[] {init, (System.nanoTime() - start) / 1e6};
    }
}
