// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Machine;
import com.incapsula.sampler.bench.ObservedLibrary;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.SignalTimes;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The cost of the signal handler, compared with a bare signal and async-profiler's handlers; and the cost of a walk in
 * it: AsyncGetCallTrace, our walk without its cache and with it, one after the other within one handler on the same
 * registers.
 */
public final class HandlerCost {

    private static final double UNCACHED_BAR = 1.0 / 2;
    private static final double CACHED_BAR = 1.0 / 3;
    private static final int FAST_MILLIS = 1;
    private static final int WALKS_MILLIS = 10; // each handler makes several walks
    private static final int BARE_EVERY_MILLIS = 5;
    private static final int WARM_UP_MILLIS = 3000;
    private static final int DEPTH = 43; // with the frames below and above, 50 frames
    private static final double P90 = 0.9;
    private static final double WHOLE_BAR_NANOS = 2000;
    private static final String THREAD = "measured";
    private static final List<String> PEERS = List.of("wall", "ctimer"); // events of async-profiler
    private static volatile long sink;
    private static volatile boolean running;
    private static volatile boolean measured; // while true, bare signals are sent

    /** The flags of a JVM, and the program that runs in it. */
    private record Setting(String title, String program, List<String> flags) {}

    private static final List<Setting> SETTINGS = List.of(
            new Setting("chain, mostly inlined", "chain", List.of()),
            new Setting("recursion", "recursion", List.of()),
            new Setting("chain, C1 only", "chain", List.of("-XX:TieredStopAtLevel=1")),
            new Setting("chain, -Xint", "chain", List.of("-Xint")),
            new Setting("collections and strings", "collections", List.of()));

    private HandlerCost() {}

    /**
     * Runs everything.
     *
     * @param plan decides how long; its older build is the library that {@link ObservedLibrary} has linked for it
     * @param only a regular expression that selects programs by their titles
     * @return two tables per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            String where = ", JDK " + Jvm.version(jdk) + ", " + Machine.processor();
            Table handlers = new Table(
                    "Cost of a handler as found, ns, p50 (p90)" + where,
                    "program",
                    "frames",
                    "bare signal",
                    "the older build's",
                    Peer.HYBRID,
                    "async-profiler, wall",
                    "async-profiler, ctimer",
                    "of the bare signal: the older build's",
                    Peer.HYBRID + " ",
                    "wall",
                    "ctimer",
                    "bar");
            Table walks = new Table(
                    "Cost of a walk in the handler, ns, p50 (p90)" + where,
                    "program",
                    "caches",
                    "walks",
                    "frames",
                    "AsyncGetCallTrace",
                    Peer.HYBRID + ", no cache",
                    Peer.HYBRID + ", cache",
                    "the older build's, cache",
                    "system calls, no cache",
                    "ratio, no cache",
                    "ratio, cache",
                    "cache, of the bare signal",
                    "bar");
            for (Setting setting : SETTINGS) {
                if (setting.title.matches(only)) {
                    measure(jdk, setting, plan, handlers, walks);
                }
            }
            handlers.note(
                    "From the first instruction of the handler to its last one. Bare signal: the same signal, which"
                            + " the thread sends to itself, with a handler that returns at once; from its delivery to the end,"
                            + " the system call that sends it left out. A sample costs its thread both. Every "
                            + FAST_MILLIS
                            + " ms, all on the same thread; the two builds in turn, async-profiler behind ours in the same JVM:"
                            + " its handlers store the stack as well, ours leaves that to the sampler thread. The bar of 50"
                            + " frames is 2 µs, and of all less than async-profiler's.");
            walks.note("Warm: each walk right after the same one. Swept: after 8 MB have been read. As found: only the"
                    + " first walk of a handler counts. The three ways take turns in being first. Walks: those of which"
                    + " each way found the same number of frames. No cache: what each return address means is read from"
                    + " the JVM's memory each time; ids of methods are known, as the JVM has announced them (up to JDK"
                    + " 25). Ratios are of the medians; the bars are 1/2 without and 1/3 with the cache.");
            tables.add(handlers);
            tables.add(walks);
        }
        return tables;
    }

    private static void measure(Path jdk, Setting setting, Plan plan, Table handlers, Table walks)
            throws IOException, InterruptedException {
        Map<String, List<int[]>> ours = new HashMap<>();
        Map<String, List<int[]>> before = new HashMap<>();
        long millis = plan.windowMillis() * plan.rounds();
        if (plan.before() == null) {
            runIn(jdk, setting, ObservedLibrary.flag(), millis, PEERS, ours);
        } else {
            String older = ObservedLibrary.flag(plan.before());
            runIn(jdk, setting, older, millis / 2, List.of(), before);
            runIn(jdk, setting, ObservedLibrary.flag(), millis / 2, PEERS, ours);
            runIn(jdk, setting, ObservedLibrary.flag(), millis / 2, List.of(), ours);
            runIn(jdk, setting, older, millis / 2, List.of(), before);
        }
        List<Double> bare = column(rows(ours, "bare"), 0);
        addHandlers(handlers, setting.title, bare, ours, before);
        List<int[]> all = rows(ours, "walk");
        List<int[]> equal = all.stream().filter(HandlerCost::isEqual).toList();
        List<int[]> older =
                rows(before, "walk").stream().filter(HandlerCost::isEqual).toList();
        addRow(walks, setting.title, "warm", equal, older, bare, HandlerTimes.WARM, all.size());
        addRow(walks, setting.title, "swept", equal, older, bare, HandlerTimes.SWEPT, all.size());
        addRow(walks, setting.title, "as found", equal, older, bare, HandlerTimes.FOUND, all.size());
    }

    private static void runIn(
            Path jdk, Setting setting, String library, long millis, List<String> peers, Map<String, List<int[]>> to)
            throws IOException, InterruptedException {
        List<String> flags = new ArrayList<>(setting.flags);
        flags.add(library);
        List<String[]> lines =
                Jvm.of(jdk, flags).run(HandlerCost.class, setting.program, millis, String.join(",", peers));
        for (String[] cells : lines) {
            to.computeIfAbsent(cells[0], kind -> new ArrayList<>())
                    .add(Arrays.stream(cells)
                            .skip(1)
                            .mapToInt(Integer::parseInt)
                            .toArray());
        }
    }

    private static List<int[]> rows(Map<String, List<int[]>> figures, String kind) {
        return figures.getOrDefault(kind, List.of());
    }

    private static void addHandlers(
            Table table,
            String title,
            List<Double> bare,
            Map<String, List<int[]>> ours,
            Map<String, List<int[]>> before) {
        List<Double> frames = column(rows(ours, "whole"), 0);
        List<Double> whole = column(rows(ours, "whole"), 1);
        List<Double> older = column(rows(before, "whole"), 1);
        List<Double> wall = column(rows(ours, "wall"), 0);
        List<Double> ctimer = column(rows(ours, "ctimer"), 0);
        double mine = Figures.median(whole);
        String bar = "below wall " + Table.atMost(mine, Math.round(Figures.median(wall))) + "; below ctimer "
                + Table.atMost(mine, Math.round(Figures.median(ctimer)));
        table.row(
                title,
                Math.round(Figures.median(frames)),
                text(bare),
                text(older),
                text(whole),
                text(wall),
                text(ctimer),
                ratio(older, bare),
                ratio(whole, bare),
                ratio(wall, bare),
                ratio(ctimer, bare),
                (Figures.median(frames) < DEPTH ? "" : Table.atMost(mine, WHOLE_BAR_NANOS) + "; ") + bar);
    }

    private static Double ratio(List<Double> times, List<Double> bare) {
        return times.isEmpty() || bare.isEmpty() ? null : Figures.median(times) / Figures.median(bare);
    }

    private static boolean isEqual(int... row) {
        return row[HandlerTimes.BY_JVM] > 0
                && row[HandlerTimes.BY_JVM] == row[HandlerTimes.OWN]
                && row[HandlerTimes.BY_JVM] == row[HandlerTimes.OWN_CACHED];
    }

    private static void addRow(
            Table table,
            String title,
            String name,
            List<int[]> rows,
            List<int[]> older,
            List<Double> bare,
            int state,
            int all) {
        int first = HandlerTimes.WAYS + state * HandlerTimes.WAYS;
        List<List<Double>> times = IntStream.range(first, first + HandlerTimes.WAYS)
                .mapToObj(way -> column(rows, way))
                .toList();
        double jvm = Figures.median(times.get(HandlerTimes.BY_JVM));
        double own = Figures.median(times.get(HandlerTimes.OWN)) / jvm;
        double cached = Figures.median(times.get(HandlerTimes.OWN_CACHED)) / jvm;
        table.row(
                title,
                name,
                rows.size() + " of " + all,
                Math.round(Figures.median(column(rows, HandlerTimes.BY_JVM))),
                text(times.get(HandlerTimes.BY_JVM)),
                text(times.get(HandlerTimes.OWN)),
                text(times.get(HandlerTimes.OWN_CACHED)),
                text(column(older, first + HandlerTimes.OWN_CACHED)),
                Math.round(Figures.median(column(rows, HandlerTimes.CALLS + HandlerTimes.OWN))),
                own,
                cached,
                ratio(times.get(HandlerTimes.OWN_CACHED), bare),
                state == HandlerTimes.FOUND
                        ? ""
                        : Table.atMost(own, UNCACHED_BAR) + "; " + Table.atMost(cached, CACHED_BAR));
    }

    private static List<Double> column(List<int[]> rows, int column) {
        return rows.stream()
                .map(row -> (double) row[column])
                .filter(value -> value >= 0)
                .toList();
    }

    private static String text(List<Double> times) {
        return times.isEmpty()
                ? "–"
                : String.format(Locale.ROOT, "%.0f (%.0f)", Figures.median(times), Figures.quantile(times, P90));
    }

    /* ------------------------------------------------------------------------------------- in the measured JVM */

    /**
     * The measured program.
     *
     * @param arguments the program, milliseconds, events of async-profiler that are measured after ours
     */
    public static void main(String... arguments) throws Exception {
        long millis = Long.parseLong(arguments[1]);
        SamplerPeer fast = new SamplerPeer(SamplingEngine.AUTO, FAST_MILLIS);
        SamplerPeer slow = new SamplerPeer(SamplingEngine.AUTO, WALKS_MILLIS);
        fast.start();
        running = true;
        Thread thread = new Thread(() -> work(arguments[0], Math.min(WARM_UP_MILLIS, millis)), THREAD);
        thread.start();
        Thread.sleep(millis / 2 + Math.min(WARM_UP_MILLIS, millis));
        fast.stop(name -> false);
        HandlerTimes.timeWalks();
        slow.start();
        Thread.sleep(millis);
        measured = false;
        int[] numbers = HandlerTimes.stop();
        slow.stop(name -> false);
        for (String event : arguments[2].split(",", -1)) {
            if (!event.isEmpty()) {
                tell(event, timeOf(event, millis / 2), 1);
            }
        }
        running = false;
        thread.join();
        tell("walk", numbers, HandlerTimes.COLUMNS);
        tell("whole", HandlerTimes.whole(), 2);
        tell("bare", HandlerTimes.bareTimes(), 1);
        System.exit(0);
    }

    private static int[] timeOf(String event, long millis) throws Exception {
        AsyncProfilerPeer.start(event, FAST_MILLIS);
        SignalTimes.startOf(THREAD);
        Thread.sleep(millis);
        int[] nanos = SignalTimes.stop();
        AsyncProfilerPeer.end();
        return nanos;
    }

    private static void tell(String kind, int[] numbers, int columns) {
        for (int at = 0; at < numbers.length; at += columns) {
            List<Object> cells = new ArrayList<>(List.of(kind));
            Arrays.stream(numbers, at, at + columns).forEach(cells::add);
            Jvm.tell(cells.toArray());
        }
    }

    private static void work(String program, long warmUpMillis) {
        long end = System.nanoTime() + warmUpMillis * 1_000_000;
        while (System.nanoTime() < end) {
            step(program);
        }
        measured = true;
        HandlerTimes.start();
        long next = System.nanoTime();
        while (running) {
            step(program);
            if (measured && System.nanoTime() > next) {
                HandlerTimes.bare();
                next = System.nanoTime() + BARE_EVERY_MILLIS * 1_000_000L;
            }
        }
    }

    private static void step(String program) {
        switch (program) {
            case "chain" -> sink += chain1(DEPTH);
            case "recursion" -> sink += recursion(DEPTH);
            case "collections" -> sink += collections();
            default -> throw new IllegalArgumentException(program);
        }
    }

    /* Six methods that call each other; the JVM inlines them as far as it inlines recursion. */
    private static long chain1(int depth) {
        return depth == 0 ? burn() : chain2(depth - 1) + 1;
    }

    private static long chain2(int depth) {
        return depth == 0 ? burn() : chain3(depth - 1) + 2;
    }

    private static long chain3(int depth) {
        return depth == 0 ? burn() : chain4(depth - 1) + 3;
    }

    private static long chain4(int depth) {
        return depth == 0 ? burn() : chain5(depth - 1) + 4;
    }

    private static long chain5(int depth) {
        return depth == 0 ? burn() : chain6(depth - 1) + 5;
    }

    private static long chain6(int depth) {
        return depth == 0 ? burn() : chain1(depth - 1) + 6;
    }

    private static long recursion(int depth) {
        return depth == 0 ? burn() : recursion(depth - 1) + 1;
    }

    private static long burn() {
        long value = sink;
        for (int i = 0; i < 2000; i++) {
            value = value * 31 + (value >>> 7) + i;
        }
        return value;
    }

    private static long collections() {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < 2000; i++) {
            counts.merge("key-" + i % 300, 1, Integer::sum);
        }
        List<String> keys = new ArrayList<>(counts.keySet());
        Collections.sort(keys);
        return keys.stream()
                .filter(key -> key.length() > 5)
                .collect(Collectors.joining(","))
                .length();
    }
}
