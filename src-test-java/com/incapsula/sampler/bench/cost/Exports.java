// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Maze;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The time to write a report of 120,000 nodes in each format, from the call of writeTo to its end. */
public final class Exports {

    private static final Map<ReportFormat, Double> BARS_MS =
            Map.of(ReportFormat.COLLAPSED, 150.0, ReportFormat.PPROF, 200.0, ReportFormat.HTML, 400.0);
    private static final double BAR_MB = 8;
    private static final int THREADS = 134;
    private static final int STEPS = 450; // each step is two frames
    private static final int WARM_UPS = 5;
    private static final int GROUPS = 8;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_MB = 1e6;

    private Exports() {}

    /**
     * Runs everything.
     *
     * @param plan the number of writes per format is proportional to the rounds; the number of threads is scaled
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "Writing one report, from writeTo to its return (engine " + Peer.HYBRID + ")",
                "JDK",
                "format",
                "nodes",
                "output, MB",
                "ms",
                "spread",
                "bar",
                "native memory beside it, MB",
                "bar",
                "all heap allocation of a write, MB");
        for (Path jdk : plan.jdks()) {
            Map<ReportFormat, List<double[]>> writes = new LinkedHashMap<>();
            for (String[] cells : Jvm.of(jdk, List.of())
                    .run(Exports.class, Integer.toString(plan.scaled(THREADS)), Integer.toString(plan.rounds()))) {
                double[] figures = new double[cells.length - 1];
                for (int k = 0; k < figures.length; k++) {
                    figures[k] = Double.parseDouble(cells[1 + k]);
                }
                writes.computeIfAbsent(ReportFormat.valueOf(cells[0]), key -> new ArrayList<>())
                        .add(figures);
            }
            writes.forEach((format, rows) -> {
                List<Double> millis = rows.stream().map(row -> row[2]).toList();
                Double bar = BARS_MS.get(format);
                table.row(
                        Jvm.version(jdk),
                        format,
                        Math.round(rows.get(0)[0]),
                        rows.get(0)[1],
                        Figures.median(millis),
                        Figures.spread(millis),
                        bar == null ? "" : Table.atMost(Figures.median(millis), bar),
                        rows.get(0)[3],
                        bar == null ? "" : Table.atMost(rows.get(0)[3], BAR_MB),
                        median(rows, 4));
            });
        }
        table.note("The stream counts bytes and throws them away. Native memory: the highest while it is written, less"
                + " what there was before. `native/build.sh bench --only export` measures the writers alone.");
        return List.of(table);
    }

    private static double median(List<double[]> rows, int column) {
        return Figures.median(rows.stream().map(row -> row[column]).toList());
    }

    /** Counts bytes and drops them. */
    private static final class Counter extends OutputStream {

        private long bytes;

        @Override
        public void write(int value) {
            bytes++;
        }

        @Override
        public void write(byte[] from, int offset, int length) {
            bytes += length;
        }
    }

    /**
     * The measured program.
     *
     * @param arguments threads, measured writes
     */
    public static void main(String... arguments) throws Exception {
        for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
            Random random = new Random(i);
            Worker.doing("pool" + (char) ('a' + i % GROUPS) + "-" + i, goHome -> Maze.walk(random, STEPS, goHome))
                    .awaitWaiting();
        }
        /* Each format has a sampler of its own, so that the memory peak is that of one format. */
        for (ReportFormat format : ReportFormat.values()) {
            measure(format, Integer.parseInt(arguments[1]));
        }
        System.exit(0);
    }

    private static void measure(ReportFormat format, int writes) throws IOException, InterruptedException {
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setSamplingFrequencyMillis(20);
            sampler.setReportFrequencySeconds(0);
            sampler.init();
            Samplers.awaitTicks(sampler, 20); // the number of ticks does not matter
            sampler.pauseSampling();
            try (SamplingReport report = sampler.snapshot()) {
                long before = sampler.getStatistics().getMemoryUsedBytes();
                for (int i = 0; i < WARM_UPS; i++) {
                    report.writeTo(format, new Counter());
                }
                double beside = Math.max(0, sampler.getStatistics().getMemoryPeakBytes() - before) / BYTES_PER_MB;
                for (int i = 0; i < writes; i++) {
                    write(report, format, beside);
                }
            }
        }
    }

    private static void write(SamplingReport report, ReportFormat format, double beside) throws IOException {
        Counter out = new Counter();
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocated = threads.getCurrentThreadAllocatedBytes();
        long start = System.nanoTime();
        report.writeTo(format, out);
        double millis = (System.nanoTime() - start) / NANOS_PER_MILLI;
        Jvm.tell(
                format,
                report.getNodes(),
                out.bytes / BYTES_PER_MB,
                millis,
                beside,
                (threads.getCurrentThreadAllocatedBytes() - allocated) / BYTES_PER_MB);
    }
}
