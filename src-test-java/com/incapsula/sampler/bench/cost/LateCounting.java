// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.CountingPeer;
import com.incapsula.sampler.bench.peer.Peer;
import counted.Work;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The speed that a warm program loses when counting starts elsewhere in its JVM, although none of its calls are
 * counted.
 */
public final class LateCounting {

    private static final String EARLY = "a batch; `init()` before the warm-up";
    private static final String LATE = "`init()` after the warm-up, and a batch";
    private static final String NOTHING = "nothing";
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double AS_BEFORE = 1.1;
    private static final int BEFORE = 10; /* passes */
    private static final int WARM_UPS = 4;
    private static final int AFTER = 2;
    private static final double LIMIT = 1;

    private LateCounting() {}

    /**
     * Runs everything.
     *
     * @param plan each round has a JVM for each way
     * @param only not used
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "javac's parser, warm and not counted, when counting starts elsewhere in its JVM",
                "JDK",
                "what happens",
                "a pass before it, ms",
                "slowest pass after it, ms",
                "lost by all passes, ms",
                "until a pass is as before, ms");
        for (Path jdk : plan.jdks()) {
            Map<String, List<double[]>> ways = new LinkedHashMap<>();
            for (int i = 0; i < plan.rounds(); i++) {
                for (String way : List.of(NOTHING, EARLY, LATE)) {
                    ways.computeIfAbsent(way, name -> new ArrayList<>()).add(measure(plan, jdk, way));
                }
            }
            ways.forEach((way, runs) -> table.row(
                    Jvm.version(jdk), way, median(runs, 0), median(runs, 1), median(runs, 2), median(runs, 3)));
        }
        table.note("Medians of " + plan.rounds() + " JVMs; wall time. Before: the median of " + BEFORE
                + " passes after " + WARM_UPS * plan.windowMillis() + " ms; after: those of "
                + AFTER * plan.windowMillis() + " ms. As before: at most " + AS_BEFORE + " times that, by "
                + Peer.HYBRID
                + " with all defaults, LAZY.");
        return List.of(table);
    }

    private static double median(List<double[]> runs, int column) {
        return Figures.median(runs.stream().map(run -> run[column]).toList());
    }

    private static double[] measure(Plan plan, Path jdk, String way) throws IOException, InterruptedException {
        double[] figures = new double[4];
        String[] cells = Jvm.of(jdk, List.of())
                .run(
                        LateCounting.class,
                        way,
                        plan.sources(),
                        plan.scaled(CountedWork.PARSER.size()),
                        plan.windowMillis())
                .get(0);
        for (int i = 0; i < figures.length; i++) {
            figures[i] = Double.parseDouble(cells[i]);
        }
        return figures;
    }

    /**
     * The measured program.
     *
     * @param arguments the event, the folder of sources, the size of a pass, milliseconds of a window
     */
    public static void main(String... arguments) throws Exception {
        String way = arguments[0];
        CountedWork.Pass pass = CountedWork.PARSER.prepare(Path.of(arguments[1]), Integer.parseInt(arguments[2]));
        long window = Long.parseLong(arguments[3]);
        CountingPeer peer = new CountingPeer(Work.class.getName() + ".root", "", LIMIT);
        if (way.equals(EARLY)) {
            peer.start(MethodTiming.SAMPLED);
        }
        List<Double> before = runFor(pass, WARM_UPS * window, BEFORE);
        double usual = Figures.median(before.subList(before.size() - BEFORE, before.size()));
        if (way.equals(LATE)) {
            peer.start(MethodTiming.SAMPLED);
        }
        List<Double> after = runFor(way.equals(NOTHING) ? pass : entering(pass), AFTER * window, 1);
        if (!way.equals(NOTHING)) {
            checkBatch(peer);
        }
        double lost = 0;
        double until = 0;
        double all = 0;
        for (double millis : after) {
            all += millis;
            lost += millis - usual;
            until = millis > AS_BEFORE * usual ? all : until;
        }
        double slowest = after.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
        Jvm.tell(usual, slowest, lost, until);
        System.exit(0);
    }

    /* Enters the root before each pass, so that LAZY finds its callees. This takes microseconds. */
    private static CountedWork.Pass entering(CountedWork.Pass pass) {
        return () -> {
            Work.root(1);
            pass.run();
        };
    }

    /* Without a batch the row would show nothing. */
    private static void checkBatch(CountingPeer peer) throws IOException {
        Map<String, Long> figures = peer.figures();
        if (figures.get(CountingPeer.METHODS) == 0 || figures.get(CountingPeer.BATCHES) == 0) {
            throw new IllegalStateException("there was no batch: " + figures);
        }
    }

    /* Milliseconds of each pass. */
    private static List<Double> runFor(CountedWork.Pass pass, long millis, int least) throws Exception {
        List<Double> passes = new ArrayList<>();
        long start = System.nanoTime();
        do {
            long before = System.nanoTime();
            pass.run();
            passes.add((System.nanoTime() - before) / NANOS_PER_MILLI);
        } while (passes.size() < least || System.nanoTime() - start < millis * NANOS_PER_MILLI);
        return passes;
    }
}
