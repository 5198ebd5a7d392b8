// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.BuildPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

/** The cost of sampling ten thousand threads that wake up once a second, with the default interval. */
public final class WokenThreads {

    private static final int THREADS = 10_000;
    private static final int DEPTH = 50;
    private static final long INTERVAL_MILLIS = 50;
    private static final long PERIOD_MILLIS = 1000;
    private static final long STACK_BYTES = 256 * 1024;
    private static final double BAR = 0.5;
    private static final double NANOS_PER_MILLI = 1e6;

    private WokenThreads() {}

    /**
     * Runs everything.
     *
     * @param plan before: the build to compare with
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            int threads = plan.scaled(THREADS);
            Table table = new Table(
                    threads + " threads, each awake once a second, JDK " + Jvm.version(jdk),
                    "build",
                    "own CPU, ms per s",
                    "spread",
                    "of the older build",
                    "bar");
            Map<String, List<Double>> windows = new LinkedHashMap<>();
            Map<String, String> notes = new LinkedHashMap<>();
            for (String[] cells : BuildPeer.inTurn(plan, jdk, WokenThreads.class, threads)) {
                windows.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(Double.parseDouble(cells[1]));
                notes.put(cells[0], cells[2]);
            }
            double before = Figures.median(windows.getOrDefault(BuildPeer.BEFORE, List.of()));
            windows.forEach((name, figures) -> {
                double share = Figures.median(figures) / before;
                boolean isCompared = !name.equals(BuildPeer.BEFORE) && !Double.isNaN(share);
                table.row(
                        name,
                        Figures.median(figures),
                        Figures.spread(figures),
                        isCompared ? share : Double.NaN,
                        isCompared ? Table.atMost(share, BAR) : "");
            });
            table.note(DEPTH + " frames, parked; every " + INTERVAL_MILLIS + " ms, no limit; CPU by the sampler's own"
                    + " account. Medians of " + plan.rounds() + " windows of " + plan.windowMillis()
                    + " ms, builds in turn, each in a JVM of its own after " + settleMillis(plan.windowMillis())
                    + " ms.");
            notes.forEach((name, note) -> table.note("Polls of " + name + " in the last window: " + note));
            tables.add(table);
        }
        return tables;
    }

    private static long settleMillis(long windowMillis) {
        return Math.min(6000, 3 * windowMillis);
    }

    /**
     * The measured program.
     *
     * @param arguments the number of threads, milliseconds of a window, a jar or ""
     */
    public static void main(String... arguments) throws Exception {
        BuildPeer build = BuildPeer.of(arguments[2], INTERVAL_MILLIS);
        wakeUpInTurn(gather(Integer.parseInt(arguments[0])));
        measure(build, Long.parseLong(arguments[1]));
        System.exit(0);
    }

    private static List<Thread> gather(int count) throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(null, () -> descend(DEPTH, arrived), "woken-" + i, STACK_BYTES);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        arrived.await();
        return threads;
    }

    private static int descend(int depth, CountDownLatch arrived) {
        if (depth > 0) {
            return descend(depth - 1, arrived) + 1;
        }
        arrived.countDown();
        while (true) {
            LockSupport.park();
        }
    }

    /** Starts a thread that wakes each of them once a second. */
    static void wakeUpInTurn(List<Thread> threads) {
        Thread waker = new Thread(
                () -> {
                    long start = System.nanoTime();
                    for (long i = 0; true; i++) {
                        long due = start + i * PERIOD_MILLIS * (long) NANOS_PER_MILLI / threads.size();
                        if (due > System.nanoTime()) {
                            LockSupport.parkNanos((long) NANOS_PER_MILLI);
                        }
                        LockSupport.unpark(threads.get((int) (i % threads.size())));
                    }
                },
                "waker");
        waker.setDaemon(true);
        waker.start();
    }

    private static void measure(BuildPeer build, long window) throws Exception {
        build.start(List.of());
        Thread.sleep(settleMillis(window));
        long before = build.ownCpuNanos();
        long start = System.nanoTime();
        Thread.sleep(window);
        long used = build.ownCpuNanos() - before;
        double seconds = (System.nanoTime() - start) / 1e9;
        String note = build.describe();
        build.stop();
        Jvm.tell(build.name(), used / NANOS_PER_MILLI / seconds, note);
    }
}
