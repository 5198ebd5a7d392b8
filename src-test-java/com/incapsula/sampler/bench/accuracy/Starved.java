// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The program of {@link TimedTruth} with too few processors: the JVM and {@link #PROCESSES} busy processes share one,
 * so a runnable thread waits nine tenths of the time. Its wall time includes those waits.
 */
public final class Starved {

    /** Time of one thread in the row that says that it did not answer. */
    static final String UNANSWERED = "[signal not answered]";
    /** Time in which the thread waited for a collection, which waited for a processor. The phase is not known. */
    static final String COLLECTED = "[GC active]";
    /** The heap has room for everything that is allocated in a window, so collections are rare. */
    static final List<String> FLAGS = List.of("-Xmx2g", "-Xmn1500m");
    /**
     * The first cell of a line with a profiler's engine, the number of stacks that it walked, and the thread's CPU time
     * as a share.
     */
    static final String WALKS = "walks";
    /** A second sampler that runs in the same JVM at the same time. */
    static final String SECOND = Peer.HYBRID + ", a second one";

    static final double BAR = 2;
    static final double SAMPLES_OF_THE_BAR = 3_000;
    static final double UNANSWERED_BAR = 1;
    private static final String CPU_MODE = ", clock CPU";
    /** The number for one processor. */
    static final int PROCESSES = 8;

    private static final long BEGIN_MILLIS = 500;
    /* The busy processes run longer than all windows of one load. */
    private static final long WINDOWS_OF_A_LOAD = 12;
    private static final long REST_OF_A_LOAD_SECONDS = 60;
    private static final int MILLIS_OF_A_SECOND = 1_000;
    private static final int MILLION = 1_000_000;

    private Starved() {}

    /** One profiler's figures for all windows. */
    private static final class Sums {
        private final Map<String, double[]> phases = new LinkedHashMap<>();
        private double truth;
        private double seen;
        private final Map<String, Double> rows = new LinkedHashMap<>();

        private void add(String[] cells) {
            double[] sum = phases.computeIfAbsent(cells[2], phase -> new double[2]);
            sum[0] += Double.parseDouble(cells[3]);
            sum[1] += Double.parseDouble(cells[4]);
            truth += Double.parseDouble(cells[3]);
            seen += Double.parseDouble(cells[4]);
        }
    }

    /**
     * Runs everything, in a fresh JVM for each round.
     *
     * @param plan rounds times window is the time for which each profiler runs
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Map<String, Sums> all = new LinkedHashMap<>();
            Map<String, double[]> walks = new LinkedHashMap<>();
            for (int round = 0; round < plan.rounds(); round++) {
                Jvm jvm = Jvm.of(jdk, FLAGS).on(BusyProcesses.lastCpu());
                for (String[] cells : jvm.run(Starved.class, plan.windowMillis(), plan.scaled(PROCESSES))) {
                    add(cells, all, walks);
                }
            }
            tables.add(table(jdk, all, walks));
        }
        return tables;
    }

    /** The bar for this many stacks: the error of a share falls with the square root of their number. */
    static double bar(double stacks) {
        return BAR * Math.max(1, Math.sqrt(SAMPLES_OF_THE_BAR / stacks));
    }

    private static void add(String[] cells, Map<String, Sums> all, Map<String, double[]> walks) {
        if (cells[0].equals(WALKS)) {
            double[] sum = walks.computeIfAbsent(cells[1], name -> new double[3]);
            for (int i = 0; i < sum.length; i++) {
                sum[i] += Double.parseDouble(cells[3 + i]);
            }
            return;
        }
        Sums sums = all.computeIfAbsent(cells[0] + "\t" + cells[1], key -> new Sums());
        if (cells[2].startsWith("[")) {
            sums.rows.merge(cells[2], Double.parseDouble(cells[4]), Double::sum);
        } else {
            sums.add(cells);
        }
    }

    private static Table table(Path jdk, Map<String, Sums> all, Map<String, double[]> walks) {
        Table table = new Table(
                "Shares of a thread without a CPU of its own, JDK " + Jvm.version(jdk),
                "profiler",
                "clock",
                "phase",
                "truth %",
                "seen %",
                "error, points",
                "bar");
        all.forEach((key, sums) -> {
            String[] names = key.split("\t");
            boolean ours = walks.containsKey(names[0]);
            double points = ours ? bar(walks.get(names[0])[0]) : 0;
            sums.phases.forEach((phase, sum) -> {
                double truth = 100 * sum[0] / sums.truth;
                double seen = sums.seen == 0 ? Double.NaN : 100 * sum[1] / sums.seen;
                String bar = ours && sums.seen > 0 ? Table.atMost(Math.abs(seen - truth), points) : "";
                table.row(names[0], names[1], phase, truth, seen, seen - truth, bar);
            });
            sums.rows.forEach((row, sum) -> {
                double percent = 100 * sum / (sums.seen + sum);
                String bar = row.equals(UNANSWERED) ? Table.atMost(percent, UNANSWERED_BAR) : "";
                table.row(names[0], names[1], row, null, percent, null, bar);
            });
        });
        walks.forEach((name, sum) -> table.note(String.format(
                "%s: %.0f stacks walked; the thread ran %.1f %% of the" + " time. The bar is 2 at %.0f stacks.",
                name, sum[0], 100 * sum[1] / sum[2], SAMPLES_OF_THE_BAR)));
        return table;
    }

    /**
     * The measured program.
     *
     * @param arguments milliseconds of a window, busy processes; a third one: the hybrid engine only, with two samplers
     *     at once, until each has walked at least that many stacks
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int processes = Integer.parseInt(arguments[1]);
        long wanted = arguments.length > 2 ? Long.parseLong(arguments[2]) : 0;
        SamplerPeer.keepExactLines();
        TimedTruth.startWork();
        Thread.sleep(window);
        long taken = 0;
        do {
            try (BusyProcesses busy = new BusyProcesses(
                    processes, WINDOWS_OF_A_LOAD * window / MILLIS_OF_A_SECOND + REST_OF_A_LOAD_SECONDS)) {
                Thread.sleep(BEGIN_MILLIS);
                if (wanted > 0) {
                    taken += measureTwice(window);
                } else {
                    measureInTurn(window);
                }
            }
        } while (taken < wanted);
        System.exit(0);
    }

    /* JFR runs before async-profiler, because it has to find SIGPROF unused. */
    private static void measureInTurn(long window) throws Exception {
        measure(Peer.HYBRID, "wall", new SamplerPeer(SamplingEngine.AUTO, 1), window);
        measure(Peer.HYBRID + CPU_MODE, "CPU", new SamplerPeer(SamplingClock.CPU), window);
        measure(Peer.JFR, "CPU", Peer.of(Peer.JFR), window);
        if (Peer.forRunning().contains(Peer.JFR_CPU)) {
            measure(Peer.JFR_CPU, "CPU", Peer.of(Peer.JFR_CPU), window);
        }
        measure(Peer.ASYNC + ", wall mode", "wall", new AsyncProfilerPeer("wall"), window);
        measure(Peer.ASYNC + ", cpu mode", "CPU", new AsyncProfilerPeer("cpu"), window);
    }

    /* Runs two samplers at once. Returns the number of stacks that each has walked at least. */
    private static long measureTwice(long window) throws Exception {
        SamplerPeer first = new SamplerPeer(SamplingEngine.AUTO, 1);
        SamplerPeer second = new SamplerPeer(SamplingEngine.AUTO, 1);
        TimedTruth.TURN.acquireUninterruptibly();
        first.start();
        second.start();
        Times times = new Times(window);
        tell(Peer.HYBRID, "wall", first, times);
        tell(SECOND, "wall", second, times);
        TimedTruth.TURN.release();
        return Math.min(first.samples(), second.samples());
    }

    private static void measure(String name, String clock, Peer peer, long window) throws Exception {
        TimedTruth.TURN.acquireUninterruptibly();
        peer.start();
        tell(name, clock, peer, new Times(window));
        TimedTruth.TURN.release();
    }

    /**
     * The program's own times for a window. A window begins and ends between two phases, so that it has complete phases
     * only.
     */
    private static final class Times {
        private final long[] wall = TimedTruth.copy(TimedTruth.WALL);
        private final long[] cpu = TimedTruth.copy(TimedTruth.CPU);
        private final long[] wallAfter;
        private final long[] cpuAfter;

        Times(long window) throws InterruptedException {
            TimedTruth.TURN.release();
            Thread.sleep(window);
            TimedTruth.TURN.acquireUninterruptibly();
            wallAfter = TimedTruth.copy(TimedTruth.WALL);
            cpuAfter = TimedTruth.copy(TimedTruth.CPU);
        }
    }

    private static void tell(String name, String clock, Peer peer, Times times) throws Exception {
        Profile profile = peer.stop(TimedTruth.THREAD::equals);
        boolean isWall = clock.equals("wall");
        TimedTruth.tell(
                name,
                clock,
                isWall ? times.wall : times.cpu,
                isWall ? times.wallAfter : times.cpuAfter,
                TimedTruth.seen(profile));
        if (peer instanceof SamplerPeer ours) {
            tellRows(name, clock, profile);
            Jvm.tell(
                    WALKS,
                    name,
                    ours.statistics().getEngine(),
                    ours.samples(),
                    (sum(times.cpuAfter) - sum(times.cpu)) / MILLION,
                    (sum(times.wallAfter) - sum(times.wall)) / MILLION);
            if (isWall) {
                TimedTruth.tell(name, "CPU", times.cpu, times.cpuAfter, TimedTruth.seen(ours.cpu()));
                tellRows(name, "CPU", ours.cpu());
            }
        }
    }

    private static double sum(long... values) {
        double sum = 0;
        for (long value : values) {
            sum += value;
        }
        return sum;
    }

    private static void tellRows(String name, String clock, Profile profile) {
        for (String row : List.of(UNANSWERED, COLLECTED)) {
            Jvm.tell(
                    name,
                    clock,
                    row,
                    0,
                    profile.stacks().entrySet().stream()
                            .filter(stack -> stack.getKey().get(0).method().equals(row))
                            .mapToDouble(Map.Entry::getValue)
                            .sum());
        }
    }
}
