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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The cost of polling idle threads every 20 ms: CPU time of the whole process, and safepoints. */
public final class IdleThreads {

    private static final String NOTHING = "no profiler";
    private static final int DEPTH = 50;
    private static final long INTERVAL_MILLIS = 20;
    private static final long SETTLE_MILLIS = 3000;
    /**
     * By then the gaps between polls, a twelfth of the time a thread has been idle, have grown to a second, and their
     * deadlines coincide.
     */
    private static final long GROWTH_MILLIS = 15_000;

    private static final double ASYNC_BAR = 0.1;
    private static final double NANOS_PER_MILLI = 1e6;

    private IdleThreads() {}

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
                    "Idle threads, depth " + DEPTH + ", a poll every " + INTERVAL_MILLIS + " ms, JDK "
                            + Jvm.version(jdk),
                    "threads",
                    "profiler",
                    "CPU ms per s",
                    "above none",
                    "spread",
                    "own account ms per s",
                    "safepoints per s",
                    "bar");
            measure(plan, jdk, plan.scaled(1000), 3, table);
            measure(plan, jdk, plan.scaled(10_000), 25, table);
            table.note("CPU: of all threads of the process, by the kernel, but the one that measures and the compilers;"
                    + " medians of " + plan.rounds() + " windows of " + plan.windowMillis() + " ms, profilers in turn"
                    + " in one JVM; spread: between quartiles. A window begins " + SETTLE_MILLIS + " ms after a"
                    + " profiler was started, with ours after " + GROWTH_MILLIS + " ms, when the gaps between two polls"
                    + " have grown (3 and 15 windows, if that is less).");
            tables.add(table);
        }
        return tables;
    }

    private static void measure(Plan plan, Path jdk, int threads, double bar, Table table)
            throws IOException, InterruptedException {
        Path log = Files.createTempFile("bench", ".safepoints");
        try {
            Map<String, List<double[]>> windows = new LinkedHashMap<>();
            for (String[] cells : Jvm.of(jdk, List.of("-Xlog:safepoint:file=" + log))
                    .run(IdleThreads.class, threads, plan.windowMillis(), plan.rounds(), log)) {
                double[] figures = {
                    Double.parseDouble(cells[1]), Double.parseDouble(cells[2]), Double.parseDouble(cells[3])
                };
                windows.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(figures);
            }
            double none = median(windows.get(NOTHING), 0);
            double async = median(windows.get(Peer.ASYNC), 0) - none;
            windows.forEach((name, figures) -> {
                double above = median(figures, 0) - none;
                String bars = name.startsWith(Peer.HYBRID)
                        ? Table.atMost(above, bar) + "; of async-profiler " + Table.atMost(above / async, ASYNC_BAR)
                        : "";
                table.row(
                        threads,
                        name,
                        median(figures, 0),
                        above,
                        Figures.spread(column(figures, 0)),
                        median(figures, 1),
                        median(figures, 2) - median(windows.get(NOTHING), 2),
                        bars);
            });
        } finally {
            Files.delete(log);
        }
    }

    private static double median(List<double[]> windows, int figure) {
        return Figures.median(column(windows, figure));
    }

    private static List<Double> column(List<double[]> windows, int figure) {
        return windows.stream().map(window -> window[figure]).toList();
    }

    /**
     * The measured program.
     *
     * @param arguments threads, milliseconds of a window, rounds, log of safepoints
     */
    public static void main(String... arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        long window = Long.parseLong(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        Path log = Path.of(arguments[3]);
        Crowd.gather(threads, DEPTH);
        for (int round = 0; round < rounds; round++) {
            measure(NOTHING, null, window, log);
            measure(Peer.HYBRID, new SamplerPeer(SamplingEngine.AUTO, INTERVAL_MILLIS), window, log);
            measure(Peer.JVMTI, new SamplerPeer(SamplingEngine.JVMTI, INTERVAL_MILLIS), window, log);
            AsyncProfilerPeer.start("wall", INTERVAL_MILLIS);
            measure(Peer.ASYNC, null, window, log);
            AsyncProfilerPeer.end();
        }
        System.exit(0);
    }

    private static void measure(String name, SamplerPeer ours, long window, Path log) throws Exception {
        if (ours != null) {
            ours.start();
        }
        settle(ours != null, window);
        double own = ours == null ? Double.NaN : ours.statistics().getOwnCpuNanos();
        long safepoints = safepoints(log);
        long before = Tasks.cpuNanos();
        long start = System.nanoTime();
        Thread.sleep(window);
        long after = Tasks.cpuNanos();
        double seconds = (System.nanoTime() - start) / 1e9;
        double ownAfter = ours == null ? Double.NaN : ours.statistics().getOwnCpuNanos();
        double safepointsPerSecond = (safepoints(log) - safepoints) / seconds;
        String engine = ours == null ? "" : " (" + ours.statistics().getEngine() + ")";
        if (ours != null) {
            ours.stop(thread -> false);
        }
        Jvm.tell(
                name + engine,
                (after - before) / NANOS_PER_MILLI / seconds,
                (ownAfter - own) / NANOS_PER_MILLI / seconds,
                safepointsPerSecond);
    }

    /**
     * Warms up. With ours this lasts until the gaps between polls have grown to their maximum, because the cost after
     * that is measured. It is shorter if windows are short, as in a trial run.
     */
    private static void settle(boolean ours, long window) throws InterruptedException {
        Thread.sleep(ours ? Math.min(GROWTH_MILLIS, 15 * window) : Math.min(SETTLE_MILLIS, 3 * window));
    }

    private static long safepoints(Path log) throws IOException {
        return Files.readAllLines(log).stream()
                .filter(line -> line.contains("Safepoint \""))
                .count();
    }
}
