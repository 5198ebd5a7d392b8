// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.WaitingThreads.Row;
import com.incapsula.sampler.bench.peer.ReasonsPeer;
import com.incapsula.sampler.bench.peer.ReasonsPeer.Found;
import com.incapsula.sampler.bench.peer.ReasonsPeer.Reason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Threads that wait for locks, sockets, results and work, together with more computing threads than there are CPUs: how
 * much of the time does a profiler show at the right place with the right reason? The truth is what each thread
 * measures itself in the same interval.
 */
public final class WaitReasons {

    private static final long WARM_UP_MILLIS = 2000;
    private static final Set<Reason> WAITS = Set.of(Reason.BLOCKED, Reason.IO, Reason.WAITING, Reason.IDLE);
    private static final List<Row> ROWS = new ArrayList<>();

    private WaitReasons() {}

    /**
     * Runs everything.
     *
     * @param plan each profiler runs for one window in each round
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            tables.add(table(plan, jdk));
        }
        return tables;
    }

    private static Table table(Plan plan, Path jdk) throws IOException, InterruptedException {
        List<String> columns = new ArrayList<>(List.of("the thread is", "for s", "late %"));
        columns.addAll(ReasonsPeer.NAMES);
        Table table = new Table(
                "Why threads wait: found with the right reason, % of the time that they measure, " + plan.rounds()
                        + " rounds of " + plan.windowMillis() + " ms, JDK " + Jvm.version(jdk),
                columns.toArray(String[]::new));
        Map<String, Map<String, Measured>> rows = new LinkedHashMap<>();
        for (String[] cells : Jvm.of(jdk, List.of()).run(WaitReasons.class, plan.windowMillis(), plan.rounds())) {
            rows.computeIfAbsent(cells[0], row -> new LinkedHashMap<>())
                    .computeIfAbsent(cells[1], peer -> new Measured())
                    .add(cells);
        }
        rows.forEach((title, peers) -> {
            List<Object> cells = new ArrayList<>(List.of(
                    title,
                    median(peers.values(), measured -> measured.seconds),
                    median(peers.values(), measured -> measured.latePercents)));
            peers.values().forEach(measured -> cells.add(measured.text()));
            table.row(cells.toArray());
        });
        note(table);
        return table;
    }

    private static void note(Table table) {
        table.note(
                "Medians of the rounds. In (): at the right place, but without a reason. –: it does not say this. Late:"
                        + " how much longer the threads were away because they got no CPU when the wait was over; it is not in"
                        + " the truth, but in the durations of JFR and of async-profiler's lock mode. All of it at once, beside "
                        + WaitingThreads.COMPUTING_PER_CPU + " computing threads for each CPU. For a lock wait "
                        + WaitingThreads.WAITERS + " threads at a time. By chance a sampler strays by up to"
                        + " 1.96 / √(time / 20 ms), where waits are shorter than 20 ms; at locks by 1.4 times as much, as"
                        + " those two wait together.");
        table.note("Ours has its defaults and samples each 20 ms, as async-profiler's wall mode; that one's shares are"
                + " taken of the elapsed time. async-profiler's lock mode has its default threshold, 10 µs; its CPU mode"
                + " samples each 10 ms, its default. JFR: two configurations of the JDK; *no thresholds* is `profile` with a"
                + " threshold of 0 for monitors, parks, sleep and sockets, all socket reads, and CPU time each 10 ms, where"
                + " the JDK has that. Blocked at a monitor is what `jfr view contention-by-site` shows; the reason of a"
                + " park is the class of what the thread is parked at; who held a monitor is the event's `previousOwner`,"
                + " a thread without a stack. Events are cut to the interval, and those that end up to 0.4 s later are in."
                + " A wait that does not end while the profiler is on is in no event.");
    }

    /** One profiler's figures for one row, over all rounds. */
    private static final class Measured {
        private final List<Double> seconds = new ArrayList<>();
        private final List<Double> latePercents = new ArrayList<>();
        private final List<Double> said = new ArrayList<>();
        private final List<Double> unsaid = new ArrayList<>();

        private void add(String... cells) {
            double millis = Double.parseDouble(cells[2]);
            seconds.add(millis / 1000);
            latePercents.add(100 * Double.parseDouble(cells[3]) / millis);
            said.add(100 * Double.parseDouble(cells[4]) / millis);
            unsaid.add(100 * Double.parseDouble(cells[5]) / millis);
        }

        private String text() {
            double right = Figures.median(said);
            double place = Figures.median(unsaid);
            if (!Double.isNaN(right)) {
                return String.format(Locale.ROOT, "%.1f", right);
            }
            return Double.isNaN(place) ? "–" : String.format(Locale.ROOT, "(%.1f)", place);
        }
    }

    private static double median(Collection<Measured> measured, Function<Measured, List<Double>> figures) {
        return Figures.median(
                measured.stream().flatMap(one -> figures.apply(one).stream()).toList());
    }

    /**
     * The measured program. It prints lines: row, profiler, truth in ms, late in ms, found in ms with the right reason
     * (NaN if the profiler has no word for it), found in ms without a reason.
     *
     * @param arguments milliseconds of a window, rounds
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        ROWS.addAll(WaitingThreads.start());
        Thread.sleep(WARM_UP_MILLIS);
        figures(); // the first call takes longer
        for (int round = 0; round < rounds; round++) {
            for (String name : ReasonsPeer.NAMES) {
                measure(name, window);
            }
        }
        System.exit(0);
    }

    private static void measure(String name, long window) throws Exception {
        ReasonsPeer peer = ReasonsPeer.of(name);
        peer.start();
        double[][] before = figures();
        Thread.sleep(window);
        double[][] after = figures();
        List<Found> found = peer.stop();
        for (int i = 0; i < ROWS.size(); i++) {
            Row row = ROWS.get(i);
            Set<Reason> words = words(row, peer);
            boolean isPlaceOnly = !Collections.disjoint(row.reasons(), WAITS)
                    && peer.reasons().contains(Reason.UNSAID);
            Jvm.tell(
                    row.title(),
                    name,
                    after[i][0] - before[i][0],
                    after[i][1] - before[i][1],
                    words.isEmpty() ? Double.NaN : sum(row, found, words),
                    isPlaceOnly ? sum(row, found, Set.of(Reason.UNSAID)) : Double.NaN);
        }
    }

    /*
     * The threads' own figures for each row, in milliseconds: the time in it, and how late they got a CPU afterwards.
     */
    private static double[][] figures() {
        return ROWS.stream()
                .map(row -> new double[] {row.millis().getAsDouble(), row.late().getAsDouble()})
                .toArray(double[][]::new);
    }

    /*
     * The reasons by which the profiler reports a row: one for all of its states, or one for each; empty if it has
     * none.
     */
    private static Set<Reason> words(Row row, ReasonsPeer peer) {
        if (row.reasons().size() > 1 && peer.reasons().contains(Reason.RUNNING_OR_RUNNABLE)) {
            return Set.of(Reason.RUNNING_OR_RUNNABLE);
        }
        return peer.reasons().containsAll(row.reasons()) ? row.reasons() : Set.of();
    }

    private static double sum(Row row, List<Found> found, Set<Reason> reasons) {
        return found.stream()
                .filter(one -> reasons.contains(one.reason()) && row.isOf(one))
                .mapToDouble(Found::millis)
                .sum();
    }
}
