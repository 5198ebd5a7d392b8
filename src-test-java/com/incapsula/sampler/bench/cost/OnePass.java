// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** One poll of 200 blocked threads, 100 frames deep, compared with the library that this project continues. */
public final class OnePass {

    private static final String ORIGINAL = "perf-sampler 1.0.0";
    private static final int THREADS = 200;
    private static final int DEPTH = 100;
    private static final long INTERVAL_MILLIS = 20;
    private static final long SETTLE_MILLIS = 3000;
    private static final double BAR = 0.01;

    private OnePass() {}

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
            int threads = plan.scaled(THREADS);
            Table table = new Table(
                    "One pass over " + threads + " blocked threads, depth " + DEPTH + ", JDK " + Jvm.version(jdk),
                    "sampler",
                    "passes per window",
                    "CPU µs per pass",
                    "spread",
                    "Java heap bytes per pass",
                    "of the original's CPU",
                    "bar");
            Map<String, List<double[]>> windows = new LinkedHashMap<>();
            for (String[] cells :
                    Jvm.of(jdk, List.of()).run(OnePass.class, threads, plan.windowMillis(), plan.rounds())) {
                double[] figures = {
                    Double.parseDouble(cells[1]), Double.parseDouble(cells[2]), Double.parseDouble(cells[3])
                };
                windows.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(figures);
            }
            double original = median(windows.get(ORIGINAL), 1);
            windows.forEach((name, figures) -> {
                double share = median(figures, 1) / original;
                String bar = name.startsWith(Peer.HYBRID)
                        ? Table.atMost(share, BAR) + "; garbage " + Table.atMost(median(figures, 2), 0)
                        : "";
                table.row(
                        name,
                        median(figures, 0),
                        median(figures, 1),
                        Figures.spread(figures.stream().map(figure -> figure[1]).toList()),
                        median(figures, 2),
                        share,
                        bar);
            });
            table.note("CPU: of all threads of the process but the one that measures and the compilers; the garbage"
                    + " collection that garbage causes is in it. A pass of ours is a tick. Every " + INTERVAL_MILLIS
                    + " ms; medians of " + plan.rounds() + " windows of " + plan.windowMillis()
                    + " ms, in turn in one JVM.");
            tables.add(table);
        }
        return tables;
    }

    private static double median(List<double[]> windows, int figure) {
        return Figures.median(windows.stream().map(window -> window[figure]).toList());
    }

    /** A sampler of all threads. */
    private interface Sampler {
        void start();

        double passes();

        void stop() throws Exception;

        default String engine() {
            return "";
        }
    }

    /** This project's. */
    private record Ours(SamplerPeer peer) implements Sampler {
        @Override
        public void start() {
            peer.start();
        }

        @Override
        public double passes() {
            return peer.statistics().getCounters().get("TICKS");
        }

        @Override
        public void stop() throws Exception {
            peer.stop(thread -> false);
        }

        @Override
        public String engine() {
            return " (" + peer.statistics().getEngine() + ")";
        }
    }

    /** The original library. It reads the name of each thread once in each pass, which counts passes. */
    private static final class Original implements Sampler {

        private final LongAdder names = new LongAdder();
        private final com.imperva.sampler.ThreadsSampler sampler = new com.imperva.sampler.ThreadsSampler();

        @Override
        public void start() {
            sampler.setSamplingFrequencyMillis(INTERVAL_MILLIS);
            sampler.setSkipDaemonThreads(false);
            sampler.setMonitoredPackages("com.incapsula,java");
            sampler.setSamplingOutputer(new Silent());
            sampler.setThreadNameManipulator(new com.imperva.sampler.manipulate.ThreadNameManipulator() {
                @Override
                public String getManipulatedThreadName(Thread thread) {
                    if (thread.getName().equals(Crowd.NAME + "-0")) {
                        names.increment();
                    }
                    return "all";
                }

                @Override
                public void init() {
                    /* Nothing to prepare. */
                }
            });
            sampler.init();
        }

        @Override
        public double passes() {
            return names.sum();
        }

        @Override
        public void stop() throws IOException {
            sampler.close();
        }
    }

    /** Takes reports and drops them. */
    private static final class Silent implements com.imperva.sampler.outputer.SamplingOutputer {
        @Override
        public void printIntervalTitle(String title) {
            /* Dropped. */
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            /* Dropped. */
        }

        @Override
        public void printError(String message, Throwable cause) {
            cause.printStackTrace();
        }

        @Override
        public void flush() {
            /* Nothing is buffered. */
        }

        @Override
        public void close() {
            /* Nothing is open. */
        }
    }

    /**
     * The measured program.
     *
     * @param arguments threads, milliseconds of a window, rounds
     */
    public static void main(String... arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        long window = Long.parseLong(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        Crowd.gather(threads, DEPTH);
        for (int round = 0; round < rounds; round++) {
            measure(ORIGINAL, new Original(), window);
            measure(Peer.HYBRID, new Ours(new SamplerPeer(SamplingEngine.AUTO, INTERVAL_MILLIS)), window);
            measure(Peer.JVMTI, new Ours(new SamplerPeer(SamplingEngine.JVMTI, INTERVAL_MILLIS)), window);
        }
        System.exit(0);
    }

    private static void measure(String name, Sampler sampler, long window) throws Exception {
        sampler.start();
        Thread.sleep(Math.min(SETTLE_MILLIS, 3 * window));
        double passes = sampler.passes();
        long cpu = Tasks.cpuNanos();
        long bytes = allocated();
        Thread.sleep(window);
        long bytesAfter = allocated();
        long cpuAfter = Tasks.cpuNanos();
        double passesAfter = sampler.passes();
        String engine = sampler.engine();
        sampler.stop();
        double done = Math.max(1, passesAfter - passes);
        Jvm.tell(name + engine, done, (cpuAfter - cpu) / 1000.0 / done, (bytesAfter - bytes) / done);
    }

    /* Bytes allocated by all live threads except this one, which allocates to measure. */
    private static long allocated() {
        ThreadMXBean beans = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long self = Thread.currentThread().getId();
        long[] ids =
                Arrays.stream(beans.getAllThreadIds()).filter(id -> id != self).toArray();
        return Arrays.stream(beans.getThreadAllocatedBytes(ids))
                .filter(bytes -> bytes > 0)
                .sum();
    }
}
