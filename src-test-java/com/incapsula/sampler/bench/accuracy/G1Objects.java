// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.PhaseClock.Times;
import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/**
 * Code that reads and writes references with G1, whose barriers are calls in the middle of compiled code: how many
 * stacks fail, and are the shares right?
 */
public final class G1Objects {

    /** The first cells of result lines. */
    static final String STACKS = "stacks";

    static final String SHARE = "share";
    private static final double FAILED_BAR = 0.1;
    private static final double SHARE_BAR = 2;
    private static final String THREAD = "measured";
    private static final String MIX = "mix";
    private static final String CPU_CLOCK = Peer.HYBRID + ", clock CPU";
    private static final Set<String> ROOTS = Set.of(G1Objects.class.getName() + ".work", "java.lang.Thread.run");
    private static final int WARM_UP_WINDOWS = 2;
    private static final long MILLION = 1_000_000;
    private static volatile boolean running;
    private static volatile PhaseClock clock;
    private static volatile long sink;

    /**
     * The phases of the thread's work. The relevant method is step() of each constant's own class: all are called from
     * one line, so a report shows each in a row of its own.
     */
    private enum Phase {
        SORT("sorts Integers") {
            private final Integer[] shuffled = numbers(4000);
            private final Integer[] kept = numbers(4000);

            @Override
            long step() {
                System.arraycopy(shuffled, 0, kept, 0, kept.length);
                Arrays.sort(kept);
                List<Integer> list = new ArrayList<>(Arrays.asList(shuffled));
                list.sort(Comparator.reverseOrder());
                return kept[0] + list.get(0);
            }
        },

        COPIES("copies object arrays") {
            private final Object[] from = numbers(20_000);
            private final Object[] untyped = Arrays.copyOf(from, from.length, Object[].class);
            private Object[] kept = from;

            @Override
            long step() {
                for (int i = 0; i < 10; i++) {
                    /* Copies with a check of each element, because the two array types are unrelated. */
                    kept = Arrays.copyOf(untyped, untyped.length, Integer[].class);
                    System.arraycopy(from, 0, untyped, 0, from.length);
                }
                return kept.length;
            }
        },

        STORES("stores into object arrays") {
            private final Integer[] pool = numbers(1 << 16);
            private final Object[][] tables = new Object[64][1 << 12];

            @Override
            long step() {
                int at = (int) sink;
                for (int i = 0; i < 100_000; i++) {
                    at = at * 1_103_515_245 + 12_345;
                    tables[at >>> 26][at >>> 8 & (1 << 12) - 1] = pool[at >>> 16];
                }
                return at;
            }
        },

        LINKS("moves nodes between lists") {
            private final Node[] heads = heads();

            @Override
            long step() {
                int at = (int) sink;
                for (int i = 0; i < 50_000; i++) {
                    at = at * 1_103_515_245 + 12_345;
                    Node from = heads[at >>> 22];
                    Node to = heads[at >>> 12 & heads.length - 1];
                    Node moved = from.next;
                    if (moved != null) {
                        from.next = moved.next;
                        moved.next = to.next;
                        to.next = (at & 15) == 0 ? new Node(moved.next) : moved;
                    }
                }
                return at;
            }
        },

        MAP("HashMap of Integers") {
            private final Map<Integer, Integer> map = new HashMap<>();

            @Override
            long step() {
                int at = (int) sink;
                for (int i = 0; i < 10_000; i++) {
                    at = at * 1_103_515_245 + 12_345;
                    map.merge(at >>> 16, i, Integer::sum);
                    map.remove(at >>> 15 & 0xffff);
                }
                return at + map.size();
            }
        };

        private final String title;

        Phase(String title) {
            this.title = title;
        }

        /** Does about a millisecond of work. */
        abstract long step();

        private String method() {
            return getClass().getName() + ".step";
        }

        private static Integer[] numbers(int count) {
            return new Random(1).ints(count).boxed().toArray(Integer[]::new);
        }

        private static Node[] heads() {
            Node[] heads = new Node[1 << 10];
            for (int i = 0; i < heads.length; i++) {
                for (int j = 0; j < 100; j++) {
                    heads[i] = new Node(heads[i]);
                }
            }
            return heads;
        }
    }

    /** A node of a list. */
    private static final class Node {
        private Node next;

        Node(Node next) {
            this.next = next;
        }
    }

    private G1Objects() {}

    /**
     * Runs everything.
     *
     * @param plan rounds times window is the time for which each profiler samples each program
     * @param only a regular expression that selects constants of Phase, and "mix"
     * @return two tables per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table stacks = new Table(
                    "Object code on G1, failed and unrooted stacks, JDK " + Jvm.version(jdk),
                    "program",
                    "profiler",
                    "weight seen",
                    "failed %",
                    "not rooted %",
                    "not polled %",
                    "bar");
            Table shares = new Table(
                    "Object code on G1, shares of a mix against timed truth, JDK " + Jvm.version(jdk),
                    "profiler",
                    "clock",
                    "phase",
                    "truth %",
                    "seen %",
                    "error, points",
                    "bar");
            Map<List<String>, double[]> sums = new LinkedHashMap<>();
            Map<String, String> examples = new LinkedHashMap<>();
            for (String[] cells :
                    Jvm.of(jdk, Failures.flags("G1")).run(G1Objects.class, plan.windowMillis(), plan.rounds(), only)) {
                List<String> key = List.of(cells[0], cells[1], cells[2], cells[3]);
                double[] sum = sums.computeIfAbsent(key, made -> new double[4]);
                for (int i = 4; i < Math.min(cells.length, 8); i++) {
                    sum[i - 4] += Double.parseDouble(cells[i]);
                }
                if (cells[0].equals(STACKS)
                        && (cells[2].startsWith(Peer.HYBRID) || cells[2].equals(Peer.ASYNC))
                        && !cells[8].isEmpty()) {
                    examples.put(cells[1] + ", " + cells[2], cells[8]);
                }
            }
            sums.forEach((key, sum) -> {
                if (key.get(0).equals(STACKS)) {
                    addStacks(stacks, key.get(1), key.get(2), sum);
                } else {
                    addShare(shares, sums, key, sum);
                }
            });
            examples.forEach((what, failed) -> stacks.note(what + ": `" + failed + "`"));
            stacks.note("Weight: samples; ms of time for ours. By the wall clock, a walk that failed inside the JVM is"
                    + " tried again a moment later; by the CPU clock there is one try. JFR's own sampler does not tell"
                    + " what it failed to"
                    + " walk.");
            shares.note("Shares are of the time in all phases; a failed stack is in none.");
            tables.add(stacks);
            if (MIX.matches(only)) {
                tables.add(shares);
            }
        }
        return tables;
    }

    private static void addStacks(Table table, String program, String peer, double... sum) {
        double failed = 100 * sum[1] / sum[0];
        String bar = peer.startsWith(Peer.HYBRID) ? "failed " + Table.atMost(failed, FAILED_BAR) : "";
        table.row(
                program,
                peer,
                sum[0],
                peer.equals(Peer.JFR) ? "?" : failed,
                100 * sum[2] / sum[0],
                100 * sum[3] / (sum[0] + sum[3]),
                bar);
    }

    private static void addShare(Table table, Map<List<String>, double[]> sums, List<String> key, double... sum) {
        double truth = 0;
        double seen = 0;
        for (Map.Entry<List<String>, double[]> entry : sums.entrySet()) {
            if (entry.getKey().subList(0, 3).equals(key.subList(0, 3))) {
                truth += entry.getValue()[0];
                seen += entry.getValue()[1];
            }
        }
        double truthPercent = 100 * sum[0] / truth;
        double seenPercent = seen == 0 ? Double.NaN : 100 * sum[1] / seen;
        double error = seenPercent - truthPercent;
        String bar = key.get(1).startsWith(Peer.HYBRID) && !Double.isNaN(error)
                ? Table.atMost(Math.abs(error), SHARE_BAR)
                : "";
        table.row(key.get(1), key.get(2), key.get(3), truthPercent, seenPercent, error, bar);
    }

    /**
     * The measured program. It prints lines STACKS, program, profiler, engine, weights seen, failed, unrooted, skipped,
     * examples; and lines SHARE, profiler, clock, phase, truth in ms, seen.
     *
     * @param arguments milliseconds of a window, rounds, a regular expression for programs, the name of one profiler;
     *     without it, all
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        List<String> names = new ArrayList<>(arguments.length > 3 ? List.of(arguments[3]) : Peer.withThreads());
        if (names.contains(Peer.HYBRID)) {
            names.add(names.indexOf(Peer.HYBRID), CPU_CLOCK);
        }
        SamplerPeer.keepExactLines();
        sink = Phase.values().length;
        System.gc(); /* makes all live objects old, so that stores of new objects need the barriers */
        List<Phase[]> programs = new ArrayList<>();
        Stream.of(Phase.values())
                .filter(phase -> phase.name().matches(arguments[2]))
                .forEach(phase -> programs.add(new Phase[] {phase}));
        if (MIX.matches(arguments[2])) {
            programs.add(Phase.values());
        }
        for (Phase[] program : programs) {
            running = true;
            CountDownLatch begun = new CountDownLatch(1);
            Thread thread = new Thread(() -> work(begun, program), THREAD);
            thread.start();
            try {
                begun.await();
                Thread.sleep(WARM_UP_WINDOWS * window);
                for (int round = 0; round < rounds; round++) {
                    for (String name : names) {
                        measure(program, name, window);
                    }
                }
            } finally {
                running = false; // a failure ends the JVM
            }
            thread.join();
        }
        System.exit(0);
    }

    /* The order is random, so that no profiler can lock onto a period, but the same in each run. */
    private static void work(CountDownLatch begun, Phase... program) {
        Random random = new Random(1);
        PhaseClock mine = new PhaseClock(Phase.values().length);
        clock = mine;
        begun.countDown();
        while (running) {
            Phase phase = program[random.nextInt(program.length)];
            mine.enter(phase.ordinal());
            long end = System.nanoTime() + (5 + random.nextInt(20)) * MILLION;
            do {
                sink += phase.step();
            } while (System.nanoTime() < end);
        }
    }

    private static void measure(Phase[] program, String name, long window) throws Exception {
        Peer peer = name.equals(CPU_CLOCK) ? new SamplerPeer(SamplingClock.CPU) : Peer.of(name);
        peer.start();
        Times before = clock.now();
        Thread.sleep(window);
        Times truth = clock.now().minus(before);
        Profile profile = peer.stop(THREAD::equals);
        String engine = peer instanceof SamplerPeer ours ? ours.statistics().getEngine() : "";
        Tally tally = Tally.of(profile, stack -> true, ROOTS);
        String label = engine.isEmpty() ? name : name + " (" + engine + ")";
        Jvm.tell(
                STACKS,
                program.length > 1 ? MIX : program[0].title,
                label,
                engine,
                tally.seen(),
                tally.failed(),
                tally.unrooted(),
                tally.skipped(),
                tally.examples());
        if (program.length == 1) {
            return;
        }
        if (peer instanceof SamplerPeer ours && !name.equals(CPU_CLOCK)) {
            tell(label, "wall", truth.wall(), profile);
            tell(label, "CPU", truth.cpu(), ours.cpu());
        } else {
            tell(label, "CPU", truth.cpu(), profile);
        }
    }

    private static void tell(String name, String what, long[] nanos, Profile profile) {
        for (Phase phase : Phase.values()) {
            double[] seen = new double[1];
            profile.stacks().forEach((stack, weight) -> seen[0] += contains(stack, phase) ? weight : 0);
            Jvm.tell(
                    SHARE,
                    name,
                    what,
                    phase.name().toLowerCase(Locale.ROOT),
                    nanos[phase.ordinal()] / (double) MILLION,
                    seen[0]);
        }
    }

    private static boolean contains(List<Frame> stack, Phase phase) {
        return stack.stream().anyMatch(frame -> frame.method().equals(phase.method()));
    }
}
