// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.CRC32;

/**
 * A program that measures the time in its methods, by the wall clock and by its CPU clock, is compared with what
 * profilers report for the same seconds. The right share of a phase is the share of stacks that contain its method.
 */
public final class TimedTruth {

    /** The first cell of a line with a sampler's engine and its number of polls. */
    static final String POLLS = "polls";

    private static final double BAR = 1;
    private static final int SAMPLES_BAR = 10_000;
    static final String THREAD = "measured";
    private static final int CHUNK_NANOS = 200_000;
    private static final int MILLION = 1_000_000;

    /**
     * The phases of the thread's work, with their shares of the time. The relevant method is run() of each constant's
     * own class: all are called from one line, so a report shows each in a row of its own.
     */
    enum Phase {
        ARITHMETIC(27) {
            @Override
            void run(long nanos) {
                Stopwatch watch = new Stopwatch(this, nanos);
                long value = sink;
                do {
                    for (int i = 0; i < 10_000; i++) {
                        value = value * 31 + i;
                    }
                } while (watch.running());
                sink = value;
            }
        },

        MAP(18) {
            @Override
            void run(long nanos) {
                Stopwatch watch = new Stopwatch(this, nanos);
                do {
                    Map<Integer, Integer> map = new HashMap<>();
                    for (int i = 0; i < 300; i++) {
                        map.merge(i % 50, i, Integer::sum);
                    }
                    sink += map.size();
                } while (watch.running());
            }
        },

        COPY(15) {
            @Override
            void run(long nanos) {
                Stopwatch watch = new Stopwatch(this, nanos);
                do {
                    System.arraycopy(SOURCE, 0, TARGET, 0, SOURCE.length);
                } while (watch.running());
            }
        },

        STRINGS(12) {
            @Override
            void run(long nanos) {
                Stopwatch watch = new Stopwatch(this, nanos);
                do {
                    StringBuilder text = new StringBuilder();
                    for (int i = 0; i < 200; i++) {
                        text.append(i).append(',');
                    }
                    sink += text.toString().split(",").length;
                } while (watch.running());
            }
        },

        CHECKSUM(8) {
            @Override
            void run(long nanos) {
                Stopwatch watch = new Stopwatch(this, nanos);
                CRC32 crc = new CRC32();
                do {
                    crc.update(SOURCE, 0, SOURCE.length);
                } while (watch.running());
                sink += crc.getValue();
            }
        },

        SLEEP(20) {
            @Override
            void run(long nanos) {
                Stopwatch watch = new Stopwatch(this, nanos);
                try {
                    Thread.sleep(nanos / MILLION, (int) (nanos % MILLION));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                watch.running();
            }
        };

        private final int percent;

        Phase(int percent) {
            this.percent = percent;
        }

        abstract void run(long nanos);

        private String method() {
            return getClass().getName() + ".run";
        }
    }

    static final AtomicLongArray WALL = new AtomicLongArray(Phase.values().length);
    static final AtomicLongArray CPU = new AtomicLongArray(Phase.values().length);
    /* A phase runs only with this permit, so its holder knows that no phase is running. */
    static final Semaphore TURN = new Semaphore(1, true);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final byte[] SOURCE = new byte[100_000];
    private static final byte[] TARGET = new byte[100_000];
    private static volatile long sink;

    private TimedTruth() {}

    /**
     * Runs everything.
     *
     * @param plan rounds times window is the time for which each profiler runs
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Shares against timed truth, JDK " + Jvm.version(jdk),
                    "profiler",
                    "clock",
                    "phase",
                    "truth %",
                    "seen %",
                    "error, points",
                    "bar");
            Map<String, double[]> sums = new LinkedHashMap<>();
            for (String[] cells : Jvm.of(jdk, List.of()).run(TimedTruth.class, plan.windowMillis(), plan.rounds())) {
                if (cells[0].equals(POLLS)) {
                    continue;
                }
                double[] sum = sums.computeIfAbsent(cells[0] + "\t" + cells[1] + "\t" + cells[2], key -> new double[2]);
                sum[0] += Double.parseDouble(cells[3]);
                sum[1] += Double.parseDouble(cells[4]);
            }
            sums.forEach((key, sum) -> addRow(table, sums, key, sum));
            long samples = plan.rounds() * plan.windowMillis();
            table.note("Polls of the thread per profiler: about " + samples
                    + (samples < SAMPLES_BAR ? "; the bar is about " + SAMPLES_BAR : "")
                    + ". Shares are of the time in all phases.");
            tables.add(table);
        }
        return tables;
    }

    private static void addRow(Table table, Map<String, double[]> sums, String key, double[] sum) {
        String of = key.substring(0, key.lastIndexOf('\t') + 1);
        double truth = 0;
        double seen = 0;
        for (Map.Entry<String, double[]> entry : sums.entrySet()) {
            if (entry.getKey().startsWith(of)) {
                truth += entry.getValue()[0];
                seen += entry.getValue()[1];
            }
        }
        double truthPercent = 100 * sum[0] / truth;
        double seenPercent = seen == 0 ? Double.NaN : 100 * sum[1] / seen;
        double error = seenPercent - truthPercent;
        String[] cells = key.split("\t");
        String bar = cells[0].startsWith(Peer.HYBRID) && !Double.isNaN(error) ? Table.atMost(Math.abs(error), BAR) : "";
        table.row(cells[0], cells[1], cells[2], truthPercent, seenPercent, error, bar);
    }

    /**
     * The measured program.
     *
     * @param arguments milliseconds of a window, rounds; with a third one the hybrid engine only
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        SamplerPeer.keepExactLines();
        startWork();
        Thread.sleep(window);
        for (int round = 0; round < rounds; round++) {
            measure(Peer.HYBRID, new SamplerPeer(SamplingEngine.AUTO, 1), window);
            if (arguments.length > 2) {
                continue;
            }
            measure(Peer.JVMTI, new SamplerPeer(SamplingEngine.JVMTI, 1), window);
            measure(Peer.ASYNC + ", wall mode", new AsyncProfilerPeer("wall"), window);
            measure(Peer.ASYNC + ", cpu mode", new AsyncProfilerPeer("cpu"), window);
        }
        System.exit(0);
    }

    static void startWork() {
        Thread thread = new Thread(TimedTruth::work, THREAD);
        thread.setDaemon(true);
        thread.start();
    }

    private static void measure(String name, Peer peer, long window) throws Exception {
        peer.start();
        long[] wall = copy(WALL);
        long[] cpu = copy(CPU);
        Thread.sleep(window);
        long[] wallAfter = copy(WALL);
        long[] cpuAfter = copy(CPU);
        Profile profile = peer.stop(THREAD::equals);
        boolean cpuMode = name.endsWith("cpu mode");
        if (cpuMode) {
            tell(name, "CPU", cpu, cpuAfter, seen(profile));
        } else {
            tell(name, "wall", wall, wallAfter, seen(profile));
        }
        if (peer instanceof SamplerPeer ours) {
            Jvm.tell(
                    POLLS,
                    name,
                    ours.statistics().getEngine(),
                    ours.statistics().getCounters().get("TICKS"));
            Map<Phase, Double> seen = seen(ours.cpu());
            if (!seen.isEmpty()) {
                tell(name, "CPU", cpu, cpuAfter, seen);
            }
        }
    }

    static long[] copy(AtomicLongArray from) {
        long[] values = new long[from.length()];
        for (int i = 0; i < values.length; i++) {
            values[i] = from.get(i);
        }
        return values;
    }

    static Map<Phase, Double> seen(Profile profile) {
        Map<Phase, Double> seen = new HashMap<>();
        profile.stacks().forEach((stack, weight) -> {
            for (Phase phase : Phase.values()) {
                if (contains(stack, phase)) {
                    seen.merge(phase, weight, Double::sum);
                }
            }
        });
        return seen;
    }

    private static boolean contains(List<Frame> stack, Phase phase) {
        return stack.stream().anyMatch(frame -> frame.method().equals(phase.method()));
    }

    static void tell(String name, String clock, long[] before, long[] after, Map<Phase, Double> seen) {
        for (Phase phase : Phase.values()) {
            int i = phase.ordinal();
            Jvm.tell(
                    name,
                    clock,
                    phase.name().toLowerCase(Locale.ROOT),
                    (after[i] - before[i]) / (double) MILLION,
                    seen.getOrDefault(phase, 0.0));
        }
    }

    /* The order is random, so that no profiler can lock onto a period, but the same in each run. */
    private static void work() {
        Random random = new Random(1);
        while (true) {
            Phase phase = Phase.values()[random.nextInt(Phase.values().length)];
            long nanos = (long) (phase.percent * (0.5 + random.nextDouble()) * MILLION / 2);
            TURN.acquireUninterruptibly();
            phase.run(nanos);
            TURN.release();
        }
    }

    /** Records the time of a phase, every CHUNK_NANOS, so that a window cuts off little. */
    private static final class Stopwatch {

        private final int phase;
        private final long end;
        private long wall = System.nanoTime();
        private long cpu = THREADS.getCurrentThreadCpuTime();

        Stopwatch(Phase phase, long nanos) {
            this.phase = phase.ordinal();
            this.end = wall + nanos;
        }

        boolean running() {
            long now = System.nanoTime();
            if (now - wall >= CHUNK_NANOS || now >= end) {
                long cpuNow = THREADS.getCurrentThreadCpuTime();
                WALL.lazySet(phase, WALL.get(phase) + now - wall);
                CPU.lazySet(phase, CPU.get(phase) + cpuNow - cpu);
                wall = now;
                cpu = cpuNow;
            }
            return now < end;
        }
    }
}
