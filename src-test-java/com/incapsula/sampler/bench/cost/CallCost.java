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

/**
 * The cost of counting for a single call and for programs of other authors, compared with other tools. Each runs in a
 * JVM of its own, in turn. The tables are shown after each JVM.
 */
public final class CallCost {

    private static final int WARM_UP_WINDOWS = 4;
    private static final int WINDOWS = 15; /* windows with the tool */
    private static final int LAST_WINDOWS = 5;
    private static final double STABLE = 0.1; /* the medians of the last windows differ by at most this share */
    private static final int TIMES_PLANNED = 2; /* a JVM is stopped after this multiple of the planned time */
    private static final int SECONDS_OF_START = 10; /* upper bound for the start of a JVM and the tool */
    private static final double NS_PER_MILLI = 1e6;
    private static final double KB_PER_MB = 1024;

    /* The figures that a JVM prints after each window with the tool. */
    private static final int CPU = 0;
    private static final int STABLE_AFTER = 1;
    private static final int MEMORY = 2;
    private static final int SEEN = 3;

    private CallCost() {}

    /**
     * Runs everything.
     *
     * @param plan how long and how often
     * @param only a regular expression that selects programs
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            tables.add(new Table("nothing is measured yet"));
            Map<CallCostWork, Map<CallCostTool, List<double[]>>> all = new EnumMap<>(CallCostWork.class);
            for (CallCostWork work : CallCostWork.values()) {
                for (int i = 0; i < plan.rounds() && work.name().matches(only.toUpperCase(Locale.ROOT)); i++) {
                    for (CallCostTool tool : CallCostTool.values()) {
                        measure(
                                plan,
                                jdk,
                                work,
                                tool,
                                all.computeIfAbsent(work, key -> new EnumMap<>(CallCostTool.class)));
                        tables.set(tables.size() - 1, tableOf(plan, jdk, all));
                        plan.shown().accept(tables);
                    }
                }
            }
        }
        return tables;
    }

    /* A JVM that is stopped has printed its figures up to then. */
    private static void measure(
            Plan plan, Path jdk, CallCostWork work, CallCostTool tool, Map<CallCostTool, List<double[]>> runs)
            throws IOException, InterruptedException {
        long millis = plan.windowMillis() * work.windows();
        List<String[]> told = Jvm.of(jdk, List.of())
                .cutAfter(cutAfterSeconds(millis))
                .run(CallCost.class, work, tool, plan.sources(), plan.scale(), millis);
        if (told.isEmpty()) {
            return;
        }
        String[] cells = told.get(told.size() - 1);
        double[] figures = new double[cells.length];
        for (int k = 0; k < cells.length; k++) {
            figures[k] = Double.parseDouble(cells[k]);
        }
        runs.computeIfAbsent(tool, key -> new ArrayList<>()).add(figures);
        System.out.printf(
                Locale.ROOT,
                "%s, %s: %.3f ms CPU of a pass, %.0f windows%n",
                work.name().toLowerCase(Locale.ROOT),
                tool.text(),
                figures[CPU],
                figures[SEEN]);
    }

    private static long cutAfterSeconds(long windowMillis) {
        return SECONDS_OF_START + TIMES_PLANNED * (WARM_UP_WINDOWS + WINDOWS) * windowMillis / 1000;
    }

    private static Table tableOf(Plan plan, Path jdk, Map<CallCostWork, Map<CallCostTool, List<double[]>>> all) {
        Table table = new Table(
                "What counting calls costs, JDK " + Jvm.version(jdk),
                "program",
                "counted by",
                "CPU of a pass, ms",
                "ns added per call",
                "of a pass that is not counted",
                "stable after, s",
                "memory, MB more",
                "windows");
        all.forEach((work, runs) -> addRows(table, runs, work));
        table.note("Each JVM runs the program for " + WARM_UP_WINDOWS + " windows, starts the tool, and goes on for "
                + WINDOWS + " windows, of which it counts the last " + LAST_WINDOWS + ": the CPU is the median of the"
                + " medians of their passes. A window has " + plan.windowMillis() + " ms, and "
                + CallCostWork.JAVAC.windows()
                + " times as much where the program is no shape. Stable: from then on each"
                + " window is within " + Math.round(100 * STABLE) + " % of that. Memory: the most that the process had,"
                + " less that without a tool. Medians of " + plan.rounds() + " JVMs, in turn.");
        table.note(
                "Windows: fewer than " + WINDOWS + " where the row was cut at " + TIMES_PLANNED + " times the planned"
                        + " time; its figures are those of its last windows. 0: not one window with the tool has ended by then."
                        + " A tool that is missing does not exist on this JDK, or for this program.");
        return table;
    }

    private static void addRows(Table table, Map<CallCostTool, List<double[]>> all, CallCostWork work) {
        List<double[]> without = all.get(CallCostTool.NOTHING);
        all.forEach((tool, runs) -> {
            double cpu = median(runs, CPU);
            boolean isAlone = tool == CallCostTool.NOTHING || without == null;
            table.row(
                    work.name().toLowerCase(Locale.ROOT),
                    tool.text(),
                    cpu,
                    isAlone || work.calls() == 0 ? null : (cpu - median(without, CPU)) * NS_PER_MILLI / work.calls(),
                    isAlone ? null : cpu / median(without, CPU),
                    isAlone ? null : median(runs, STABLE_AFTER),
                    isAlone ? null : median(runs, MEMORY) - median(without, MEMORY),
                    Math.round(median(runs, SEEN)));
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
            Jvm.tell(Double.NaN, Double.NaN, Double.NaN, 0);
            CountedWork.Pass pass = work.prepare(Path.of(arguments[2]), Double.parseDouble(arguments[3]));
            runFor(window * WARM_UP_WINDOWS, pass);
            measure(tool, work, pass, window);
        }
        System.exit(0);
    }

    private static void measure(CallCostTool tool, CallCostWork work, CountedWork.Pass pass, long window)
            throws Exception {
        long start = System.nanoTime();
        CountedWork.Pass counted = tool.start(work, pass);
        List<Double> medians = new ArrayList<>();
        List<Double> ends = new ArrayList<>();
        long most = TimeUnit.MILLISECONDS.toNanos(TIMES_PLANNED * WINDOWS * window);
        for (int i = 0; i < WINDOWS && System.nanoTime() - start < most; i++) {
            medians.add(runFor(window, counted));
            ends.add((System.nanoTime() - start) / (double) TimeUnit.SECONDS.toNanos(1));
            double last = Figures.median(medians.subList(Math.max(0, i + 1 - LAST_WINDOWS), i + 1));
            Jvm.tell(last, stableAfter(medians, ends, last), mostMegabytes(), i + 1);
        }
    }

    /* The end of the last window that differs from the final speed; 0 if none does. */
    private static double stableAfter(List<Double> medians, List<Double> ends, double last) {
        double after = 0;
        for (int i = 0; i < medians.size(); i++) {
            after = Math.abs(medians.get(i) / last - 1) > STABLE ? ends.get(i) : after;
        }
        return after;
    }

    /* Runs passes for this time; returns the median of their CPU times, in milliseconds. */
    private static double runFor(long millis, CountedWork.Pass pass) throws Exception {
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
