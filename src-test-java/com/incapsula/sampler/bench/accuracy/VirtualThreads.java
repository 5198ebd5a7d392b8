// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * Virtual threads that compute for a moment after each park, deep in a chain of calls. The JVM restores the frames of a
 * parked thread one by one, when a call returns to them, so most of the chain is not on the carrier's stack. How many
 * of a profiler's stacks reach the method in which the thread's work begins?
 */
public final class VirtualThreads {

    /** The first JDK with virtual threads. */
    public static final int FIRST_JDK = 21;

    private static final int[] DEPTHS = {10, 200};
    private static final int THREADS = 4;
    private static final int PARKS = 50;
    private static final long PARK_NANOS = 1_000_000;
    private static final long BURN_NANOS = 300_000;
    private static final int WARM_UP_WINDOWS = 2;
    private static final double BAR = 0.5;
    private static final String CLASS = VirtualThreads.class.getName() + ".";
    private static volatile boolean running;
    private static volatile long sink;

    private VirtualThreads() {}

    /**
     * Runs everything.
     *
     * @param plan rounds times window is the time for which each profiler runs; JDKs without virtual threads are
     *     skipped
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            if (Integer.parseInt(Jvm.version(jdk).split("\\D")[0]) < FIRST_JDK) {
                continue;
            }
            Table table = new Table(
                    "Virtual threads after a park, JDK " + Jvm.version(jdk),
                    "frames",
                    "profiler",
                    "weight seen",
                    "reaches the root %",
                    "right line %",
                    "failed %",
                    "not polled %",
                    "bar");
            Map<List<String>, double[]> sums = new LinkedHashMap<>();
            Map<String, String> examples = new LinkedHashMap<>();
            List<String> flags =
                    List.of("-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2");
            for (String[] cells :
                    Jvm.of(jdk, flags).run(VirtualThreads.class, plan.windowMillis(), plan.rounds(), plan.sources())) {
                double[] sum = sums.computeIfAbsent(List.of(cells[0], cells[1]), key -> new double[5]);
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += Double.parseDouble(cells[2 + i]);
                }
                if ((cells[1].startsWith(Peer.HYBRID) || cells[1].equals(Peer.ASYNC)) && !cells[7].isEmpty()) {
                    examples.put(cells[0] + " frames, " + cells[1], cells[7]);
                }
            }
            sums.forEach((key, sum) -> addRow(table, key, sum));
            examples.forEach((what, stacks) -> table.note(what + ", without root: `" + stacks + "`"));
            table.note(THREADS + " virtual threads on 2 carriers; each parks for 1 ms, computes for 0.3, and returns"
                    + " from its calls after " + PARKS + " parks. Weight: samples; ms of wall time for ours, of stacks"
                    + " with a method of the program. Root: the method in which the thread's work begins.");
            tables.add(table);
        }
        return tables;
    }

    private static void addRow(Table table, List<String> key, double... sum) {
        boolean ours = key.get(1).startsWith(Peer.HYBRID);
        double failed = 100 * sum[1] / sum[0];
        Object failedCell = key.get(1).equals(Peer.JFR) ? "?" : failed;
        table.row(
                key.get(0),
                key.get(1),
                sum[0],
                100 * (sum[0] - sum[1] - sum[2]) / sum[0],
                100 * sum[4] / sum[0],
                failedCell,
                100 * sum[3] / (sum[0] + sum[3]),
                ours ? "failed " + Table.atMost(failed, BAR) : "");
    }

    /**
     * The measured program.
     *
     * @param arguments milliseconds of a window, rounds, the folder of the sources, the name of one profiler; without
     *     it, all
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        Set<Integer> hot = Truth.hotLines(Path.of(arguments[2]), VirtualThreads.class, "burn");
        SamplerPeer.keepExactLines();
        for (int depth : DEPTHS) {
            running = true;
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                threads.add(start("desk-" + i, () -> work(depth)));
            }
            Thread.sleep(WARM_UP_WINDOWS * window);
            for (int round = 0; round < rounds; round++) {
                for (String name : arguments.length > 3 ? List.of(arguments[3]) : Peer.withThreads()) {
                    measure(depth, name, window, hot);
                }
            }
            running = false;
            for (Thread thread : threads) {
                thread.join();
            }
        }
        System.exit(0);
    }

    /* Uses reflection, because the benchmarks are compiled for Java 17. */
    private static Thread start(String name, Runnable body) throws ReflectiveOperationException {
        Class<?> virtual = Class.forName("java.lang.Thread$Builder$OfVirtual");
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        virtual.getMethod("name", String.class).invoke(builder, name);
        return (Thread) virtual.getMethod("start", Runnable.class).invoke(builder, body);
    }

    private static void measure(int depth, String name, long window, Set<Integer> hot) throws Exception {
        Peer peer = Peer.of(name);
        peer.start();
        Thread.sleep(window);
        /* Some profilers report the name of the virtual thread, some the name of its carrier, some none. */
        Profile profile = peer.stop(thread -> !thread.equals("main"));
        Predicate<List<Frame>> isProgram = stack -> stack.stream().anyMatch(VirtualThreads::isOurs);
        Tally tally = Tally.of(profile, isProgram, Set.of(CLASS + "work"));
        double[] right = new double[1];
        profile.stacks().forEach((stack, weight) -> right[0] += isRight(stack, hot) ? weight : 0);
        String engine =
                peer instanceof SamplerPeer ours ? " (" + ours.statistics().getEngine() + ")" : "";
        Jvm.tell(
                depth,
                name + engine,
                tally.seen(),
                tally.failed(),
                tally.unrooted(),
                tally.skipped(),
                right[0],
                tally.examples());
    }

    private static boolean isOurs(Frame frame) {
        return frame.method().startsWith(CLASS);
    }

    /* A stack is right if the topmost method of this program is the one that computes, at its line. */
    private static boolean isRight(List<Frame> stack, Set<Integer> hot) {
        return stack.stream()
                .filter(VirtualThreads::isOurs)
                .findFirst()
                .map(frame -> frame.method().equals(CLASS + "burn") && hot.contains(frame.line()))
                .orElse(false);
    }

    private static void work(int depth) {
        while (running) {
            descend(depth);
        }
    }

    private static void descend(int depth) {
        if (depth == 0) {
            serve();
        } else {
            descend(depth - 1);
        }
        sink++;
    }

    private static void serve() {
        for (int i = 0; i < PARKS && running; i++) {
            LockSupport.parkNanos(PARK_NANOS);
            burn(System.nanoTime() + BURN_NANOS);
        }
    }

    private static void burn(long end) {
        long value = sink;
        while (System.nanoTime() < end) { // hot: burn
            for (int i = 0; i < 2000; i++) { // hot: burn
                value = value * 31 + i; // hot: burn
            }
        }
        sink = value;
    }
}
