// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.incapsula.sampler.testing.work.Programs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** For code that is hard to walk: how many samples fail, or do not reach the root of the thread? */
public final class Failures {

    /** All collectors that are tried. */
    static final List<String> COLLECTORS = List.of("Serial", "Parallel", "G1", "Z");

    private static final double BAR = 0.5;
    private static final String THREAD = "measured";
    private static final int WARM_UP_WINDOWS = 2;

    /** Programs that run one after the other in one JVM, with its flags. */
    private record Setting(List<Programs> programs, String suffix, List<String> flags) {}

    private Failures() {}

    /**
     * Runs everything.
     *
     * @param plan how long
     * @param only a regular expression that selects programs
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Failed and unrooted stacks, JDK " + Jvm.version(jdk),
                    "program",
                    "profiler",
                    "weight seen",
                    "failed %",
                    "not rooted %",
                    "not polled %",
                    "bar");
            for (Setting setting : settings(only)) {
                measure(plan, jdk, setting, table);
            }
            table.note("Weight: samples; ms of wall time for ours. Not rooted: a stack without the method in which the"
                    + " thread's work begins. JFR's own sampler does not tell what it failed to walk.");
            tables.add(table);
        }
        return tables;
    }

    private static List<Setting> settings(String only) {
        List<Programs> programs = Stream.of(Programs.values())
                .filter(program -> program.name().matches(only))
                .toList();
        List<Programs> plain = programs.stream()
                .filter(program -> program != Programs.ALLOCATION && program != Programs.SORTING)
                .toList();
        List<Setting> settings = new ArrayList<>();
        if (!plain.isEmpty()) {
            settings.add(new Setting(plain, "", List.of()));
        }
        if (programs.contains(Programs.SORTING)) {
            settings.add(new Setting(List.of(Programs.SORTING), ", G1", flags("G1")));
        }
        if (programs.contains(Programs.ALLOCATION)) {
            for (String collector : COLLECTORS) {
                settings.add(new Setting(List.of(Programs.ALLOCATION), ", " + collector, flags(collector)));
            }
        }
        return settings;
    }

    /** The flags that select this collector. */
    static List<String> flags(String collector) {
        return List.of("-XX:-UseSerialGC", "-XX:+Use" + collector + "GC");
    }

    private static void measure(Plan plan, Path jdk, Setting setting, Table table)
            throws IOException, InterruptedException {
        String names = setting.programs.stream().map(Programs::name).collect(Collectors.joining(","));
        Map<List<String>, double[]> sums = new LinkedHashMap<>();
        for (String[] cells :
                Jvm.of(jdk, setting.flags).run(Failures.class, names, plan.windowMillis(), plan.rounds())) {
            String program = Programs.valueOf(cells[0]).title() + setting.suffix;
            double[] sum = sums.computeIfAbsent(List.of(program, cells[1], cells[6]), key -> new double[4]);
            for (int i = 0; i < sum.length; i++) {
                sum[i] += Double.parseDouble(cells[2 + i]);
            }
            if ((cells[1].equals(Peer.HYBRID) || cells[1].equals(Peer.ASYNC)) && !cells[7].isEmpty()) {
                table.note(program + ", " + cells[1] + ": `" + cells[7] + "`");
            }
        }
        sums.forEach((key, sum) -> {
            double failed = 100 * sum[1] / sum[0];
            double unrooted = 100 * sum[2] / sum[0];
            String peer = key.get(1);
            String bar = peer.equals(Peer.HYBRID) ? "sum " + Table.atMost(failed + unrooted, BAR) : "";
            table.row(
                    key.get(0),
                    peer + key.get(2),
                    sum[0],
                    peer.equals(Peer.JFR) ? "?" : failed,
                    unrooted,
                    100 * sum[3] / (sum[0] + sum[3]),
                    bar);
        });
    }

    /**
     * The measured programs.
     *
     * @param arguments names of programs, milliseconds of a window, rounds, the name of one profiler; without names,
     *     all
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        SamplerPeer.keepExactLines();
        for (String name : arguments[0].split(",")) {
            Programs program = Programs.valueOf(name);
            try (MeasuredThread thread = new MeasuredThread(THREAD, program::step)) {
                Thread.sleep(WARM_UP_WINDOWS * window);
                measure(program, window, rounds, arguments.length > 3 ? List.of(arguments[3]) : Peer.forRunning());
            }
        }
        System.exit(0);
    }

    private static void measure(Programs program, long window, int rounds, List<String> names) throws Exception {
        for (int round = 0; round < rounds; round++) {
            for (String name : names) {
                if (!name.equals(Peer.STACK)) {
                    measure(program, name, window);
                }
            }
        }
    }

    private static void measure(Programs program, String name, long window) throws Exception {
        Peer peer = Peer.of(name);
        peer.start();
        Thread.sleep(window);
        Profile profile = peer.stop(THREAD::equals);
        long samples = peer instanceof SamplerPeer ours ? ours.samples() : 0;
        Tally tally = Tally.of(profile, stack -> true, Set.of(MeasuredThread.ROOT, "java.lang.Thread.run"));
        String engine =
                peer instanceof SamplerPeer ours ? " (" + ours.statistics().getEngine() + ")" : "";
        Jvm.tell(
                program,
                name,
                tally.seen(),
                tally.failed(),
                tally.unrooted(),
                tally.skipped(),
                engine,
                tally.examples(),
                samples);
    }
}
