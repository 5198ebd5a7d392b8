// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.VirtualThreads;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.incapsula.sampler.testing.Virtual;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.Recording;

/** The growth of the cost with the number of threads: ten times as many parked, woken and virtual threads. */
public final class Scale {

    private static final int TIMES = 10;
    private static final int DEPTH = 50;
    private static final long INTERVAL_MILLIS = 20;
    private static final long PERIOD_MILLIS = 1000;
    private static final int SETTLE_WINDOWS = 3;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final Pattern SAFEPOINT = Pattern.compile("Safepoint \".*Total: *(\\d+) ns");
    private static final OperatingSystemMXBean PROCESS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Scale() {}

    /** The activity of the threads. */
    private enum Kind {
        PARKED("parked", 1_000) {
            @Override
            void start(int threads) throws InterruptedException {
                Crowd.gather(threads, DEPTH);
            }
        },
        WOKEN("woken once a second", 1_000) {
            @Override
            void start(int threads) throws InterruptedException {
                WokenThreads.wakeUpInTurn(Crowd.gather(threads, DEPTH));
            }
        },
        VIRTUAL("virtual, each awake once a second", 10_000) {
            @Override
            void start(int threads) {
                for (int i = 0; i < threads; i++) {
                    Virtual.start(null, Scale::sleepAgainAndAgain);
                }
            }
        };

        private final String title;
        private final int few;

        Kind(String title, int few) {
            this.title = title;
            this.few = few;
        }

        abstract void start(int threads) throws InterruptedException;
    }

    /** The profiler of the threads. */
    private enum Profiler {
        NONE("no profiler"),
        OURS(Peer.HYBRID),
        ASYNC(Peer.ASYNC + ", wall"),
        JFR(Peer.JFR);

        private final String title;
        private SamplerPeer ours;
        private Recording recording;

        Profiler(String title) {
            this.title = title;
        }

        void start() throws Exception {
            switch (this) {
                case OURS -> {
                    ours = new SamplerPeer(SamplingEngine.AUTO, INTERVAL_MILLIS);
                    ours.start();
                }
                case ASYNC -> AsyncProfilerPeer.start("wall", INTERVAL_MILLIS);
                case JFR -> {
                    recording = new Recording();
                    recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(INTERVAL_MILLIS));
                    recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(INTERVAL_MILLIS));
                    recording.start();
                }
                default -> {
                    /* Without a profiler there is nothing to do. */
                }
            }
        }

        double ownCpuNanos() {
            return ours == null ? Double.NaN : ours.statistics().getOwnCpuNanos();
        }

        double memoryMegabytes() {
            return ours == null ? Double.NaN : ours.statistics().getMemoryUsedBytes() / 1e6;
        }

        void stop() throws Exception {
            switch (this) {
                case OURS -> ours.stop(thread -> false);
                case ASYNC -> AsyncProfilerPeer.end();
                case JFR -> recording.close();
                default -> {
                    /* Without a profiler there is nothing to do. */
                }
            }
        }
    }

    /**
     * Runs everything.
     *
     * @param plan how long
     * @param only a regular expression that selects kinds of threads; virtual ones only on JDKs that have them
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Threads, ten times as many, a poll every " + INTERVAL_MILLIS + " ms, JDK " + Jvm.version(jdk),
                    "threads",
                    "profiler",
                    "few",
                    "CPU above none, ms per s",
                    "own account",
                    "longest safepoint, ms",
                    "many",
                    "CPU above none, ms per s",
                    "own account",
                    "longest safepoint, ms",
                    "own memory, MB",
                    "own account, grown to",
                    "bar");
            boolean hasVirtual = Integer.parseInt(Jvm.version(jdk).split("\\D")[0]) >= VirtualThreads.FIRST_JDK;
            for (Kind kind : Kind.values()) {
                if (kind.name().matches(only) && (hasVirtual || kind != Kind.VIRTUAL)) {
                    addRows(plan, jdk, kind, table);
                }
            }
            table.note("CPU: of the whole process, by the kernel; above none: less that of the windows without a"
                    + " profiler; medians of " + plan.rounds() + " windows of " + plan.windowMillis()
                    + " ms, profilers in turn in one JVM, each after " + SETTLE_WINDOWS + " windows. Platform threads"
                    + " are " + DEPTH + " frames deep. Own account: the CPU time that ours says it has used. Bar: ten"
                    + " times as many threads cost at most ten times as much, by its own account, or 1 ms a second.");
            tables.add(table);
        }
        return tables;
    }

    private static void addRows(Plan plan, Path jdk, Kind kind, Table table) throws IOException, InterruptedException {
        int few = plan.scaled(kind.few);
        Map<Profiler, List<double[]>> fewer = measure(plan, jdk, kind, few);
        Map<Profiler, List<double[]>> more = measure(plan, jdk, kind, TIMES * few);
        for (Profiler profiler : Profiler.values()) {
            List<double[]> before = fewer.get(profiler);
            List<double[]> after = more.get(profiler);
            double own = median(after, 1);
            double grown = own / median(before, 1);
            table.row(
                    kind.title,
                    profiler.title,
                    few,
                    median(before, 0) - median(fewer.get(Profiler.NONE), 0),
                    median(before, 1),
                    median(before, 2),
                    TIMES * few,
                    median(after, 0) - median(more.get(Profiler.NONE), 0),
                    own,
                    median(after, 2),
                    median(after, 3),
                    grown,
                    profiler == Profiler.OURS ? Table.atMost(own <= 1 ? Math.min(grown, TIMES) : grown, TIMES) : "");
        }
        table.note(kind.title + ", without a profiler: " + Math.round(median(fewer.get(Profiler.NONE), 0)) + " and "
                + Math.round(median(more.get(Profiler.NONE), 0)) + " ms of CPU time a second.");
    }

    private static Map<Profiler, List<double[]>> measure(Plan plan, Path jdk, Kind kind, int threads)
            throws IOException, InterruptedException {
        Map<Profiler, List<double[]>> windows = new LinkedHashMap<>();
        Path log = Files.createTempFile("bench", ".safepoints");
        try {
            for (String[] cells : Jvm.of(jdk, List.of("-Xlog:safepoint:file=" + log))
                    .run(Scale.class, kind, threads, plan.windowMillis(), plan.rounds(), log)) {
                double[] figures = new double[cells.length - 1];
                for (int i = 0; i < figures.length; i++) {
                    figures[i] = Double.parseDouble(cells[1 + i]);
                }
                windows.computeIfAbsent(Profiler.valueOf(cells[0]), name -> new ArrayList<>())
                        .add(figures);
            }
        } finally {
            Files.delete(log);
        }
        return windows;
    }

    private static double median(List<double[]> windows, int figure) {
        return Figures.median(windows.stream().map(window -> window[figure]).toList());
    }

    /**
     * The measured program.
     *
     * @param arguments the kind, the number of threads, milliseconds of a window, rounds, the log of safepoints
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[2]);
        int rounds = Integer.parseInt(arguments[3]);
        Path log = Path.of(arguments[4]);
        Kind.valueOf(arguments[0]).start(Integer.parseInt(arguments[1]));
        for (int round = 0; round < rounds; round++) {
            for (Profiler profiler : Profiler.values()) {
                profiler.start();
                Thread.sleep(SETTLE_WINDOWS * window);
                int safepoints = safepoints(log).size();
                double own = profiler.ownCpuNanos();
                long before = PROCESS.getProcessCpuTime();
                long start = System.nanoTime();
                Thread.sleep(window);
                double used = PROCESS.getProcessCpuTime() - before;
                double ownUsed = profiler.ownCpuNanos() - own;
                double seconds = (System.nanoTime() - start) / 1e9;
                double memory = profiler.memoryMegabytes();
                List<Double> pauses = safepoints(log);
                profiler.stop();
                Jvm.tell(
                        profiler.name(),
                        used / NANOS_PER_MILLI / seconds,
                        ownUsed / NANOS_PER_MILLI / seconds,
                        pauses.subList(safepoints, pauses.size()).stream()
                                .mapToDouble(Double::doubleValue)
                                .max()
                                .orElse(0),
                        memory);
            }
        }
        System.exit(0);
    }

    private static List<Double> safepoints(Path log) throws IOException {
        List<Double> millis = new ArrayList<>();
        for (String line : Files.readAllLines(log)) {
            Matcher safepoint = SAFEPOINT.matcher(line);
            if (safepoint.find()) {
                millis.add(Long.parseLong(safepoint.group(1)) / NANOS_PER_MILLI);
            }
        }
        return millis;
    }

    private static void sleepAgainAndAgain() {
        while (true) {
            LockSupport.parkNanos(PERIOD_MILLIS * (long) NANOS_PER_MILLI);
        }
    }
}
