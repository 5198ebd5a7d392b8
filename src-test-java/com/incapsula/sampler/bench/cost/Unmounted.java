// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.Virtual;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * {@code sampleUnmountedVirtualThreads} with 100,000 virtual threads that are parked at five sites: are the shares of
 * the sites right, what does it cost, and do other virtual threads switch as often as without it?
 */
public final class Unmounted {

    /** The first JDK on which they are sampled. */
    public static final int FIRST_JDK = 25;

    private static final int THREADS = 100_000;
    private static final int WINDOWS = 10;
    private static final int[] PERCENT = {50, 30, 15, 4, 1};
    private static final List<Runnable> SITES =
            List.of(Unmounted::a, Unmounted::b, Unmounted::c, Unmounted::d, Unmounted::e);
    private static final double SHARE_BAR = 2;
    private static final double COST_BAR = 1;
    private static final int SWITCHING = 16;
    private static final int WARM_UP_WINDOWS = 3;
    private static final LongAdder TURNS = new LongAdder();

    private Unmounted() {}

    /**
     * Runs everything.
     *
     * @param plan shares are taken over ten windows; JDKs that are too old are skipped
     * @param only not used
     * @return two tables per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            if (Integer.parseInt(Jvm.version(jdk).split("\\D")[0]) < FIRST_JDK) {
                continue;
            }
            int threads = plan.scaled(THREADS);
            tables.add(shares(plan, jdk, threads));
            tables.add(switches(plan, jdk, threads));
        }
        return tables;
    }

    private static Table shares(Plan plan, Path jdk, int threads) throws IOException, InterruptedException {
        Table table = new Table(
                threads + " virtual threads parked at five sites, " + WINDOWS * plan.windowMillis() / 1000.0
                        + " s, JDK " + Jvm.version(jdk),
                "profiler",
                "started",
                "50 %",
                "30 %",
                "15 %",
                "4 %",
                "1 %",
                "worst, points",
                "sum of times %",
                "stacks",
                "own CPU %",
                "bar");
        for (String order : List.of("site by site", "mixed")) {
            for (String[] cells :
                    command(jdk).run(Unmounted.class, "shares", threads, plan.windowMillis(), plan.rounds(), order)) {
                double[] figures = new double[cells.length - 1];
                for (int i = 0; i < figures.length; i++) {
                    figures[i] = Double.parseDouble(cells[i + 1]);
                }
                table.row(
                        cells[0],
                        order,
                        figures[0],
                        figures[1],
                        figures[2],
                        figures[3],
                        figures[4],
                        figures[5],
                        figures[6],
                        Math.round(figures[7]),
                        figures[8],
                        "points " + Table.atMost(figures[5], SHARE_BAR) + "; CPU "
                                + Table.atMost(figures[8], COST_BAR));
            }
        }
        table.note("Shares of the time that the report has for the five sites. Of 2,000 stacks drawn at random a share"
                + " of 50 % is within 2 points 93 times of 100. Sum: all times, in percent of the threads times the"
                + " time that passed. Own CPU: of both threads of the sampler, with all else it does. Started: the"
                + " threads of one site after those of another, or all of them in random order.");
        return table;
    }

    private static Table switches(Plan plan, Path jdk, int threads) throws IOException, InterruptedException {
        Table table = new Table(
                "Switches of " + SWITCHING + " virtual threads that yield, beside " + threads + " parked ones, JDK "
                        + Jvm.version(jdk),
                "profiler",
                "unmounted ones",
                "switches a second, median",
                "best window",
                "ns of CPU time a switch, median",
                "least",
                "most");
        for (String[] cells :
                command(jdk).run(Unmounted.class, "switches", threads, plan.windowMillis() / 2, 5 * plan.rounds())) {
            table.row(
                    cells[0],
                    cells[1],
                    Double.parseDouble(cells[2]),
                    Double.parseDouble(cells[3]),
                    Double.parseDouble(cells[4]),
                    Double.parseDouble(cells[5]),
                    Double.parseDouble(cells[6]));
        }
        table.note("One carrier. A sampler runs all the time; the option is switched on and off, window by window. CPU"
                + " time: of the whole process, without the sampler's own, for each switch.");
        return table;
    }

    private static Jvm command(Path jdk) {
        return Jvm.of(
                jdk,
                List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1"));
    }

    /**
     * The measured program.
     *
     * @param arguments the case, the number of threads, milliseconds of a window, rounds, the order
     */
    public static void main(String... arguments) throws Exception {
        int threads = Integer.parseInt(arguments[1]);
        long window = Long.parseLong(arguments[2]);
        int rounds = Integer.parseInt(arguments[3]);
        boolean isMixed = arguments.length > 4 && arguments[4].equals("mixed");
        park(threads, isMixed);
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingOutputer(
                    new PrintStreamSamplingOutputer(new PrintStream(OutputStream.nullOutputStream())));
            sampler.setSampleUnmountedVirtualThreads(true);
            sampler.init();
            if (arguments[0].equals("shares")) {
                for (int round = 0; round < rounds; round++) {
                    tellShares(sampler, threads, WINDOWS * window);
                }
            } else {
                tellSwitches(sampler, window, rounds);
            }
        }
        System.exit(0);
    }

    private static void park(int threads, boolean isMixed) throws InterruptedException {
        List<Runnable> all = new ArrayList<>();
        for (int i = 0; i < PERCENT.length; i++) {
            all.addAll(Collections.nCopies(threads * PERCENT[i] / 100, SITES.get(i)));
        }
        if (isMixed) {
            Collections.shuffle(all, new Random());
        }
        Crowd.awaitParked(all.stream().map(site -> Virtual.start(null, site)).toList());
    }

    private static String name(ThreadsSampler sampler) {
        return Peer.HYBRID + " (" + sampler.getStatistics().getEngine() + ")";
    }

    private static void tellShares(ThreadsSampler sampler, int threads, long millis) throws InterruptedException {
        sampler.snapshot().close();
        SamplerStatistics before = sampler.getStatistics();
        Thread.sleep(millis);
        double[] nanos = new double[PERCENT.length];
        try (SamplingReport report = sampler.snapshot()) {
            report.toString(ReportFormat.COLLAPSED).lines().forEach(line -> add(line, nanos));
        }
        SamplerStatistics after = sampler.getStatistics();
        double elapsed = after.getElapsedNanos() - before.getElapsedNanos();
        double sum = 0;
        double worst = 0;
        for (double one : nanos) {
            sum += one;
        }
        List<Object> cells = new ArrayList<>(List.of(name(sampler)));
        for (int i = 0; i < nanos.length; i++) {
            double share = 100 * nanos[i] / sum;
            worst = Math.max(worst, Math.abs(share - PERCENT[i]));
            cells.add(share);
        }
        cells.add(worst);
        cells.add(100 * sum / elapsed / threads);
        cells.add(after.getOutcomes().get("UNMOUNTED_WALKED")
                - before.getOutcomes().get("UNMOUNTED_WALKED"));
        cells.add(100.0 * (after.getOwnCpuNanos() - before.getOwnCpuNanos()) / elapsed);
        Jvm.tell(cells.toArray());
    }

    private static void add(String line, double... nanos) {
        for (int i = 0; i < nanos.length; i++) {
            if (line.contains(Unmounted.class.getName() + "." + (char) ('a' + i) + "(")) {
                nanos[i] += Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
            }
        }
    }

    private static void tellSwitches(ThreadsSampler sampler, long window, int rounds) throws InterruptedException {
        for (int i = 0; i < SWITCHING; i++) {
            Virtual.start(null, Unmounted::takeTurns);
        }
        List<List<double[]>> found = List.of(new ArrayList<>(), new ArrayList<>());
        for (int i = -WARM_UP_WINDOWS; i < 2 * rounds; i++) {
            int isOn = Math.floorMod(i, 2);
            sampler.setSampleUnmountedVirtualThreads(isOn == 1);
            double[] figures = measure(sampler, window);
            if (i >= 0) {
                found.get(isOn).add(figures);
            }
        }
        for (int isOn = 0; isOn < 2; isOn++) {
            double[] costs =
                    found.get(isOn).stream().mapToDouble(one -> one[1]).sorted().toArray();
            double[] rates =
                    found.get(isOn).stream().mapToDouble(one -> one[0]).sorted().toArray();
            Jvm.tell(
                    name(sampler),
                    isOn == 1 ? "sampled" : "not sampled",
                    rates[rates.length / 2],
                    rates[rates.length - 1],
                    costs[costs.length / 2],
                    costs[0],
                    costs[costs.length - 1]);
        }
    }

    /* Switches per second, and CPU nanoseconds per switch. */
    private static double[] measure(ThreadsSampler sampler, long window) throws InterruptedException {
        long cpu = processCpu() - sampler.getStatistics().getOwnCpuNanos();
        long begin = System.nanoTime();
        long turns = TURNS.sum();
        Thread.sleep(window);
        turns = TURNS.sum() - turns;
        cpu = processCpu() - sampler.getStatistics().getOwnCpuNanos() - cpu;
        return new double[] {turns * 1e9 / (System.nanoTime() - begin), (double) cpu / turns};
    }

    private static long processCpu() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static void takeTurns() {
        while (true) {
            Thread.yield();
            TURNS.increment();
        }
    }

    private static void a() {
        park();
    }

    private static void b() {
        park();
    }

    private static void c() {
        park();
    }

    private static void d() {
        park();
    }

    private static void e() {
        park();
    }

    private static void park() {
        while (true) {
            LockSupport.park();
        }
    }
}
