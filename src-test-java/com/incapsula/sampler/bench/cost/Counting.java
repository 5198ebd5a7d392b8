// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncMethodsPeer;
import com.incapsula.sampler.bench.peer.CountingPeer;
import com.incapsula.sampler.bench.peer.MethodTimingPeer;
import com.incapsula.sampler.bench.peer.Peer;
import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The cost of counting calls for programs of other authors: before, during and after it, in one JVM. */
public final class Counting {

    private static final String BEFORE = "not counted, before the first time";
    private static final String BETWEEN = "not counted, after each `close()`";
    private static final double NO_LIMIT = 100;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int WARM_UPS = 2; /* windows */
    private static final int COUNTED_WARM_UPS = 10; /* windows until LAZY has found all methods */
    private static final String FIRST = ", first window";
    private static final String SETTLED = ", settled";
    private static final double RESTING = 0.1; /* the JIT compilers use at most this share of a window */
    private static final int MOST_COMPILING_WINDOWS = 60;
    private static final String NOT_AWAITED = "–";
    private static final int QUIET_WINDOWS = 20; /* of a second each; LAZY drops methods about every six seconds */
    private static final int MOST_WINDOWS = 180;
    private static final long ASYNC_INTERVAL = 1000; /* calls */
    private static final String METHODS_OF_PARSER = "com.sun.tools.javac.parser.*.*";
    private static final Path PARSER_CLASSES = Path.of("modules", "jdk.compiler", "com/sun/tools/javac/parser");

    /** A counter, or none. */
    private interface Counter {
        void start() throws Exception;

        /** Returns the figures so far. */
        Map<String, Long> figures() throws Exception;

        void stop() throws Exception;

        /** Whether it removes probes from methods that cost too much. */
        default boolean drops() {
            return false;
        }
    }

    private Counting() {}

    /**
     * Runs everything.
     *
     * @param plan how long and how often
     * @param only a regular expression that selects programs
     * @return a table per JDK and program
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            for (CountedWork work : CountedWork.values()) {
                if (work.name().matches(only.toUpperCase(Locale.ROOT))) {
                    tables.add(measure(plan, jdk, work));
                }
            }
        }
        return tables;
    }

    private static Table measure(Plan plan, Path jdk, CountedWork work) throws IOException, InterruptedException {
        Table table = new Table(
                work.name().toLowerCase(Locale.ROOT) + " counted, JDK " + Jvm.version(jdk),
                "counted by",
                "CPU of a pass, ms",
                "spread",
                "of a pass that is not counted",
                "the same, wall time",
                "calls of a pass",
                "methods",
                "dropped",
                "batches",
                "calls without a node",
                "measured after, s",
                "bar");
        Map<String, List<String[]>> rows = new LinkedHashMap<>();
        for (String[] cells : Jvm.of(jdk, List.of())
                .run(
                        Counting.class,
                        work,
                        plan.sources(),
                        plan.scaled(work.size()),
                        plan.windowMillis(),
                        plan.rounds())) {
            rows.computeIfAbsent(cells[0], name -> new ArrayList<>()).add(cells);
        }
        double cpu = Figures.median(column(rows.get(BEFORE), 1));
        double wall = Figures.median(column(rows.get(BEFORE), 2));
        rows.forEach((name, windows) -> {
            List<Double> passes = column(windows, 1);
            double share = Figures.median(passes) / cpu;
            String[] last = windows.get(windows.size() - 1);
            table.row(
                    name,
                    Figures.median(passes),
                    Figures.spread(passes),
                    name.equals(BEFORE) ? Double.NaN : share,
                    name.equals(BEFORE) ? Double.NaN : Figures.median(column(windows, 2)) / wall,
                    last[3],
                    last[4],
                    last[5],
                    last[6],
                    last[7],
                    last[8],
                    name.endsWith(FIRST) ? "" : bar(work, name, share));
        });
        table.note("`first window`: from the start of counting on, with its batches and all that is compiled anew; in"
                + " the first such row on JDK 17 that is all code. The bars are meant for the windows after it: they begin "
                + COUNTED_WARM_UPS + " windows after the start, and once the JIT compilers took at most "
                + Math.round(100 * RESTING) + " % of a window. `settled`: once no method was new or dropped for "
                + QUIET_WINDOWS + " windows, as it is in a service that runs for hours.");
        return table;
    }

    private static List<Double> column(List<String[]> rows, int column) {
        return rows.stream().map(row -> Double.parseDouble(row[column])).toList();
    }

    private static String bar(CountedWork work, String name, double share) {
        return name.startsWith(Peer.HYBRID) && work.bar() > 0 ? Table.atMost(share, work.bar()) : "";
    }

    /**
     * The measured program.
     *
     * @param arguments the work, the folder of sources, the size of a pass, milliseconds of a window, rounds
     */
    public static void main(String... arguments) throws Exception {
        CountedWork work = CountedWork.valueOf(arguments[0]);
        CountedWork.Pass pass = work.prepare(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
        long window = Long.parseLong(arguments[3]);
        int rounds = Integer.parseInt(arguments[4]);
        runFor(pass, COUNTED_WARM_UPS * window);
        for (int i = 0; i < rounds; i++) {
            measure(BEFORE, pass, window, null);
        }
        Map<String, Counter> counters = counters(work);
        for (int i = 0; i < rounds; i++) {
            for (Map.Entry<String, Counter> counter : counters.entrySet()) {
                measure(counter.getKey(), pass, window, counter.getValue());
                measure(BETWEEN, pass, window, null);
            }
        }
        System.exit(0);
    }

    private static Map<String, Counter> counters(CountedWork work) throws IOException {
        Map<String, Counter> counters = new LinkedHashMap<>();
        for (MethodTiming timing : List.of(MethodTiming.NONE, MethodTiming.SAMPLED, MethodTiming.EXACT)) {
            counters.put(
                    Peer.HYBRID + ", " + timing + ", no limit",
                    new Ours(timing, new CountingPeer(work.roots(), work.filter(), NO_LIMIT), false));
        }
        counters.put(
                Peer.HYBRID + ", all defaults",
                new Ours(MethodTiming.SAMPLED, new CountingPeer(work.roots(), work.filter(), 1), true));
        if (work != CountedWork.DATABASE && MethodTimingPeer.isThere()) {
            counters.put(MethodTimingPeer.NAME, new Timing(new MethodTimingPeer(classesOfParser())));
        }
        if (work == CountedWork.PARSER) {
            /* One stack per call would make a pass take minutes. */
            counters.put(
                    Peer.ASYNC + "'s method events, a stack of each " + ASYNC_INTERVAL + "th call",
                    new Async(new AsyncMethodsPeer(METHODS_OF_PARSER, ASYNC_INTERVAL)));
        }
        return counters;
    }

    private static void measure(String name, CountedWork.Pass pass, long window, Counter counter) throws Exception {
        if (counter == null) {
            runFor(pass, WARM_UPS * window);
            rest(pass, window);
            tellWindow(name, pass, window, null, NOT_AWAITED);
            return;
        }
        counter.start();
        long start = System.nanoTime();
        tellWindow(name + FIRST, pass, window, counter, NOT_AWAITED);
        runFor(pass, COUNTED_WARM_UPS * window);
        rest(pass, window);
        tellWindow(name, pass, window, counter, secondsSince(start));
        if (counter.drops()) {
            long seconds = settle(pass, window, counter);
            tellWindow(name + SETTLED, pass, window, counter, String.valueOf(seconds));
        }
        counter.stop();
    }

    private static String secondsSince(long start) {
        return String.valueOf(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start));
    }

    /* Runs passes until hardly anything is compiled. */
    private static void rest(CountedWork.Pass pass, long window) throws Exception {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        boolean rests = false;
        for (int i = 0; i < MOST_COMPILING_WINDOWS && !rests; i++) {
            long compiled = compilers.getTotalCompilationTime();
            long start = System.nanoTime();
            runFor(pass, window);
            double took = (System.nanoTime() - start) / NANOS_PER_MILLI;
            rests = compilers.getTotalCompilationTime() - compiled <= RESTING * took;
        }
    }

    /*
     * Runs passes until no method was added or dropped for a while, which is the usual state of a service. Returns the
     * number of seconds after which the last one was.
     */
    private static long settle(CountedWork.Pass pass, long window, Counter counter) throws Exception {
        long start = System.nanoTime();
        long changed = start;
        long read = start;
        List<Long> before = List.of();
        long most = start + TimeUnit.MILLISECONDS.toNanos(MOST_WINDOWS * window);
        while (read < most && read - changed < TimeUnit.MILLISECONDS.toNanos(QUIET_WINDOWS * window)) {
            runFor(pass, window);
            Map<String, Long> figures = counter.figures();
            List<Long> now = List.of(
                    figures.getOrDefault(CountingPeer.METHODS, 0L),
                    figures.getOrDefault(CountingPeer.DROPPED, 0L),
                    figures.getOrDefault(CountingPeer.BATCHES, 0L));
            read = System.nanoTime();
            changed = now.equals(before) ? changed : read;
            before = now;
        }
        return TimeUnit.NANOSECONDS.toSeconds(changed - start);
    }

    private static void tellWindow(String name, CountedWork.Pass pass, long window, Counter counter, String settled)
            throws Exception {
        long counted = counter == null ? 0 : counter.figures().getOrDefault(CountingPeer.CALLS, 0L);
        double[] nanos = runFor(pass, window);
        Map<String, Long> figures = counter == null ? Map.of() : counter.figures();
        double calls = figures.getOrDefault(CountingPeer.CALLS, 0L) - counted;
        Jvm.tell(
                name,
                nanos[0] / NANOS_PER_MILLI,
                nanos[1] / NANOS_PER_MILLI,
                Math.round(calls / nanos[2]),
                figures.getOrDefault(CountingPeer.METHODS, 0L),
                figures.getOrDefault(CountingPeer.DROPPED, 0L),
                figures.getOrDefault(CountingPeer.BATCHES, 0L),
                figures.getOrDefault(CountingPeer.NO_NODE, 0L),
                settled);
    }

    /* CPU and wall time of a pass (medians), and the number of passes. */
    private static double[] runFor(CountedWork.Pass pass, long millis) throws Exception {
        var threads = ManagementFactory.getThreadMXBean();
        List<Double> cpu = new ArrayList<>();
        List<Double> wall = new ArrayList<>();
        long start = System.nanoTime();
        do {
            long cpuBefore = threads.getCurrentThreadCpuTime();
            long before = System.nanoTime();
            pass.run();
            wall.add((double) (System.nanoTime() - before));
            cpu.add((double) (threads.getCurrentThreadCpuTime() - cpuBefore));
        } while (System.nanoTime() - start < millis * NANOS_PER_MILLI);
        return new double[] {Figures.median(cpu), Figures.median(wall), wall.size()};
    }

    private static String classesOfParser() throws IOException {
        try (Stream<Path> files =
                Files.list(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/" + PARSER_CLASSES))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class"))
                    .map(name -> "com.sun.tools.javac.parser." + name.substring(0, name.length() - 6))
                    .collect(Collectors.joining(";"));
        }
    }

    private record Ours(MethodTiming timing, CountingPeer peer, boolean drops) implements Counter {

        @Override
        public void start() {
            peer.start(timing);
        }

        @Override
        public Map<String, Long> figures() throws IOException {
            return peer.figures();
        }

        @Override
        public void stop() throws IOException {
            peer.stop();
        }
    }

    private record Timing(MethodTimingPeer peer) implements Counter {

        @Override
        public void start() {
            peer.start();
        }

        @Override
        public Map<String, Long> figures() {
            return Map.of();
        }

        @Override
        public void stop() throws IOException {
            peer.stop();
        }
    }

    private record Async(AsyncMethodsPeer peer) implements Counter {

        @Override
        public void start() throws Exception {
            peer.start();
        }

        @Override
        public Map<String, Long> figures() {
            return Map.of(CountingPeer.CALLS, peer.stacks() * ASYNC_INTERVAL);
        }

        @Override
        public void stop() {
            peer.stop();
        }
    }
}
