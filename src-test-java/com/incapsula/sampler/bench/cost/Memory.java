// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.incapsula.sampler.testing.ProcessStatus;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Resident memory with and without a sampler, for a program of moderate size: eight threads create a Spring context
 * again and again, and 50 threads wait; some 4,000 classes. The heap is fixed and touched beforehand.
 */
public final class Memory {

    private static final String NOTHING = "no sampler";
    private static final double BAR_MB = 6;
    private static final int WORKERS = 8;
    private static final int PARKED = 50;
    private static final int DEPTH = 40;
    private static final int RUNS = 120;
    private static final long INTERVAL_MILLIS = 20;
    private static final double KILO = 1024;

    private Memory() {}

    /**
     * Runs everything.
     *
     * @param plan the program is sampled for several windows
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "Resident memory, MB, of a program of middle size",
                "JDK",
                "sampler",
                "resident median",
                "spread",
                "added",
                "counted by the sampler, peak",
                "bar");
        for (Path jdk : plan.jdks()) {
            Map<String, List<double[]>> runs = new LinkedHashMap<>();
            for (int i = 0; i < plan.rounds(); i++) {
                for (String engine : List.of(NOTHING, "AUTO", "JVMTI")) {
                    String[] cells = Jvm.of(
                                    jdk,
                                    List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-XX:TieredStopAtLevel=1"))
                            .run(Memory.class, engine, plan.windowMillis(), plan.scaled(RUNS))
                            .get(0);
                    runs.computeIfAbsent(name(engine, cells[2]), key -> new ArrayList<>())
                            .add(new double[] {Double.parseDouble(cells[0]), Double.parseDouble(cells[1])});
                }
            }
            double none = median(runs.get(NOTHING), 0);
            runs.forEach((name, rows) -> {
                double added = median(rows, 0) - none;
                table.row(
                        Jvm.version(jdk),
                        name,
                        median(rows, 0),
                        Figures.spread(rows.stream().map(row -> row[0]).toList()),
                        added,
                        median(rows, 1),
                        name.startsWith(Peer.HYBRID) ? Table.atMost(added, BAR_MB) : "");
            });
        }
        table.note("Each run is a JVM of its own, in turn; the same work in each. Only the first compiler is used,"
                + " because what the second one takes differs by tens of MB from run to run.");
        return List.of(table);
    }

    private static String name(String engine, String found) {
        return engine.equals(NOTHING)
                ? NOTHING
                : (engine.equals("AUTO") ? Peer.HYBRID : Peer.JVMTI) + " (" + found + ")";
    }

    private static double median(List<double[]> rows, int column) {
        return Figures.median(rows.stream().map(row -> row[column]).toList());
    }

    /** A bean for Spring to create. */
    @Configuration
    public static class Beans {
        @Bean
        public List<String> names() {
            return List.of("some", "names");
        }
    }

    /**
     * The measured program.
     *
     * @param arguments the engine, milliseconds, the number of contexts
     */
    public static void main(String... arguments) throws Exception {
        SamplerPeer sampler = arguments[0].equals(NOTHING)
                ? null
                : new SamplerPeer(SamplingEngine.valueOf(arguments[0]), INTERVAL_MILLIS);
        Crowd.gather(PARKED, DEPTH);
        if (sampler != null) {
            sampler.start();
        }
        long end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000;
        int runs = Integer.parseInt(arguments[2]);
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        for (int i = 0; i < runs; i++) {
            workers.submit(() -> {
                        new AnnotationConfigApplicationContext(Beans.class).close();
                    })
                    .get();
        }
        while (System.nanoTime() < end) {
            Thread.sleep(10);
        }
        double resident = ProcessStatus.kilobytes("VmRSS") / KILO;
        double peak = sampler == null ? Double.NaN : sampler.statistics().getMemoryPeakBytes() / KILO / KILO;
        Jvm.tell(resident, peak, sampler == null ? "" : sampler.statistics().getEngine());
        System.exit(0);
    }
}
