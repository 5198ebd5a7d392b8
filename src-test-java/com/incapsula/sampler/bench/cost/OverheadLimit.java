// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Polling thousands of threads every millisecond exceeds the overhead limit: does the sampler keep to the limit, and
 * are the shares right nevertheless? Four threads are always busy, 1 in 20 wakes up now and then, and all others are
 * parked.
 */
public final class OverheadLimit {

    private static final int THREADS = 4000;
    private static final int DEPTH = 20;
    private static final int BUSY = 4;
    private static final int WAKING_SHARE = 20;
    private static final int WAKING_MILLIS = 100;
    /** The default. Waking up every millisecond alone costs more than that. */
    static final double LIMIT_PERCENT = 1;

    static final double LIMIT_BAR = 1.3;
    static final double SHARE_BAR = 2;
    private static final double LONG_SHARE = 0.7;
    private static final int WARM_UP_MILLIS = 2000;
    private static final int MILLION = 1_000_000;
    /** The name of the busy threads' group in the report. */
    private static final String BUSY_NAME = "at work-";

    private static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    private OverheadLimit() {}

    /**
     * Runs everything.
     *
     * @param plan the run takes ten times rounds times window, because within the limit there are few polls
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        int threads = plan.scaled(THREADS);
        Table table = new Table(
                threads + " threads, polled every ms, limit " + LIMIT_PERCENT + " % of a processor",
                "JDK",
                "profiler",
                "own CPU %",
                "polls skipped %",
                "credits to the busy threads",
                "longer phase, CPU %",
                "seen %",
                "longer phase, wall %",
                "seen %",
                "bar");
        for (Path jdk : plan.jdks()) {
            for (String[] cells : Jvm.of(jdk, List.of())
                    .run(OverheadLimit.class, threads, 10 * plan.rounds() * plan.windowMillis())) {
                double own = Double.parseDouble(cells[1]);
                double truth = Double.parseDouble(cells[4]);
                double seen = Double.parseDouble(cells[5]);
                table.row(
                        Jvm.version(jdk),
                        cells[0],
                        own,
                        Double.parseDouble(cells[2]),
                        Long.parseLong(cells[3]),
                        truth,
                        seen,
                        Double.parseDouble(cells[6]),
                        Double.parseDouble(cells[7]),
                        Table.atMost(own, LIMIT_BAR * LIMIT_PERCENT) + "; CPU share "
                                + Table.atMost(Math.abs(seen - truth), SHARE_BAR));
            }
        }
        table.note("Four threads are always in one of two phases, by their own CPU clocks. 1 in "
                + WAKING_SHARE + " wakes every " + WAKING_MILLIS + " ms; the others are parked, " + DEPTH
                + " deep. Own CPU: of the"
                + " sampler's threads, " + WARM_UP_MILLIS + " ms after the limit was set; until then there was none.");
        return List.of(table);
    }

    /**
     * The measured program.
     *
     * @param arguments threads, milliseconds
     */
    public static void main(String... arguments) throws Exception {
        int threads = Integer.parseInt(arguments[0]);
        int waking = threads / WAKING_SHARE;
        SamplerPeer.keepExactLines();
        Crowd.gather(Math.max(1, threads - waking - BUSY), DEPTH);
        start(waking, "waking-", OverheadLimit::wake);
        start(BUSY, BUSY_NAME, OverheadLimit::work);
        SamplerPeer sampler = new SamplerPeer(SamplingEngine.AUTO, 1);
        sampler.start();
        /*
         * The first stacks of all threads are walked without a limit; with it, 4,000 stacks would take half a minute.
         */
        Thread.sleep(WARM_UP_MILLIS);
        sampler.limit(LIMIT_PERCENT);
        Thread.sleep(WARM_UP_MILLIS);
        measure(sampler, Long.parseLong(arguments[1]));
        System.exit(0);
    }

    private static void measure(SamplerPeer sampler, long millis) throws Exception {
        sampler.forget();
        long[] wall = {Longer.WALL.get(), Shorter.WALL.get()};
        long[] cpu = {Longer.CPU.get(), Shorter.CPU.get()};
        SamplerStatistics before = sampler.statistics();
        Thread.sleep(millis);
        SamplerStatistics after = sampler.statistics();
        Profile seen = sampler.stop(BUSY_NAME::equals);
        double own = 100.0
                * (after.getOwnCpuNanos() - before.getOwnCpuNanos())
                / (after.getElapsedNanos() - before.getElapsedNanos());
        double skipped = 100.0 * (skipped(after) - skipped(before)) / (after.getPolls() - before.getPolls());
        Jvm.tell(
                Peer.HYBRID + " (" + after.getEngine() + ")",
                own,
                skipped,
                sampler.samples(),
                share(Longer.CPU.get() - cpu[0], Shorter.CPU.get() - cpu[1]),
                share(sampler.cpu()),
                share(Longer.WALL.get() - wall[0], Shorter.WALL.get() - wall[1]),
                share(seen));
    }

    private static double share(double longer, double shorter) {
        return 100 * longer / (longer + shorter);
    }

    private static double share(Profile profile) {
        double[] seen = new double[2];
        profile.stacks().forEach((stack, weight) -> {
            seen[0] += contains(stack, Longer.class) ? weight : 0;
            seen[1] += contains(stack, Shorter.class) ? weight : 0;
        });
        return share(seen[0], seen[1]);
    }

    private static boolean contains(List<Frame> stack, Class<?> phase) {
        return stack.stream().anyMatch(frame -> frame.method().equals(phase.getName() + ".run"));
    }

    private static long skipped(SamplerStatistics statistics) {
        return statistics.getOutcomes().get("OVER_OVERHEAD_LIMIT");
    }

    private static void start(int count, String name, Runnable body) {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(null, body, name + i, 256 * 1024);
            thread.setDaemon(true);
            threads.add(thread);
        }
        threads.forEach(Thread::start);
    }

    private static void wake() {
        while (true) {
            LockSupport.parkNanos((long) WAKING_MILLIS * MILLION);
            sink += 1;
        }
    }

    /* Phases have random lengths, so that no profiler can lock onto a period. */
    private static void work() {
        Random random = new Random();
        Phase[] phases = {new Longer(), new Shorter()};
        while (true) {
            long nanos = (long) (random.nextDouble() * 10 * MILLION);
            for (Phase phase : phases) {
                phase.run(nanos);
            }
        }
    }

    /** Both phases are called from one line, so a report shows each in a row of its own. */
    private interface Phase {
        void run(long nanos);
    }

    /** The phase with most of the time. */
    private static final class Longer implements Phase {
        static final AtomicLong WALL = new AtomicLong();
        static final AtomicLong CPU = new AtomicLong();

        @Override
        public void run(long nanos) {
            phase((long) (nanos * LONG_SHARE), WALL, CPU);
        }
    }

    /** The phase with the rest of the time. */
    private static final class Shorter implements Phase {
        static final AtomicLong WALL = new AtomicLong();
        static final AtomicLong CPU = new AtomicLong();

        @Override
        public void run(long nanos) {
            phase((long) (nanos * (1 - LONG_SHARE)), WALL, CPU);
        }
    }

    /*
     * Measures by the CPU clock: by the wall clock, a phase that ends while its thread is runnable would never be seen.
     */
    private static void phase(long nanos, AtomicLong wall, AtomicLong cpu) {
        long begin = System.nanoTime();
        long cpuBegin = CLOCKS.getCurrentThreadCpuTime();
        long used;
        long value = sink;
        do {
            for (int i = 0; i < 20_000; i++) {
                value = value * 31 + i;
            }
            used = CLOCKS.getCurrentThreadCpuTime() - cpuBegin;
        } while (used < nanos);
        sink = value;
        wall.addAndGet(System.nanoTime() - begin);
        cpu.addAndGet(used);
    }
}
