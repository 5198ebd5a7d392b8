// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The time from init() to the first sample in a fresh JVM, including extracting and loading the library. */
public final class FirstSample {

    private static final double BAR = 30;
    private static final int JVMS_PER_ROUND = 3;
    private static final int THREADS = 20;
    private static final int DEPTH = 20;
    private static final double NANOS_PER_MILLI = 1e6;
    private static String found = "";

    private FirstSample() {}

    /**
     * Runs everything.
     *
     * @param plan three JVMs per engine and round
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "From init() to the first sample, ms, in a fresh JVM with " + THREADS + " threads",
                "JDK",
                "engine",
                "loading the library",
                "the rest of init()",
                "to the first sample",
                "together",
                "spread",
                "a second start, together",
                "bar");
        for (Path jdk : plan.jdks()) {
            Map<String, List<double[]>> starts = new LinkedHashMap<>();
            for (int i = 0; i < plan.rounds() * JVMS_PER_ROUND; i++) {
                for (String engine : List.of("AUTO", "JVMTI")) {
                    String[] cells = Jvm.of(jdk, List.of())
                            .run(FirstSample.class, engine)
                            .get(0);
                    String name = (engine.equals("AUTO") ? Peer.HYBRID : Peer.JVMTI) + " (" + cells[0] + ")";
                    double[] figures = new double[cells.length - 1];
                    for (int k = 0; k < figures.length; k++) {
                        figures[k] = Double.parseDouble(cells[1 + k]);
                    }
                    starts.computeIfAbsent(name, key -> new ArrayList<>()).add(figures);
                }
            }
            starts.forEach((name, rows) -> {
                List<Double> together =
                        rows.stream().map(row -> row[0] + row[1] + row[2]).toList();
                table.row(
                        Jvm.version(jdk),
                        name,
                        median(rows, 0),
                        median(rows, 1),
                        median(rows, 2),
                        Figures.median(together),
                        Figures.spread(together),
                        median(rows, 3),
                        name.startsWith(Peer.HYBRID) ? Table.atMost(Figures.median(together), BAR) : "");
            });
        }
        table.note("Interval 1 ms. A sample is a poll of a thread that had time to credit, so its second poll.");
        return List.of(table);
    }

    private static double median(List<double[]> rows, int column) {
        return Figures.median(rows.stream().map(row -> row[column]).toList());
    }

    /**
     * The measured program.
     *
     * @param arguments engine
     */
    public static void main(String... arguments) throws Exception {
        Crowd.gather(THREADS, DEPTH);
        SamplingEngine engine = SamplingEngine.valueOf(arguments[0]);
        long start = System.nanoTime();
        if (!ThreadsSampler.isAvailable()) {
            throw new IllegalStateException(ThreadsSampler.unavailabilityCause());
        }
        double loading = (System.nanoTime() - start) / NANOS_PER_MILLI;
        double[] first = start(engine);
        double[] second = start(engine);
        Jvm.tell(found, loading, first[0], first[1], second[0] + second[1]);
        System.exit(0);
    }

    /* Milliseconds in init(), and from its end to the first sample. */
    private static double[] start(SamplingEngine engine) throws IOException {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setEngine(engine);
            sampler.setSamplingFrequencyMillis(1);
            sampler.setReportFrequencySeconds(0);
            long start = System.nanoTime();
            sampler.init();
            long started = System.nanoTime();
            while (sampler.getStatistics().getPolls() == 0) {
                Thread.onSpinWait();
            }
            long sampled = System.nanoTime();
            found = sampler.getStatistics().getEngine();
            return new double[] {(started - start) / NANOS_PER_MILLI, (sampled - started) / NANOS_PER_MILLI};
        }
    }
}
