// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingClock;
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
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The work that two computing threads lose to timers on their CPU time: our clock=CPU compared with async-profiler's
 * ctimer.
 */
public final class CpuClock {

    private static final String NOTHING = "no profiler";
    private static final String OURS = Peer.HYBRID + ", clock CPU";
    private static final String CTIMER = Peer.ASYNC + ", ctimer";
    private static final List<String> ORDER = List.of(NOTHING, OURS, CTIMER);
    private static final int THREADS = 2;
    private static final int DEPTH = 50;
    private static final long INTERVAL_MILLIS = 1;
    private static final double LOSS_BAR = 1.2;
    private static final double OWN_CPU_BAR = 6;
    private static final double NANOS_PER_SECOND = 1e9;

    private CpuClock() {}

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
            Map<String, List<double[]>> windows = new LinkedHashMap<>();
            for (String[] cells : Jvm.of(jdk, List.of()).run(CpuClock.class, plan.windowMillis(), plan.rounds())) {
                double[] figures = new double[cells.length - 1];
                for (int i = 0; i < figures.length; i++) {
                    figures[i] = Double.parseDouble(cells[1 + i]);
                }
                windows.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(figures);
            }
            tables.add(table(plan, jdk, windows));
        }
        return tables;
    }

    private static Table table(Plan plan, Path jdk, Map<String, List<double[]>> windows) {
        Table table = new Table(
                "Two computing threads, depth " + DEPTH + ", every " + INTERVAL_MILLIS + " ms of CPU time, JDK "
                        + Jvm.version(jdk),
                "profiler",
                "work lost per second %",
                "spread",
                "work lost per CPU second %",
                "spread",
                "of it on the two threads %",
                "own CPU, ms per s",
                "samples per s",
                "µs lost per sample",
                "handler's own account µs",
                "of ctimer's loss",
                "bar");
        double ctimer = median(windows.get(CTIMER), 1);
        double noise = Figures.confidence(
                windows.get(NOTHING).stream().map(row -> row[1]).toList());
        for (String name : ORDER) {
            List<double[]> figures = windows.get(name);
            double lost = median(figures, 1);
            double own = median(figures, 3);
            double samples = median(figures, 4);
            boolean isOurs = name.equals(OURS);
            table.row(
                    name,
                    median(figures, 0),
                    spread(figures, 0),
                    lost,
                    spread(figures, 1),
                    median(figures, 2),
                    own,
                    samples,
                    samples > 0 ? lost / 100 * THREADS * 1e6 / samples : Double.NaN,
                    median(figures, 5),
                    isOurs ? lost / ctimer : Double.NaN,
                    isOurs ? bars(lost / ctimer, noise / ctimer, own) : "");
        }
        table.note("Each window of " + plan.windowMillis() + " ms is compared with the windows without a profiler"
                + " before and after it; medians of " + plan.rounds() + ". Work per CPU second counts the CPU time of"
                + " the two threads and of those that the profiler has started, its own CPU, and leaves out what other"
                + " processes take; \"on the two threads\" counts the two alone. The kernel looks at such timers on its"
                + " clock tick, so a sample stands for several intervals. The bar is about the work lost per CPU"
                + " second. \"" + NOTHING + "\" against its neighbours is the noise: 95 % confidence ± "
                + String.format(Locale.ROOT, "%.2f", noise) + " points.");
        return table;
    }

    private static String bars(double ofCtimer, double noise, double own) {
        String loss = noise < LOSS_BAR - 1 && noise > 0
                ? Table.atMost(ofCtimer, LOSS_BAR)
                : "≤ " + LOSS_BAR + " **undecided**: noise";
        return loss + "; own CPU " + Table.atMost(own, OWN_CPU_BAR);
    }

    private static double median(List<double[]> rows, int column) {
        return Figures.median(rows.stream().map(row -> row[column]).toList());
    }

    private static double spread(List<double[]> rows, int column) {
        return Figures.spread(rows.stream().map(row -> row[column]).toList());
    }

    /** The work done and the CPU time used in a window, per second. */
    private record Window(double steps, double busyNanos, double ownNanos) {

        double perCpu() {
            return steps / (busyNanos + ownNanos);
        }

        double perBusyCpu() {
            return steps / busyNanos;
        }
    }

    /** A profiler in this JVM. */
    private interface Profiler {

        void start() throws Exception;

        /*
         * Returns the number of samples of the computing threads, and the median time in the handler in microseconds.
         */
        double[] stop() throws Exception;
    }

    private static Profiler ours() {
        SamplerPeer peer = new SamplerPeer(SamplingClock.CPU);
        return new Profiler() {
            @Override
            public void start() {
                peer.start();
            }

            @Override
            public double[] stop() throws Exception {
                peer.stop(name -> name.startsWith("busy"));
                return new double[] {peer.samples(), peer.statistics().getHandlerMedianNanos() / 1000.0};
            }
        };
    }

    private static Profiler ctimer() {
        return new Profiler() {
            @Override
            public void start() throws Exception {
                AsyncProfilerPeer.start("ctimer", INTERVAL_MILLIS);
            }

            @Override
            public double[] stop() {
                return new double[] {AsyncProfilerPeer.end(), Double.NaN};
            }
        };
    }

    private static Profiler nothing() {
        return new Profiler() {
            @Override
            public void start() {
                /* Without a profiler the difference is noise. */
            }

            @Override
            public double[] stop() {
                return new double[] {0, Double.NaN};
            }
        };
    }

    /**
     * The measured program.
     *
     * @param arguments milliseconds of a window, rounds
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        List<BusyThread> threads = BusyThread.start(THREADS, DEPTH);
        Map<String, Profiler> profilers = new LinkedHashMap<>();
        profilers.put(OURS, ours());
        profilers.put(CTIMER, ctimer());
        profilers.put(NOTHING, nothing());
        for (Profiler profiler : profilers.values()) { // loads and compiles what they need
            profiler.start();
            Thread.sleep(settleMillis(window));
            profiler.stop();
        }
        Window before = measure(threads, window, Tasks.ids());
        for (int round = 0; round < rounds; round++) {
            for (Map.Entry<String, Profiler> profiler : profilers.entrySet()) {
                Set<String> known = Tasks.ids();
                profiler.getValue().start();
                long start = System.nanoTime();
                Thread.sleep(settleMillis(window));
                Window during = measure(threads, window, known);
                double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
                double[] end = profiler.getValue().stop();
                Window after = measure(threads, window, Tasks.ids());
                Jvm.tell(
                        profiler.getKey(),
                        lost(during.steps(), before.steps(), after.steps()),
                        lost(during.perCpu(), before.perCpu(), after.perCpu()),
                        lost(during.perBusyCpu(), before.perBusyCpu(), after.perBusyCpu()),
                        during.ownNanos / 1e6,
                        end[0] / seconds,
                        end[1]);
                before = after;
            }
        }
        System.exit(0);
    }

    /* A start polls each thread often at first, and loads what it needs. */
    private static long settleMillis(long window) {
        return window / 4;
    }

    private static double lost(double during, double before, double after) {
        return 100 * (1 - during / ((before + after) / 2));
    }

    private static Window measure(List<BusyThread> threads, long window, Set<String> known) throws Exception {
        double own = Tasks.cpuNanosOfOthers(known);
        double busy = BusyThread.cpuNanos(threads);
        double steps = BusyThread.steps(threads);
        long start = System.nanoTime();
        Thread.sleep(window);
        double done = BusyThread.steps(threads) - steps;
        double busyUsed = BusyThread.cpuNanos(threads) - busy;
        double seconds = (System.nanoTime() - start) / NANOS_PER_SECOND;
        double ownUsed = Tasks.cpuNanosOfOthers(known) - own;
        return new Window(done / seconds, busyUsed / seconds, ownUsed / seconds);
    }
}
