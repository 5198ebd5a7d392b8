// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.bench.Figures;
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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Programs whose profiler starts with them, each in fresh JVMs: how many stacks lack names or roots, and how many polls
 * are skipped?
 */
public final class ColdStart {

    private static final long INTERVAL_MILLIS = 10;
    private static final double LIMIT_PERCENT = 1;
    private static final double NAMELESS_BAR = 1;
    private static final double SKIPPED_BAR = 5;
    private static final int JVMS_PER_ROUND = 2;
    private static final int ROUNDS_PER_PEER = 2;
    private static final String NAMELESS = "[method without an id]";
    private static final String MAIN = "main";
    private static final double LEAST_MILLIS = 100;

    private ColdStart() {}

    /**
     * Runs all programs whose jars are there.
     *
     * @param plan for each program two JVMs a round; for other profilers one in two rounds
     * @param only a regular expression that selects programs
     * @return a table
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        Table table = new Table(
                "Programs whose profiler starts with them: the main thread, in fresh JVMs",
                "JDK",
                "program",
                "profiler",
                "JVMs",
                "samples of a JVM",
                "with a nameless method, %, worst JVM",
                "the same of any other thread, %, worst",
                "without a stack, %, worst",
                "without the root, %, worst",
                "polls skipped, %, worst",
                "bar");
        for (Path jdk : plan.jdks()) {
            for (StartingProgram program : StartingProgram.values()) {
                for (String profiler : List.of(Peer.HYBRID, Peer.ASYNC, Peer.JFR)) {
                    if (program.isThere() && program.name().matches(only.toUpperCase(Locale.ROOT))) {
                        measure(table, plan, jdk, program, profiler);
                    }
                }
            }
        }
        table.note("Ours: interval " + INTERVAL_MILLIS
                + " ms, all defaults, and weights are time; the others: 1 ms, weights"
                + " are samples. Without a stack: failed and skipped together. Nameless: shown as " + NAMELESS
                + ". The root: the program's main method. Of a JVM each is its share of the main thread's weight; any other thread:"
                + " of the threads with at least " + LEAST_MILLIS
                + " ms of their own, the one with the largest share.");
        Stream.of(StartingProgram.values())
                .filter(program -> !program.isThere())
                .forEach(program -> table.note(program + " is left out: " + program.jars() + " is not there."));
        return List.of(table);
    }

    private static void measure(Table table, Plan plan, Path jdk, StartingProgram program, String profiler)
            throws IOException, InterruptedException {
        List<double[]> runs = new ArrayList<>();
        int jvms = profiler.equals(Peer.HYBRID)
                ? JVMS_PER_ROUND * plan.rounds()
                : Math.max(1, plan.rounds() / ROUNDS_PER_PEER);
        for (int i = 0; i < jvms; i++) {
            String[] cells = Jvm.of(jdk, program.flags())
                    .run(ColdStart.class, program, profiler, plan.windowMillis())
                    .get(0);
            runs.add(Stream.of(cells).mapToDouble(Double::parseDouble).toArray());
        }
        double nameless = worst(runs, 1);
        double others = worst(runs, 5);
        double skipped = worst(runs, 4);
        boolean isOurs = profiler.equals(Peer.HYBRID);
        table.row(
                Jvm.version(jdk),
                program.name(),
                profiler,
                runs.size(),
                Figures.median(runs.stream().map(run -> run[0]).toList()),
                nameless,
                isOurs ? others : null,
                worst(runs, 2),
                worst(runs, 3),
                isOurs ? skipped : null,
                isOurs
                        ? "nameless " + Table.atMost(Math.max(nameless, others), NAMELESS_BAR) + "; skipped "
                                + Table.atMost(skipped, SKIPPED_BAR)
                        : "");
    }

    private static double worst(List<double[]> runs, int column) {
        return runs.stream().mapToDouble(run -> run[column]).max().orElse(Double.NaN);
    }

    /**
     * The measured program.
     *
     * @param arguments the program, the profiler, the least time in milliseconds
     */
    public static void main(String... arguments) throws Exception {
        StartingProgram program = StartingProgram.valueOf(arguments[0]);
        boolean isOurs = arguments[1].equals(Peer.HYBRID);
        Peer peer = isOurs ? new SamplerPeer(SamplingEngine.AUTO, INTERVAL_MILLIS) : Peer.of(arguments[1]);
        peer.start();
        if (isOurs) {
            ((SamplerPeer) peer).limit(LIMIT_PERCENT);
        }
        program.run(Long.parseLong(arguments[2]));
        double skipped = isOurs ? skipped(((SamplerPeer) peer).statistics()) : 0;
        Map<String, Profile> threads =
                isOurs ? ((SamplerPeer) peer).stopByGroup(name -> name) : Map.of(MAIN, peer.stop(MAIN::equals));
        double all = 0;
        double[] shares = new double[3];
        for (var stack : threads.get(MAIN).stacks().entrySet()) {
            all += stack.getValue();
            int kind = kindOf(stack.getKey());
            if (kind >= 0) {
                shares[kind] += stack.getValue();
            }
        }
        Jvm.tell(
                isOurs ? ((SamplerPeer) peer).samples(MAIN) : all,
                100 * shares[0] / all,
                100 * shares[1] / all,
                100 * shares[2] / all,
                skipped,
                100 * namelessElsewhere(threads));
        System.exit(0);
    }

    private static double namelessElsewhere(Map<String, Profile> threads) {
        double worst = 0;
        for (Map.Entry<String, Profile> thread : threads.entrySet()) {
            double all = 0;
            double nameless = 0;
            for (var stack : thread.getValue().stacks().entrySet()) {
                all += stack.getValue();
                nameless += kindOf(stack.getKey()) == 0 ? stack.getValue() : 0;
            }
            if (!thread.getKey().equals(MAIN) && all >= LEAST_MILLIS) {
                worst = Math.max(worst, nameless / all);
            }
        }
        return worst;
    }

    private static double skipped(SamplerStatistics statistics) {
        return 100.0 * statistics.getOutcomes().get("OVER_OVERHEAD_LIMIT") / Math.max(1, statistics.getPolls());
    }

    /* The index of the defect; -1 if there is none. */
    private static int kindOf(List<Frame> stack) {
        if (stack.stream().anyMatch(frame -> frame.method().equals(NAMELESS))) {
            return 0;
        }
        if (stack.size() == 1 && stack.get(0).kind() != Frame.Kind.JAVA) {
            return stack.get(0).kind() == Frame.Kind.CODE ? -1 : 1;
        }
        return stack.stream().anyMatch(frame -> frame.method().equals(ColdStart.class.getName() + ".main")) ? -1 : 2;
    }
}
