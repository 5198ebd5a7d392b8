// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.PhaseClock.Times;
import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.GroupedPeer;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Threads that sleep most of the time and work a little now and then, as in a pool that waits for requests: how much of
 * their work do profilers find? The truth is what each thread measures itself. All profilers run at the same time.
 */
public final class MostlySleeping {

    /** When busy processes end if nothing else ends them. */
    static final long LONGEST_LOAD_SECONDS = 600;
    /**
     * The first cell of a line about the sampler itself, followed by a sentence, the number of ticks, and an upper
     * bound of the elapsed time in ms.
     */
    static final String ACCOUNT = "account";
    /** The clock of a line's figures. */
    static final String WALL = "wall";

    static final String CPU = "CPU";
    /** The row for everything outside the phases: stacks without a phase, and time without a stack. */
    static final String ELSEWHERE = "elsewhere";

    static final long INTERVAL_MILLIS = 20;
    private static final int THREADS = 6;
    private static final int QUIET_WINDOWS = 20;
    private static final int LOADED_WINDOWS = 12;
    private static final long WARM_UP_MILLIS = 2000;
    private static final double BAR = 0.05;
    private static final double SIGMAS_OF_95_PERCENT = 1.96;
    private static final long MILLION = 1_000_000;
    private static volatile long sink;

    /**
     * The phases of a thread's work. The relevant method is run() of each constant's own class: all are called from one
     * line, so a report shows each in a row of its own.
     */
    enum Phase {
        IDLE {
            @Override
            void run(long idleMillis) {
                try {
                    Thread.sleep(idleMillis);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
        },

        PARSE {
            @Override
            void run(long idleMillis) {
                sink = PhaseClock.compute(5 * MILLION, sink);
            }
        },

        QUERY {
            @Override
            void run(long idleMillis) {
                long end = System.nanoTime() + 40 * MILLION;
                for (long left = 40 * MILLION; left > 0; left = end - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
            }
        },

        RENDER {
            @Override
            void run(long idleMillis) {
                sink = PhaseClock.compute(5 * MILLION, sink);
            }
        },

        COMPUTE {
            @Override
            void run(long idleMillis) {
                sink = PhaseClock.compute(50 * MILLION, sink);
            }
        };

        abstract void run(long idleMillis);

        String title() {
            return name().toLowerCase(Locale.ROOT);
        }

        private String method() {
            return getClass().getName() + ".run";
        }
    }

    /** Threads with the same sleep. All profilers see them as one group. */
    enum Kind {
        TENTH(100, Phase.PARSE, Phase.QUERY, Phase.RENDER),
        HALF(500, Phase.PARSE, Phase.QUERY, Phase.RENDER),
        ONE(1000, Phase.PARSE, Phase.QUERY, Phase.RENDER),
        TWO(2000, Phase.PARSE, Phase.QUERY, Phase.RENDER),
        FIVE(5000, Phase.PARSE, Phase.QUERY, Phase.RENDER),
        BURST(2000, Phase.COMPUTE);

        private final long idleMillis;
        private final List<Phase> request;
        private final Deque<PhaseClock> clocks = new ArrayDeque<>();

        Kind(long idleMillis, Phase... request) {
            this.idleMillis = idleMillis;
            this.request = List.of(request);
        }

        String threads() {
            return name().toLowerCase(Locale.ROOT) + "-idle-";
        }

        private static String of(String thread) {
            for (Kind kind : values()) {
                if (thread.startsWith(kind.threads())) {
                    return kind.name();
                }
            }
            return null;
        }

        private Times now() {
            Times sum = new Times(
                    new long[Phase.values().length], new long[Phase.values().length], new long[Phase.values().length]);
            for (PhaseClock clock : clocks) {
                sum = sum.plus(clock.now());
            }
            return sum;
        }
    }

    /**
     * The time that a profiler found for one kind of threads, and the time that the threads measured, in milliseconds.
     */
    record Found(double truth, double found) {

        double ratio() {
            return truth == 0 ? Double.NaN : found / truth;
        }

        /** The random error of the ratio (95 %), with a sample every INTERVAL_MILLIS. */
        double chance() {
            return SIGMAS_OF_95_PERCENT / Math.sqrt(truth / INTERVAL_MILLIS);
        }

        Found plus(Found other) {
            return new Found(truth + other.truth, found + other.found);
        }

        private String text() {
            return truth == 0 ? "–" : String.format(Locale.ROOT, "%.2f", ratio());
        }
    }

    /** One profiler's figures for one kind of threads. */
    private static final class Findings {
        private final Map<String, Found> of = new LinkedHashMap<>();
        private long requests;
        private double elapsed;

        private Found wall(Phase phase) {
            return of.getOrDefault(WALL + phase, new Found(0, 0));
        }

        private Found cpu(Phase phase) {
            return of.getOrDefault(CPU + phase, new Found(0, 0));
        }

        private Found request() {
            return wall(Phase.PARSE).plus(wall(Phase.QUERY)).plus(wall(Phase.RENDER));
        }

        private double elsewherePercent() {
            return 100 * of.getOrDefault(WALL + ELSEWHERE, new Found(0, 0)).found / elapsed;
        }
    }

    private MostlySleeping() {}

    /**
     * Runs everything.
     *
     * @param plan the time is 20 windows on a quiet machine and 12 on a loaded one, times rounds
     * @param only a regular expression that selects "quiet" and "loaded"
     * @return two tables per JDK and load
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            if ("quiet".matches(only)) {
                measure(plan, jdk, "quiet", QUIET_WINDOWS, tables);
            }
            if ("loaded".matches(only)) {
                int processors = Runtime.getRuntime().availableProcessors();
                try (BusyProcesses busy = new BusyProcesses(processors, LONGEST_LOAD_SECONDS)) {
                    measure(plan, jdk, "beside " + processors + " busy processes", LOADED_WINDOWS, tables);
                }
            }
        }
        return tables;
    }

    /** The argument for the same number of threads of each kind. */
    static String ofEach(int threads) {
        return Stream.of(Kind.values()).map(kind -> kind + "=" + threads).collect(Collectors.joining(","));
    }

    private static void measure(Plan plan, Path jdk, String load, int windows, List<Table> tables)
            throws IOException, InterruptedException {
        long millis = windows * plan.rounds() * plan.windowMillis();
        int threads = plan.scaled(THREADS);
        List<String[]> lines = Jvm.of(jdk, List.of()).run(MostlySleeping.class, millis, ofEach(threads));
        String title =
                millis / 1000 + " s, " + threads + " threads of each idle time, " + load + ", JDK " + Jvm.version(jdk);
        Table requests = new Table(
                "Requests after a sleep, found / truth, " + title,
                "idle",
                "profiler",
                "requests",
                "parse",
                "query",
                "render",
                "request",
                "idle row",
                "elsewhere %",
                "parse, CPU",
                "render, CPU",
                "bars");
        Table bursts = new Table(
                "Bursts after a sleep, found / truth, " + title,
                "idle",
                "profiler",
                "bursts",
                "compute",
                "idle row",
                "elsewhere %",
                "compute, CPU",
                "bar");
        findings(lines).forEach((kind, peers) -> {
            peers.forEach((peer, found) -> addRow(kind == Kind.BURST ? bursts : requests, kind, peer, found));
            addChance(kind == Kind.BURST ? bursts : requests, kind, peers.get(Peer.HYBRID));
        });
        requests.note("A request: 5 ms of CPU time (parse), 40 ms of waiting (query), 5 ms of CPU time (render). All"
                + " profilers poll the same threads every " + INTERVAL_MILLIS + " ms, at the same time. Shares of"
                + " async-profiler's samples are taken of the elapsed time; a sample of JFR, which sees only what runs,"
                + " is CPU time of " + INTERVAL_MILLIS + " ms. By chance: how far from 1 a ratio is in 1 of 20 tables,"
                + " if the profiler has no bias; a bar is ± 0.05 where chance allows it, else that.");
        lines.stream().filter(cells -> cells[0].equals(ACCOUNT)).forEach(cells -> requests.note(cells[1]));
        tables.add(requests);
        tables.add(bursts);
    }

    private static void addRow(Table table, Kind kind, String peer, Findings found) {
        boolean ours = peer.equals(Peer.HYBRID);
        String idle = kind.idleMillis + " ms";
        Object elsewhere = peer.equals(Peer.JFR) ? null : found.elsewherePercent();
        if (kind == Kind.BURST) {
            table.row(
                    idle,
                    peer,
                    found.requests,
                    found.wall(Phase.COMPUTE).text(),
                    found.wall(Phase.IDLE).text(),
                    elsewhere,
                    found.cpu(Phase.COMPUTE).text(),
                    ours ? bar(found.wall(Phase.COMPUTE)) : "");
            return;
        }
        table.row(
                idle,
                peer,
                found.requests,
                found.wall(Phase.PARSE).text(),
                found.wall(Phase.QUERY).text(),
                found.wall(Phase.RENDER).text(),
                found.request().text(),
                found.wall(Phase.IDLE).text(),
                elsewhere,
                found.cpu(Phase.PARSE).text(),
                found.cpu(Phase.RENDER).text(),
                ours ? "query " + bar(found.wall(Phase.QUERY)) + "; request " + bar(found.request()) : "");
    }

    private static void addChance(Table table, Kind kind, Findings found) {
        String name = "*by chance, ±*";
        String idle = kind.idleMillis + " ms";
        if (kind == Kind.BURST) {
            table.row(idle, name, "", chance(found.wall(Phase.COMPUTE)), chance(found.wall(Phase.IDLE)), "", "", "");
            return;
        }
        table.row(
                idle,
                name,
                "",
                chance(found.wall(Phase.PARSE)),
                chance(found.wall(Phase.QUERY)),
                chance(found.wall(Phase.RENDER)),
                chance(found.request()),
                chance(found.wall(Phase.IDLE)),
                "",
                "",
                "",
                "");
    }

    private static String chance(Found found) {
        return found.truth == 0 ? "–" : String.format(Locale.ROOT, "%.2f", found.chance());
    }

    private static String bar(Found found) {
        return found.truth == 0
                ? "–"
                : Table.atMost(Math.abs(found.ratio() - 1), Math.max(BAR, found.chance()))
                        .replace("≤", "±");
    }

    private static Map<Kind, Map<String, Findings>> findings(List<String[]> lines) {
        Map<Kind, Map<String, Findings>> findings = new EnumMap<>(Kind.class);
        for (String[] cells : lines) {
            if (cells[0].equals(ACCOUNT)) {
                continue;
            }
            Findings of = findings.computeIfAbsent(Kind.valueOf(cells[1]), kind -> new LinkedHashMap<>())
                    .computeIfAbsent(cells[0], peer -> new Findings());
            double truth = Double.parseDouble(cells[4]);
            of.of.put(cells[3] + cells[2], new Found(truth, Double.parseDouble(cells[5])));
            of.requests = Long.parseLong(cells[6]);
            of.elapsed += cells[3].equals(WALL) ? truth : 0;
        }
        return findings;
    }

    /** A running profiler, with the threads' own figures from the time when it was started. */
    private record Run(String name, GroupedPeer peer, long begin, Map<Kind, Times> before) {}

    /**
     * The measured program. It prints lines: profiler, kind, phase, clock, truth in ms, found in ms, requests.
     *
     * @param arguments milliseconds; KIND=threads, separated by commas; the name of one profiler, without it all
     */
    public static void main(String... arguments) throws Exception {
        long millis = Long.parseLong(arguments[0]);
        start(arguments[1]);
        Thread.sleep(Math.min(WARM_UP_MILLIS, millis));
        List<String> names = List.of(Peer.JFR, Peer.ASYNC, GroupedPeer.ORIGINAL, Peer.HYBRID);
        List<Run> runs = new ArrayList<>();
        for (String name : arguments.length > 2 ? List.of(arguments[2]) : names) {
            GroupedPeer peer = GroupedPeer.of(name, INTERVAL_MILLIS);
            long begin = System.nanoTime();
            peer.start();
            runs.add(0, new Run(name, peer, begin, now()));
        }
        Thread.sleep(millis);
        for (Run run : runs) {
            Map<Kind, Times> after = now();
            Map<String, Profile> profiles = run.peer.stopByGroup(Kind::of);
            double elapsed = (System.nanoTime() - run.begin) / (double) MILLION;
            for (Kind kind : after.keySet()) {
                tell(
                        run,
                        kind,
                        after.get(kind).minus(run.before.get(kind)),
                        profiles.getOrDefault(kind.name(), new Profile()));
            }
            if (run.peer instanceof SamplerPeer ours) {
                long ticks = ours.statistics().getCounters().get("TICKS");
                Jvm.tell(
                        ACCOUNT,
                        String.format(
                                Locale.ROOT,
                                "Ours (%s): %d ticks, %d polls, own CPU %.2f ms a second, with the end of the interval.",
                                ours.statistics().getEngine(),
                                ticks,
                                ours.statistics().getPolls(),
                                ours.statistics().getOwnCpuNanos() / 1000.0 / elapsed),
                        ticks,
                        elapsed);
            }
        }
        System.exit(0);
    }

    /* Starts are spread over a cycle, so that the threads of a kind do not work at the same time. */
    private static void start(String kinds) throws InterruptedException {
        for (String part : kinds.split(",")) {
            Kind kind = Kind.valueOf(part.split("=")[0]);
            int threads = Integer.parseInt(part.split("=")[1]);
            CountDownLatch started = new CountDownLatch(threads);
            for (int i = 0; i < threads; i++) {
                long firstIdleMillis = kind.idleMillis * i / threads;
                Thread thread = new Thread(() -> work(kind, firstIdleMillis, started), kind.threads() + i);
                thread.setDaemon(true);
                thread.start();
            }
            started.await();
        }
    }

    private static void work(Kind kind, long firstIdleMillis, CountDownLatch started) {
        PhaseClock clock = new PhaseClock(Phase.values().length);
        synchronized (kind) {
            kind.clocks.add(clock);
        }
        started.countDown();
        List<Phase> phases = new ArrayList<>(List.of(Phase.IDLE));
        phases.addAll(kind.request);
        long idleMillis = firstIdleMillis;
        while (true) {
            for (Phase phase : phases) {
                clock.enter(phase.ordinal());
                phase.run(idleMillis);
            }
            idleMillis = kind.idleMillis;
        }
    }

    private static Map<Kind, Times> now() {
        Map<Kind, Times> times = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            if (!kind.clocks.isEmpty()) {
                times.put(kind, kind.now());
            }
        }
        return times;
    }

    private static void tell(Run run, Kind kind, Times truth, Profile profile) {
        Map<String, Double> seen = byPhase(profile);
        if (run.name.equals(Peer.JFR)) {
            seen.replaceAll((phase, samples) -> samples * INTERVAL_MILLIS);
            tell(run, kind, CPU, truth, truth.cpu(), seen);
            return;
        }
        if (run.name.equals(Peer.ASYNC)) {
            double samples =
                    seen.values().stream().mapToDouble(Double::doubleValue).sum();
            double millis = LongStream.of(truth.wall()).sum() / (double) MILLION;
            seen.replaceAll((phase, weight) -> weight / samples * millis);
        }
        tell(run, kind, WALL, truth, truth.wall(), seen);
        if (run.peer instanceof SamplerPeer ours) {
            tell(
                    run,
                    kind,
                    CPU,
                    truth,
                    truth.cpu(),
                    byPhase(ours.cpuByGroup().getOrDefault(kind.name(), new Profile())));
        }
    }

    private static void tell(Run run, Kind kind, String clock, Times truth, long[] nanos, Map<String, Double> seen) {
        long requests = truth.entered()[kind.request.get(0).ordinal()];
        for (Phase phase : Phase.values()) {
            if (phase == Phase.IDLE || kind.request.contains(phase)) {
                Jvm.tell(
                        run.name,
                        kind,
                        phase,
                        clock,
                        nanos[phase.ordinal()] / (double) MILLION,
                        seen.getOrDefault(phase.name(), 0.0),
                        requests);
            }
        }
        Jvm.tell(run.name, kind, ELSEWHERE, clock, 0, seen.getOrDefault(ELSEWHERE, 0.0), requests);
    }

    private static Map<String, Double> byPhase(Profile profile) {
        Map<String, Double> found = new LinkedHashMap<>();
        profile.stacks().forEach((stack, weight) -> found.merge(phase(stack), weight, Double::sum));
        return found;
    }

    private static String phase(List<Frame> stack) {
        for (Phase phase : Phase.values()) {
            if (stack.stream().anyMatch(frame -> frame.method().equals(phase.method()))) {
                return phase.name();
            }
        }
        return ELSEWHERE;
    }
}
