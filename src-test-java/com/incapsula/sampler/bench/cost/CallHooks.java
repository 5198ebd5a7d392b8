// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.cost;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.NativeTests;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The cost of a pair of counting hooks for a method, compared with two clock readings and with the probes of other
 * tools.
 */
public final class CallHooks {

    private static final int CALLS = 10_000_000;
    private static final int ROUNDS = 3;
    private static final double APART_BAR = 10;
    private static final double INLINED_BAR = 4;
    private static final double EXACT_BAR = 25;
    private static final double SAMPLED_BAR = 1; /* on top of the cost without times */

    private CallHooks() {}

    /**
     * Runs everything.
     *
     * @param plan decides how often
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "A pair of hooks, JDK " + Jvm.version(jdk), "by", "of", "with hooks, ns", "cost, ns", "bar");
            for (String timing : List.of("counts", "exact", "outside")) {
                addRows(table, jdk, timing, plan.scaled(CALLS), plan.rounds() * ROUNDS);
            }
            addTools(table, plan, jdk);
            table.note("Thread CPU time of a call, median of the rounds; the cost is the difference to the same program"
                    + " without hooks. counts: no time stamps but those of roots (times of calls would be sampled, as "
                    + Peer.HYBRID + "). exact: a time stamp at each entry and exit. outside: no root is running, so"
                    + " nothing is counted. Of each kind the last two rows are no hooks of a call: a root's pair, and"
                    + " two readings of the clock.");
            table.note(
                    "The rows below are of a program without hooks in its source, to whose methods the tool has added its"
                            + " own: medians of " + plan.rounds() + " JVMs for each tool, in turn.");
            tables.add(table);
        }
        return tables;
    }

    private static void addRows(Table table, Path jdk, String timing, int calls, int rounds)
            throws IOException, InterruptedException {
        List<String> flags =
                List.of("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,hooked.HookedCost::*Apart");
        Path library = NativeTests.path("libhook_calls.so");
        Path classes = NativeTests.path("hooked-classes");
        for (String[] cells : Jvm.of(jdk, flags).run(CallHooks.class, library, classes, timing, calls, rounds)) {
            if (cells[0].equals("calls")) {
                continue;
            }
            double with = Double.parseDouble(cells[1]);
            double cost = with - Double.parseDouble(cells[2]);
            table.row(timing, cells[0], with, cost, bar(timing, cells[0], cost));
        }
    }

    private static void addTools(Table table, Plan plan, Path jdk) throws IOException, InterruptedException {
        Map<CallTool, Map<String, List<double[]>>> all = new EnumMap<>(CallTool.class);
        for (int i = 0; i < plan.rounds(); i++) {
            for (CallTool tool : CallTool.values()) {
                measure(plan, jdk, tool, all.computeIfAbsent(tool, key -> new LinkedHashMap<>()));
            }
        }
        all.forEach((tool, kinds) -> kinds.forEach((kind, runs) -> {
            double cost = cost(runs);
            table.row(tool.text(), kind, median(runs, 0), cost, bar(tool, kind, cost));
        }));
        all.get(CallTool.SAMPLED).forEach((kind, runs) -> {
            double more = cost(runs) - cost(all.get(CallTool.NONE).get(kind));
            table.row("SAMPLED less NONE", kind, null, more, Table.atMost(more, SAMPLED_BAR));
        });
    }

    /* Measures with and without the tool. */
    private static void measure(Plan plan, Path jdk, CallTool tool, Map<String, List<double[]>> kinds)
            throws IOException, InterruptedException {
        List<String> flags = List.of("-XX:CompileCommand=quiet", ProbedCalls.NOT_INLINED);
        for (String[] cells :
                Jvm.of(jdk, flags).run(ProbedCalls.class, tool, plan.scaled(CALLS), plan.rounds() * ROUNDS)) {
            double[] figures = {Double.parseDouble(cells[1]), Double.parseDouble(cells[2])};
            kinds.computeIfAbsent(cells[0], key -> new ArrayList<>()).add(figures);
        }
    }

    private static double median(List<double[]> runs, int column) {
        return Figures.median(runs.stream().map(run -> run[column]).toList());
    }

    private static double cost(List<double[]> runs) {
        return Figures.median(runs.stream().map(run -> run[0] - run[1]).toList());
    }

    private static String bar(CallTool tool, String kind, double cost) {
        return switch (tool) {
            case NONE, SAMPLED -> bar("counts", kind, cost);
            case EXACT -> bar("exact", kind, cost);
            default -> "";
        };
    }

    private static String bar(String timing, String what, double cost) {
        if (!what.contains("inlined")) {
            return "";
        }
        if (timing.equals("exact")) {
            return Table.atMost(cost, EXACT_BAR);
        }
        return Table.atMost(cost, what.startsWith("an") ? INLINED_BAR : APART_BAR);
    }

    /**
     * The measured program. It needs the hook class to be compiled, and is not in the tests' class path.
     *
     * @param arguments the library, its folder, and the program's own arguments
     */
    public static void main(String... arguments) throws Exception {
        URL[] urls = {Path.of(arguments[1]).toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(urls)) {
            String[] own = {arguments[0], arguments[2], arguments[3], arguments[4]};
            loader.loadClass("hooked.HookedCost")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) own);
        }
    }
}
