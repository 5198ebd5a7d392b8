// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** What counting costs a call, and programs of other authors, beside other tools: each in a JVM of its own, in turn. */
public final class CallCost {

    private static final int WARM_UP_WINDOWS = 4;
    private static final int WINDOWS = 15; /* with the tool */
    private static final int LAST_WINDOWS = 5;
    private static final double STABLE = 0.1; /* within this share of the last windows */
    private static final double NS_PER_MILLI = 1e6;
    private static final double KB_PER_MB = 1024;

    private CallCost() {}

    /**
     * Runs everything.
     *
     * @param plan how long and how often
     * @param only of the programs
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "What counting calls costs, JDK " + Jvm.version(jdk),
                    "program",
                    "counted by",
                    "CPU of a pass, ms",
                    "ns added per call",
                    "of a pass that is not counted",
                    "stable after, s",
                    "memory, MB more");
            for (CallCostWork work : CallCostWork.values()) {
                if (work.name().matches(only.toUpperCase(Locale.ROOT))) {
                    addRows(table, measure(plan, jdk, work), work);
                }
            }
            table.note(
                    "Each JVM runs the program for " + WARM_UP_WINDOWS + " windows, starts the tool, and goes on for "
                            + WINDOWS + " windows. CPU: the median of the passes of the last " + LAST_WINDOWS
                            + " windows. Stable: from then on each window's median is within "
                            + Math.round(100 * STABLE) + " % of that. Memory: the most that the process had, less that"
                            + " without a tool. Medians of " + plan.rounds() + " JVMs, in turn.");
            tables.add(table);
        }
        return tables;
    }

    private static Map<CallCostTool, List<double[]>> measure(Plan plan, Path jdk, CallCostWork work)
            throws IOException, InterruptedException {
        Map<CallCostTool, List<double[]>> all = new EnumMap<>(CallCostTool.class);
        for (int i = 0; i < plan.rounds(); i++) {
            for (CallCostTool tool : CallCostTool.values()) {
                for (String[] cells : Jvm.of(jdk, List.of())
                        .run(CallCost.class, work, tool, plan.sources(), plan.scale(), plan.windowMillis())) {
                    double[] figures = new double[cells.length];
                    for (int k = 0; k < cells.length; k++) {
                        figures[k] = Double.parseDouble(cells[k]);
                    }
                    all.computeIfAbsent(tool, key -> new ArrayList<>()).add(figures);
                }
            }
        }
        return all;
    }

    private static void addRows(Table table, Map<CallCostTool, List<double[]>> all, CallCostWork work) {
        double plain = median(all.get(CallCostTool.NOTHING), 0);
        double memory = median(all.get(CallCostTool.NOTHING), 2);
        all.forEach((tool, runs) -> {
            double cpu = median(runs, 0);
            boolean isPlain = tool == CallCostTool.NOTHING;
            table.row(
                    work.name().toLowerCase(Locale.ROOT),
                    tool.text(),
                    cpu,
                    isPlain || work.calls() == 0 ? null : (cpu - plain) * NS_PER_MILLI / work.calls(),
                    isPlain ? null : cpu / plain,
                    isPlain ? null : median(runs, 1),
                    isPlain ? null : median(runs, 2) - memory);
        });
    }

    private static double median(List<double[]> runs, int column) {
        return Figures.median(runs.stream().map(run -> run[column]).toList());
    }

    /**
     * The measured program.
     *
     * @param arguments work, tool, folder of sources, scale, milliseconds of a window
     */
    public static void main(String... arguments) throws Exception {
        CallCostWork work = CallCostWork.valueOf(arguments[0]);
        CallCostTool tool = CallCostTool.valueOf(arguments[1]);
        long window = Long.parseLong(arguments[4]);
        if (tool.isFor(work)) {
            CountedWork.Pass pass = work.prepare(Path.of(arguments[2]), Double.parseDouble(arguments[3]));
            for (int i = 0; i < WARM_UP_WINDOWS; i++) {
                runWindow(pass, window);
            }
            long start = System.nanoTime();
            CountedWork.Pass counted = tool.start(work, pass);
            List<Double> medians = new ArrayList<>();
            List<Double> ends = new ArrayList<>();
            for (int i = 0; i < WINDOWS; i++) {
                medians.add(runWindow(counted, window));
                ends.add((System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1));
            }
            double last = Figures.median(medians.subList(WINDOWS - LAST_WINDOWS, WINDOWS));
            Jvm.tell(last, stableAfter(medians, ends, last), mostMegabytes());
        }
        System.exit(0);
    }

    /* The end of the last window that differs; 0: none does. */
    private static double stableAfter(List<Double> medians, List<Double> ends, double last) {
        double after = 0;
        for (int i = 0; i < medians.size(); i++) {
            after = Math.abs(medians.get(i) / last - 1) > STABLE ? ends.get(i) : after;
        }
        return after;
    }

    /* The median of its passes' CPU time, in milliseconds. */
    private static double runWindow(CountedWork.Pass pass, long millis) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        List<Double> passes = new ArrayList<>();
        long start = System.nanoTime();
        do {
            long before = threads.getCurrentThreadCpuTime();
            pass.run();
            passes.add((threads.getCurrentThreadCpuTime() - before) / NS_PER_MILLI);
        } while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(millis));
        return Figures.median(passes);
    }

    private static double mostMegabytes() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToDouble(line -> Double.parseDouble(line.replaceAll("\\D", "")) / KB_PER_MB)
                .findFirst()
                .orElseThrow();
    }
}
