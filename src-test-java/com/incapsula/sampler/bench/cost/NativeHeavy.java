// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import one.profiler.AsyncProfiler;

/** The cost of a profiler for programs that spend most of their time in native methods. */
public final class NativeHeavy {

    private static final String NOTHING = "no profiler";
    private static final int INTERVAL_MILLIS = 1;
    private static final int WARM_UP_WINDOWS = 4;
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final int WORK = 0;
    private static final int WORK_PER_CPU = 1;
    private static final int OWN_CPU = 2;
    private static final int SAMPLES = 3;

    private NativeHeavy() {}

    /**
     * Runs everything.
     *
     * @param plan how long
     * @param only a regular expression that selects programs
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Programs in native code, every " + INTERVAL_MILLIS + " ms, JDK " + Jvm.version(jdk),
                    "program",
                    "profiler",
                    "work of none",
                    "95 % confidence ±",
                    "work per CPU second of none",
                    "95 % confidence ±",
                    "own CPU ms per s",
                    "samples per s",
                    "bar");
            for (NativeWork work : NativeWork.values()) {
                if (work.name().matches(only) && (work.jars() == null || Files.isDirectory(work.jars()))) {
                    addRows(plan, jdk, work, table);
                }
            }
            table.note(
                    "Work of none: operations a second beside those of the windows without a profiler before and after,"
                            + " mean of " + plan.rounds() + " windows of " + plan.windowMillis()
                            + " ms, all in turn in one"
                            + " JVM; and operations for each second of CPU time of the whole process, profiler and all, which"
                            + " leaves out what other processes take. \"" + NOTHING
                            + "\" is such a window against its neighbours: the noise. Own CPU: of the"
                            + " threads that a profiler starts. The bar: of the work per CPU second not more is lost than with"
                            + " async-profiler; undecided where both confidences together are wider than that loss.");
            tables.add(table);
        }
        return tables;
    }

    private static void addRows(Plan plan, Path jdk, NativeWork work, Table table)
            throws IOException, InterruptedException {
        Map<Setting, List<double[]>> windows = new LinkedHashMap<>();
        Path folder = Files.createTempDirectory("bench");
        try {
            for (String[] cells : Jvm.of(jdk, work.flags())
                    .run(NativeHeavy.class, work, plan.windowMillis(), plan.rounds(), folder)) {
                double[] figures = new double[cells.length - 1];
                for (int i = 0; i < figures.length; i++) {
                    figures[i] = Double.parseDouble(cells[1 + i]);
                }
                windows.computeIfAbsent(Setting.valueOf(cells[0]), name -> new ArrayList<>())
                        .add(figures);
            }
        } finally {
            delete(folder);
        }
        windows.forEach((setting, figures) -> table.row(
                work.title(),
                setting.title,
                ratio(figures, WORK),
                confidence(figures, WORK),
                ratio(figures, WORK_PER_CPU),
                confidence(figures, WORK_PER_CPU),
                setting == Setting.NONE ? null : median(figures, OWN_CPU),
                setting == Setting.NONE ? null : median(figures, SAMPLES),
                setting.beside == null ? "" : bar(figures, windows.get(Setting.valueOf(setting.beside)))));
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    private static String bar(List<double[]> ours, List<double[]> others) {
        double noise = confidence(ours, WORK_PER_CPU) + confidence(others, WORK_PER_CPU);
        return Table.atMost(
                1 - ratio(ours, WORK_PER_CPU), 1 - ratio(others, WORK_PER_CPU), Double.isNaN(noise) ? 1 : noise);
    }

    /* The mean of logarithms, so that no window has a larger weight. */
    private static double ratio(List<double[]> figures, int column) {
        return Math.exp(Figures.mean(column(figures, column)));
    }

    private static double confidence(List<double[]> figures, int column) {
        return Figures.confidence(column(figures, column));
    }

    private static double median(List<double[]> figures, int column) {
        return Figures.median(column(figures, column));
    }

    private static List<Double> column(List<double[]> figures, int column) {
        return figures.stream().map(row -> row[column]).toList();
    }

    /** A kind of window. */
    private enum Setting {
        NONE(NOTHING, null),
        WALL(Peer.HYBRID + ", clock WALL", "ASYNC_WALL"),
        ASYNC_WALL(Peer.ASYNC + ", wall", null),
        CPU(Peer.HYBRID + ", clock CPU", "ASYNC_CPU"),
        ASYNC_CPU(Peer.ASYNC + ", ctimer", null);

        private final String title;
        private final String beside;
        private SamplerPeer ours;

        Setting(String title, String beside) {
            this.title = title;
            this.beside = beside;
        }

        void start() throws Exception {
            switch (this) {
                case WALL, CPU -> {
                    ours = this == CPU
                            ? new SamplerPeer(SamplingClock.CPU)
                            : new SamplerPeer(SamplingEngine.AUTO, INTERVAL_MILLIS);
                    ours.start();
                }
                case ASYNC_WALL -> AsyncProfilerPeer.start("wall", INTERVAL_MILLIS);
                case ASYNC_CPU -> AsyncProfilerPeer.start("ctimer", INTERVAL_MILLIS);
                default -> {
                    /* Without a profiler there is nothing to do. */
                }
            }
        }

        /* The samples of all threads since the start. */
        long samples() {
            return switch (this) {
                case WALL, CPU ->
                    ours.statistics().getOutcomes().values().stream()
                            .mapToLong(Long::longValue)
                            .sum();
                case ASYNC_WALL, ASYNC_CPU -> AsyncProfiler.getInstance().getSamples();
                default -> 0;
            };
        }

        void stop() throws Exception {
            switch (this) {
                case WALL, CPU -> ours.stop(thread -> false);
                case ASYNC_WALL, ASYNC_CPU -> AsyncProfilerPeer.end();
                default -> {
                    /* Without a profiler there is nothing to do. */
                }
            }
        }
    }

    /**
     * The measured program.
     *
     * @param arguments the work, milliseconds of a window, rounds, an empty folder, settings; without settings, all
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        List<Setting> settings = arguments.length > 4
                ? Stream.of(arguments[4].split(",")).map(Setting::valueOf).toList()
                : List.of(Setting.values());
        LongAdder done = NativeWork.valueOf(arguments[0]).start(Path.of(arguments[3]));
        Thread.sleep(WARM_UP_WINDOWS * window);
        Speed before = measure(done, window);
        for (int round = 0; round < rounds; round++) {
            for (Setting setting : settings) {
                Set<String> tasks = Tasks.ids();
                setting.start();
                Thread.sleep(window / 10);
                double own = Tasks.cpuNanosOfOthers(tasks);
                long samples = setting.samples();
                long start = System.nanoTime();
                Speed during = measure(done, window);
                double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
                double used = (Tasks.cpuNanosOfOthers(tasks) - own) / NANOS_PER_MILLI / seconds;
                double sampled = (setting.samples() - samples) / seconds;
                setting.stop();
                Speed after = measure(done, window);
                Jvm.tell(
                        setting.name(),
                        ratio(during.perSecond, before.perSecond, after.perSecond),
                        ratio(during.perCpuSecond, before.perCpuSecond, after.perCpuSecond),
                        used,
                        sampled);
                before = after;
            }
        }
        System.exit(0);
    }

    /** Operations per second, and per second of CPU time of the whole process. */
    private record Speed(double perSecond, double perCpuSecond) {}

    private static double ratio(double during, double before, double after) {
        return Math.log(during / ((before + after) / 2));
    }

    private static Speed measure(LongAdder done, long window) throws InterruptedException {
        long before = done.sum();
        long cpu = PROCESS.getProcessCpuTime();
        long start = System.nanoTime();
        Thread.sleep(window);
        double operations = done.sum() - before;
        return new Speed(
                operations * NANOS_PER_SECOND / (System.nanoTime() - start),
                operations * NANOS_PER_SECOND / (PROCESS.getProcessCpuTime() - cpu));
    }
}
