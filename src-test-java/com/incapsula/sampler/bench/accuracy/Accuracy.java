// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the experiments of {@link SafepointBias} with all profilers: which of them attribute the time to the right line?
 */
public final class Accuracy {

    private static final int PEERS_MAX = 6;
    private static final double METHOD_BAR = 98;
    private static final double LINE_BAR = 97;
    private static final double FAILED_LOOP_BAR = 0.1;
    private static final double FAILED_BAR = 0.5;
    private static final double WORSE_BAR = 1;

    /** Sums of one profiler on one benchmark. */
    private static final class Score {
        private final double[] weights = new double[Truth.Verdict.values().length];
        private final Set<String> engines = new LinkedHashSet<>();
        private String examples = "";

        private void add(String[] cells) {
            for (int i = 0; i < weights.length; i++) {
                weights[i] += Double.parseDouble(cells[2 + i]);
            }
            if (!cells[2 + weights.length].isEmpty()) {
                engines.add(cells[2 + weights.length]);
            }
            if (cells.length > weights.length + 3) {
                examples = cells[weights.length + 3];
            }
        }

        private double total() {
            double sum = 0;
            for (Truth.Verdict verdict : Truth.Verdict.values()) {
                boolean counted = verdict.compareTo(Truth.Verdict.SKIPPED) > 0;
                sum += counted ? weights[verdict.ordinal()] : 0;
            }
            return sum;
        }

        private double percentFrom(Truth.Verdict least) {
            double sum = 0;
            for (int i = least.ordinal(); i < weights.length; i++) {
                sum += weights[i];
            }
            return 100 * sum / total();
        }

        private double skipped() {
            double skipped = weights[Truth.Verdict.SKIPPED.ordinal()];
            return 100 * skipped / (total() + skipped);
        }

        private double failed() {
            return 100 * weights[Truth.Verdict.FAILED.ordinal()] / total();
        }
    }

    private Accuracy() {}

    /**
     * Runs everything.
     *
     * @param plan how long
     * @param benchmarks a regular expression that selects benchmarks
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String benchmarks) throws IOException, RunnerException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Right lines, JDK " + Jvm.version(jdk),
                    "benchmark",
                    "profiler",
                    "weight seen",
                    "right method %",
                    "right line %",
                    "with stub as leaf %",
                    "failed %",
                    "not polled %",
                    "bars");
            Map<String, Map<String, Score>> scores = scores(plan, jdk, benchmarks);
            scores.forEach((benchmark, peers) -> addRows(table, benchmark, peers));
            table.note("Weight: samples; ms of wall time for ours; percent for JMH's stack profiler."
                    + " JFR's own sampler does not tell what it failed to walk, so its failed share is not known.");
            tables.add(table);
        }
        return tables;
    }

    private static Map<String, Map<String, Score>> scores(Plan plan, Path jdk, String benchmarks)
            throws IOException, RunnerException {
        System.setProperty("jmh.ignoreLock", "true");
        Path file = Files.createTempFile("bench", ".scores");
        Path log = Files.createTempFile("bench", ".log");
        List<String> flags = new ArrayList<>(Jvm.commonFlags());
        flags.add("-D" + TurnTaking.FILE + "=" + file);
        flags.add("-D" + TurnTaking.SOURCES + "=" + plan.sources());
        try {
            new Runner(new OptionsBuilder()
                            .include("\\." + SafepointBias.class.getSimpleName() + "\\.(" + benchmarks + ")$")
                            .addProfiler(TurnTaking.class)
                            .forks(1)
                            .warmupIterations(3)
                            .warmupTime(TimeValue.milliseconds(plan.windowMillis()))
                            .measurementIterations(plan.rounds() * peers(jdk))
                            .measurementTime(TimeValue.milliseconds(plan.windowMillis()))
                            .jvm(Jvm.executable(jdk))
                            .jvmArgs(flags.toArray(String[]::new))
                            .shouldFailOnError(true)
                            .output(log.toString())
                            .build())
                    .run();
            return read(file);
        } catch (RunnerException e) {
            throw new RunnerException(Files.readString(log), e);
        } finally {
            Files.delete(file);
            Files.delete(log);
        }
    }

    private static int peers(Path jdk) {
        String feature = Jvm.version(jdk).split("\\D")[0];
        return Integer.parseInt(feature) >= 25 ? PEERS_MAX : PEERS_MAX - 1;
    }

    private static Map<String, Map<String, Score>> read(Path file) throws IOException {
        Map<String, Map<String, Score>> scores = new LinkedHashMap<>();
        for (String line : Files.readAllLines(file)) {
            String[] cells = line.split("\t", -1);
            scores.computeIfAbsent(cells[0], name -> new LinkedHashMap<>())
                    .computeIfAbsent(cells[1], name -> new Score())
                    .add(cells);
        }
        return scores;
    }

    private static void addRows(Table table, String benchmark, Map<String, Score> peers) {
        peers.forEach((name, score) -> {
            Object leaf = Truth.isIntrinsic(benchmark) ? score.percentFrom(Truth.Verdict.LEAF) : null;
            Object failed = name.equals(Peer.JFR) ? "?" : score.failed();
            String bars = name.equals(Peer.HYBRID) ? bars(benchmark, score, peers.get(Peer.ASYNC)) : "";
            table.row(
                    benchmark,
                    name + engines(score),
                    score.total(),
                    score.percentFrom(Truth.Verdict.METHOD),
                    score.percentFrom(Truth.Verdict.LINE),
                    leaf,
                    failed,
                    score.skipped(),
                    bars);
            if ((name.equals(Peer.HYBRID) || name.equals(Peer.ASYNC)) && !score.examples.isEmpty()) {
                table.note(benchmark + ", " + name + ", not right: `" + score.examples + "`");
            }
        });
    }

    private static String engines(Score score) {
        return score.engines.isEmpty() ? "" : " (" + String.join(", ", score.engines) + ")";
    }

    private static String bars(String benchmark, Score ours, Score async) {
        double failedBar = Truth.isIntrinsic(benchmark) ? FAILED_BAR : FAILED_LOOP_BAR;
        double line = ours.percentFrom(Truth.Verdict.LINE);
        double worse = async == null ? 0 : async.percentFrom(Truth.Verdict.LINE) - line;
        return String.join(
                "; ",
                "method " + Table.atLeast(ours.percentFrom(Truth.Verdict.METHOD), METHOD_BAR),
                "line " + Table.atLeast(line, LINE_BAR),
                "failed " + Table.atMost(ours.failed(), failedBar),
                "worse than async-profiler " + Table.atMost(worse, WORSE_BAR));
    }
}
