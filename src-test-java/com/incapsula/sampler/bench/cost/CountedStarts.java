// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.StartingProgram;
import com.incapsula.sampler.bench.peer.CountingPeer;
import com.incapsula.sampler.bench.peer.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Programs whose calls are counted from their start, with LAZY: how many stops, how long are they, and how much longer
 * does the start take?
 */
public final class CountedStarts {

    private static final double BATCHES_BAR = 20;
    private static final double STOP_BAR = 150;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final String NOT_COUNTED = "nothing";
    private static final double DEFAULT_LIMIT = 1;
    private static final Map<StartingProgram, String> ROOTS = Map.of(
            StartingProgram.JAVAC,
            "com.sun.tools.javac.api.JavacTaskImpl.call",
            StartingProgram.BOOT,
            "org.springframework.boot.SpringApplication.run");
    private static final Map<StartingProgram, String> FILTERS = Map.of(StartingProgram.JAVAC, "com.sun.tools.javac");
    /* Safepoint "RedefineClasses", ... Total: 41000000 ns */
    private static final Pattern STOP = Pattern.compile("\"RedefineClasses\".* Total: +(\\d+) ns");

    private CountedStarts() {}

    /**
     * Runs everything.
     *
     * @param plan each round has a JVM with counting and one without
     * @param only a regular expression that selects programs
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "Programs that are counted from their start on, LAZY",
                "JDK",
                "program",
                "counted by",
                "until it has started, ms",
                "added, ms",
                "stops of a JVM",
                "longest stop, ms",
                "all stops, ms",
                "batches of the account",
                "methods",
                "calls",
                "bar");
        for (Path jdk : plan.jdks()) {
            for (StartingProgram program : StartingProgram.values()) {
                if (ROOTS.containsKey(program)
                        && program.isThere()
                        && program.name().matches(only.toUpperCase(Locale.ROOT))) {
                    measure(table, plan, jdk, program);
                }
            }
        }
        table.note("Fresh JVMs in turn, " + plan.rounds() + " of each kind; times are medians, stops those of the worst"
                + " JVM, by its own log (-Xlog:safepoint).");
        return List.of(table);
    }

    private static void measure(Table table, Plan plan, Path jdk, StartingProgram program)
            throws IOException, InterruptedException {
        Map<String, List<double[]>> runs = new LinkedHashMap<>();
        for (int i = 0; i < plan.rounds(); i++) {
            for (String counter : List.of(NOT_COUNTED, Peer.HYBRID)) {
                runs.computeIfAbsent(counter, name -> new ArrayList<>()).add(start(plan, jdk, program, counter));
            }
        }
        double without = Figures.median(column(runs.get(NOT_COUNTED), 0));
        runs.forEach((counter, figures) -> {
            boolean isCounted = !counter.equals(NOT_COUNTED);
            double took = Figures.median(column(figures, 0));
            double stops = worst(figures, 4);
            double longest = worst(figures, 5);
            table.row(
                    Jvm.version(jdk),
                    program.name(),
                    counter,
                    took,
                    isCounted ? took - without : Double.NaN,
                    isCounted ? stops : Double.NaN,
                    isCounted ? longest : Double.NaN,
                    isCounted ? worst(figures, 6) : Double.NaN,
                    isCounted ? worst(figures, 1) : Double.NaN,
                    isCounted ? worst(figures, 2) : Double.NaN,
                    isCounted ? worst(figures, 3) : Double.NaN,
                    isCounted
                            ? "stops " + Table.atMost(stops, BATCHES_BAR) + "; longest "
                                    + Table.atMost(longest, STOP_BAR)
                            : "");
        });
    }

    private static List<Double> column(List<double[]> runs, int column) {
        return runs.stream().map(run -> run[column]).toList();
    }

    private static double worst(List<double[]> runs, int column) {
        return column(runs, column).stream()
                .mapToDouble(Double::doubleValue)
                .max()
                .orElse(Double.NaN);
    }

    /* Milliseconds of the start, batches, methods, calls, number of stops, the longest stop, the sum of all stops. */
    private static double[] start(Plan plan, Path jdk, StartingProgram program, String counter)
            throws IOException, InterruptedException {
        Path log = Files.createTempFile("bench", ".log");
        try {
            List<String> flags = new ArrayList<>(program.flags());
            flags.add("-Xlog:safepoint:file=" + log);
            String[] cells = Jvm.of(jdk, flags)
                    .run(CountedStarts.class, program, counter, plan.windowMillis())
                    .get(0);
            double[] figures = new double[7];
            for (int i = 0; i < cells.length; i++) {
                figures[i] = Double.parseDouble(cells[i]);
            }
            addStops(figures, Files.readString(log));
            return figures;
        } finally {
            Files.delete(log);
        }
    }

    private static void addStops(double[] figures, String log) {
        Matcher stop = STOP.matcher(log);
        while (stop.find()) {
            double millis = Long.parseLong(stop.group(1)) / NANOS_PER_MILLI;
            figures[4]++;
            figures[5] = Math.max(figures[5], millis);
            figures[6] += millis;
        }
    }

    /**
     * The measured program.
     *
     * @param arguments the program, the counter, the milliseconds for which it runs on after its start
     */
    public static void main(String... arguments) throws Exception {
        StartingProgram program = StartingProgram.valueOf(arguments[0]);
        CountingPeer peer = arguments[1].equals(NOT_COUNTED)
                ? null
                : new CountingPeer(ROOTS.get(program), FILTERS.getOrDefault(program, ""), DEFAULT_LIMIT);
        long start = System.nanoTime();
        if (peer != null) {
            peer.start(MethodTiming.SAMPLED);
        }
        program.run(0);
        double took = (System.nanoTime() - start) / NANOS_PER_MILLI;
        if (program == StartingProgram.JAVAC) {
            program.run(Long.parseLong(arguments[2]));
        }
        Map<String, Long> figures = peer == null ? Map.of() : peer.figures();
        Jvm.tell(
                took,
                figures.getOrDefault(CountingPeer.BATCHES, 0L),
                figures.getOrDefault(CountingPeer.METHODS, 0L),
                figures.getOrDefault(CountingPeer.CALLS, 0L));
        System.exit(0);
    }
}
