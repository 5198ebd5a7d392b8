// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The work that two busy threads, 50 frames deep, lose while they are sampled. */
public final class Throughput {

    private static final String NOTHING = "no profiler";
    private static final int THREADS = 2;
    private static final int DEPTH = 50;
    private static final int FAST_MILLIS = 1;
    private static final int SLOW_MILLIS = 20;
    private static final double FAST_BAR = 1;
    private static final double HANDLER_BAR_MICROS = 3;
    private static final double CONFIDENCE_BAR = 0.5;
    private static final int LEAST_PAIRS = 10;
    private static final int MOST_PAIRS_OF_A_ROUND = 20;
    private static final long MOST_MINUTES = 12;
    private static final String ALTERNATING = "alternating";

    private Throughput() {}

    /**
     * Runs everything.
     *
     * @param plan how long
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Two busy threads, depth " + DEPTH + ", JDK " + Jvm.version(jdk),
                    "profiler",
                    "every",
                    "work lost %",
                    "spread",
                    "work lost per CPU second %",
                    "spread",
                    "µs lost per sample",
                    "handler's own account µs",
                    "bar");
            Map<String, List<double[]>> pairs = new LinkedHashMap<>();
            List<double[]> alternating = new ArrayList<>();
            for (String[] cells : Jvm.of(jdk, List.of()).run(Throughput.class, plan.windowMillis(), plan.rounds())) {
                double[] figures = new double[cells.length - 1];
                for (int i = 0; i < figures.length; i++) {
                    figures[i] = Double.parseDouble(cells[1 + i]);
                }
                if (cells[0].equals(ALTERNATING)) {
                    alternating.add(figures);
                } else {
                    pairs.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(figures);
                }
            }
            List<double[]> nothing = pairs.get(NOTHING + " @0");
            double noise = Math.max(Math.abs(median(nothing, 0)), spread(nothing, 0));
            pairs.forEach((name, figures) -> addRow(table, name, figures, noise));
            table.note("Each window of " + plan.windowMillis() + " ms is compared with the windows without a profiler"
                    + " before and after it; medians of " + plan.rounds() + ". Work per CPU second leaves out what"
                    + " other processes take, and the profiler's own thread. \"" + NOTHING + "\" is such a window"
                    + " against its neighbours: the noise. µs lost per sample: the loss per CPU second, spread over"
                    + " the samples.");
            tables.add(table);
            tables.add(ratios(jdk, plan, alternating));
        }
        return tables;
    }

    /*
     * The loss is 1 - work with the sampler / work without it: a mean of logarithms, so that no run has a larger
     * weight.
     */
    private static Table ratios(Path jdk, Plan plan, List<double[]> pairs) {
        Table table = new Table(
                "Work lost at 1 ms, runs with and without in turn, JDK " + Jvm.version(jdk),
                "profiler",
                "work",
                "pairs of runs",
                "lost %",
                "95 % confidence ±",
                "bar");
        for (int column = 0; column < 2; column++) {
            int measured = column;
            List<Double> logs = pairs.stream().map(pair -> pair[measured]).toList();
            double lost = 100 * (1 - Math.exp(Figures.mean(logs)));
            double confidence = 100 * Figures.confidence(logs);
            table.row(
                    Peer.HYBRID,
                    column == 0 ? "per second" : "per CPU second",
                    logs.size(),
                    lost,
                    confidence,
                    column == 0 ? bar(lost, confidence) : "");
        }
        table.note("Each pair is one run of " + plan.windowMillis()
                + " ms with the sampler and one without; which comes"
                + " first changes from pair to pair. Pairs were added until the confidence interval of the work per"
                + " second was within ±" + CONFIDENCE_BAR + " points, at most " + MOST_PAIRS_OF_A_ROUND * plan.rounds()
                + " of them and " + MOST_MINUTES + " minutes.");
        return table;
    }

    private static String bar(double lost, double confidence) {
        if (!(confidence <= CONFIDENCE_BAR)) {
            return "≤ 1 **undecided**: interval wider than ±" + CONFIDENCE_BAR;
        }
        return Table.atMost(lost, FAST_BAR);
    }

    private static void addRow(Table table, String name, List<double[]> figures, double noise) {
        long millis = Math.round(figures.get(0)[2]);
        double lost = median(figures, 0);
        double perCpu = median(figures, 1);
        double handler = median(figures, 3);
        String bar = "";
        if (name.startsWith(Peer.HYBRID) && millis == FAST_MILLIS) {
            bar = Table.atMost(lost, FAST_BAR, noise) + "; handler "
                    + (Double.isNaN(handler) ? "**undecided**" : Table.atMost(handler, HANDLER_BAR_MICROS));
        } else if (name.startsWith(Peer.HYBRID)) {
            bar = "noise " + Table.atMost(lost, noise);
        }
        table.row(
                name.replaceAll(" @.*", ""),
                millis == 0 ? "–" : millis + " ms",
                lost,
                spread(figures, 0),
                perCpu,
                spread(figures, 1),
                millis == 0 ? null : perCpu / 100 * millis * 1000,
                handler,
                bar);
    }

    private static double median(List<double[]> rows, int column) {
        return Figures.median(rows.stream().map(row -> row[column]).toList());
    }

    private static double spread(List<double[]> rows, int column) {
        return Figures.spread(rows.stream().map(row -> row[column]).toList());
    }

    /** The work done in a window, per second and per CPU second. */
    private record Speed(double perSecond, double perCpuSecond) {}

    /** A kind of window. */
    private record Setting(String name, int millis, SamplerPeer ours, boolean async) {}

    /**
     * The measured program.
     *
     * @param arguments milliseconds of a window, rounds
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        List<BusyThread> threads = BusyThread.start(THREADS, DEPTH);
        List<Setting> settings = List.of(
                new Setting(NOTHING, 0, null, false),
                new Setting(Peer.HYBRID, FAST_MILLIS, new SamplerPeer(SamplingEngine.AUTO, FAST_MILLIS), false),
                new Setting(Peer.HYBRID, SLOW_MILLIS, new SamplerPeer(SamplingEngine.AUTO, SLOW_MILLIS), false),
                new Setting(Peer.JVMTI, FAST_MILLIS, new SamplerPeer(SamplingEngine.JVMTI, FAST_MILLIS), false),
                new Setting(Peer.ASYNC + ", cpu mode", FAST_MILLIS, null, true));
        Thread.sleep(window);
        Speed before = measure(threads, window);
        for (int round = 0; round < rounds; round++) {
            for (Setting setting : settings) {
                start(setting);
                Speed during = measure(threads, window);
                double handler = stop(setting);
                Speed after = measure(threads, window);
                String engine = setting.ours == null
                        ? ""
                        : " (" + setting.ours.statistics().getEngine() + ")";
                Jvm.tell(
                        setting.name + engine + " @" + setting.millis,
                        lost(during.perSecond, before.perSecond, after.perSecond),
                        lost(during.perCpuSecond, before.perCpuSecond, after.perCpuSecond),
                        setting.millis,
                        handler);
                before = after;
            }
        }
        alternate(threads, settings.get(1), window, MOST_PAIRS_OF_A_ROUND * rounds);
        System.exit(0);
    }

    /* Alternates runs with and without, until the confidence interval is narrow enough. */
    private static void alternate(List<BusyThread> threads, Setting setting, long window, int most) throws Exception {
        List<Double> logs = new ArrayList<>();
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MOST_MINUTES);
        for (int pair = 0; pair < most && System.nanoTime() < end; pair++) {
            boolean isFirst = pair % 2 == 0;
            Speed without = isFirst ? null : measure(threads, window);
            start(setting);
            Speed with = measure(threads, window);
            stop(setting);
            if (without == null) {
                without = measure(threads, window);
            }
            logs.add(Math.log(with.perSecond / without.perSecond));
            Jvm.tell(
                    ALTERNATING,
                    Math.log(with.perSecond / without.perSecond),
                    Math.log(with.perCpuSecond / without.perCpuSecond));
            if (logs.size() >= LEAST_PAIRS && 100 * Figures.confidence(logs) <= CONFIDENCE_BAR) {
                break;
            }
        }
    }

    private static double lost(double during, double before, double after) {
        return 100 * (1 - during / ((before + after) / 2));
    }

    private static void start(Setting setting) throws Exception {
        if (setting.ours != null) {
            setting.ours.start();
        }
        if (setting.async) {
            AsyncProfilerPeer.start("cpu", setting.millis);
        }
    }

    /* The sampler's own measure of its handler in microseconds, for the whole JVM; NaN if it was not used. */
    private static double stop(Setting setting) throws Exception {
        double handler = Double.NaN;
        if (setting.ours != null) {
            setting.ours.stop(thread -> false);
            long nanos = setting.ours.statistics().getHandlerMedianNanos();
            handler = nanos > 0 ? nanos / 1000.0 : Double.NaN;
        }
        if (setting.async) {
            AsyncProfilerPeer.end();
        }
        return handler;
    }

    private static Speed measure(List<BusyThread> threads, long window) throws InterruptedException {
        double steps = BusyThread.steps(threads);
        double cpu = BusyThread.cpuNanos(threads);
        long start = System.nanoTime();
        Thread.sleep(window);
        double done = BusyThread.steps(threads) - steps;
        double cpuSeconds = (BusyThread.cpuNanos(threads) - cpu) / 1e9;
        double seconds = (System.nanoTime() - start) / 1e9;
        return new Speed(done / seconds, done / cpuSeconds);
    }
}
