// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.ObservedLibrary;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
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
 * What a walk costs in the signal handler: AsyncGetCallTrace, ours without its cache, ours with it, in turn within one
 * handler on the same registers.
 */
public final class HandlerCost {

    private static final double UNCACHED_BAR = 1.0 / 2;
    private static final double CACHED_BAR = 1.0 / 3;
    private static final int INTERVAL_MILLIS = 10;
    private static final int WARM_UP_MILLIS = 3000;
    private static final int DEPTH = 43; // with those below and above it, 50 frames
    private static final double P90 = 0.9;
    private static volatile long sink;
    private static volatile boolean running;

    /** A JVM: its flags, and what runs in it. */
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
     * @param plan how long
     * @param only a regular expression, for some of the programs (their titles)
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Cost of a walk in the handler, ns, p50 (p90), JDK " + Jvm.version(jdk),
                    "program",
                    "caches",
                    "walks",
                    "frames",
                    "AsyncGetCallTrace",
                    Peer.HYBRID + ", no cache",
                    Peer.HYBRID + ", cache",
                    "system calls, no cache",
                    "ratio, no cache",
                    "ratio, cache",
                    "bar");
            for (Setting setting : SETTINGS) {
                if (setting.title.matches(only)) {
                    measure(jdk, setting, plan, table);
                }
            }
            table.note("Warm: each walk right after the same one. Swept: after 8 MB have been read. As found: only the"
                    + " first walk of a handler counts. The three ways take turns in being first. Walks: those of which"
                    + " each way found the same number of frames. No cache: what each return address means is read from"
                    + " the JVM's memory each time; ids of methods are known, as the JVM has announced them (up to JDK"
                    + " 25). Ratios are of the medians; the bars are 1/2 without and 1/3 with the cache.");
            tables.add(table);
        }
        return tables;
    }

    private static void measure(Path jdk, Setting setting, Plan plan, Table table)
            throws IOException, InterruptedException {
        List<String> flags = new ArrayList<>(setting.flags);
        flags.add(ObservedLibrary.flag());
        List<String[]> lines =
                Jvm.of(jdk, flags).run(HandlerCost.class, setting.program, plan.windowMillis() * plan.rounds());
        List<int[]> rows = new ArrayList<>();
        for (String[] cells : lines) {
            rows.add(Arrays.stream(cells).mapToInt(Integer::parseInt).toArray());
        }
        List<int[]> whole = rows.stream().filter(HandlerCost::isEqual).toList();
        addRow(table, setting.title, "warm", whole, HandlerTimes.WARM, rows.size());
        addRow(table, setting.title, "swept", whole, HandlerTimes.SWEPT, rows.size());
        addRow(table, setting.title, "as found", whole, HandlerTimes.FOUND, rows.size());
    }

    private static boolean isEqual(int... row) {
        return row[HandlerTimes.BY_JVM] > 0
                && row[HandlerTimes.BY_JVM] == row[HandlerTimes.OWN]
                && row[HandlerTimes.BY_JVM] == row[HandlerTimes.OWN_CACHED];
    }

    private static void addRow(Table table, String title, String name, List<int[]> rows, int state, int all) {
        List<List<Double>> times = IntStream.range(0, HandlerTimes.WAYS)
                .mapToObj(way -> column(rows, HandlerTimes.WAYS + state * HandlerTimes.WAYS + way))
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
                Math.round(Figures.median(column(rows, HandlerTimes.CALLS + HandlerTimes.OWN))),
                own,
                cached,
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
     * @param arguments which one, milliseconds
     */
    public static void main(String... arguments) throws Exception {
        long millis = Long.parseLong(arguments[1]);
        SamplerPeer sampler = new SamplerPeer(SamplingEngine.AUTO, INTERVAL_MILLIS);
        sampler.start();
        running = true;
        Thread thread = new Thread(() -> work(arguments[0], Math.min(WARM_UP_MILLIS, millis)), "measured");
        thread.start();
        Thread.sleep(millis + Math.min(WARM_UP_MILLIS, millis));
        int[] numbers = HandlerTimes.stop();
        running = false;
        thread.join();
        sampler.stop(name -> false);
        for (int at = 0; at < numbers.length; at += HandlerTimes.COLUMNS) {
            Jvm.tell(IntStream.range(at, at + HandlerTimes.COLUMNS)
                    .mapToObj(i -> (Object) numbers[i])
                    .toArray());
        }
        System.exit(0);
    }

    private static void work(String program, long warmUpMillis) {
        long end = System.nanoTime() + warmUpMillis * 1_000_000;
        while (System.nanoTime() < end) {
            step(program);
        }
        HandlerTimes.start();
        while (running) {
            step(program);
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

    /* Six methods that call each other are inlined into one another, as far as the JVM inlines recursion. */
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
