// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.ObservedLibrary;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.accuracy.Calls.Verdict;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.incapsula.sampler.testing.work.Programs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;
import one.profiler.AsyncProfiler;

/**
 * Checks whether stacks are right. Each call on a stack is looked up in the byte code, at the caller's byte code index:
 * see {@link Calls}. A stack with an impossible call is wrong, however plausible it looks.
 */
public final class Oracle {

    /**
     * The cells of a result line: program, profiler, engine, then the cells of {@link JudgedStacks}, then the handler's
     * cost.
     */
    static final int STACKS = 3;

    static final int FAILED = 4;
    static final int UNROOTED = 5;
    static final int NAMELESS = 6;
    static final int CALLS = 7;
    static final int IMPOSSIBLE = 8;
    static final int WRONG = 9;
    static final int CHANGED = 10;
    static final int NOTICED = 11;
    static final int EXEMPT = 12;
    static final int EXAMPLES = 13;
    static final int FAILURES = 14;
    static final int HANDLER_NANOS = 15;
    static final int HANDLER_NANOS_P90 = 16;

    /** JVM flags by their purpose. */
    static final Map<String, List<String>> SETTINGS = settings();

    private static final double IMPOSSIBLE_BAR_PERCENT = 0.01;
    private static final double WALKED_BAR_PERCENT = 99.9;
    private static final double P90 = 0.9;
    private static final String THREAD = "measured";
    private static final int WARM_UP_WINDOWS = 2;
    private static final Pattern FAILURE =
            Pattern.compile("break_.*|not_walkable.*|no_Java_frame|no_class_load|deoptimization|safepoint|thread_exit"
                    + "|unknown_state|unknown_Java|unknown_not_Java|unknown_recovery|GC_active");
    private static final Set<String> NO_NAMES = Set.of("unknown", "stale_jmethodID");

    /** One of the programs. */
    private record Program(String name, String title, MeasuredThread.Step step) {}

    private Oracle() {}

    private static Map<String, List<String>> settings() {
        Map<String, List<String>> settings = new LinkedHashMap<>();
        settings.put("", List.of());
        settings.put("C1 only", List.of("-XX:TieredStopAtLevel=1"));
        settings.put("-Xint", List.of("-Xint"));
        return settings;
    }

    private static List<Program> programs() {
        return Stream.concat(
                        Stream.of(Programs.values())
                                .map(program -> new Program(program.name(), program.title(), program::step)),
                        Stream.of(MorePrograms.values())
                                .map(program -> new Program(program.name(), program.title(), program::step)))
                .toList();
    }

    /**
     * Runs everything.
     *
     * @param plan how long
     * @param only a regular expression that selects programs (names, with the suffix " C1 only" or " -Xint")
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            Table table = new Table(
                    "Calls that cannot exist, JDK " + Jvm.version(jdk),
                    "program",
                    "profiler",
                    "stacks",
                    "failed %",
                    "not rooted %",
                    "with a nameless frame %",
                    "handler ns, p50 (p90)",
                    "calls",
                    "exempt %",
                    "calls judged",
                    "impossible %",
                    "at most (95 %)",
                    "wrong stacks",
                    "dropped frames noticed %",
                    "bar");
            for (Map.Entry<String, List<String>> setting : SETTINGS.entrySet()) {
                List<String> names = programs().stream()
                        .map(Program::name)
                        .filter(name -> (name + " " + setting.getKey()).strip().matches(only))
                        .toList();
                if (!names.isEmpty()) {
                    for (String[] cells : measure(jdk, setting.getValue(), names, plan, Peer.HYBRID, Peer.ASYNC)) {
                        addRow(table, setting.getKey(), cells);
                    }
                }
            }
            table.note("Each call on each stack is compared with the instruction at the caller's byte code index."
                    + " Exempt: the byte code does not say what is called; notes say why. Not rooted: without"
                    + " Thread.run. Dropped frames noticed: of the same stacks, each without one inner frame, the share"
                    + " that the oracle calls impossible. Failed of ours: outcomes of the kind FAILED. At most: so many"
                    + " may be impossible in the long run, with 95 % confidence; the bar is undecided where it lies"
                    + " within the bounds. Handler: the time of the profiler's signal handler on the measured thread,"
                    + " by one clock in front of both, with the caches as the program leaves them. async-profiler also"
                    + " stores the stack there; ours hands it to another thread, which is not counted, and keeps for"
                    + " this table where it was interrupted.");
            tables.add(table);
        }
        return tables;
    }

    /** Runs programs in one JVM; returns a line of cells for each program and profiler. */
    static List<String[]> measure(Path jdk, List<String> flags, List<String> programs, Plan plan, String... profilers)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(flags);
        all.add(ObservedLibrary.flag());
        return Jvm.of(jdk, all)
                .run(
                        Oracle.class,
                        String.join(",", programs),
                        plan.windowMillis(),
                        plan.rounds(),
                        String.join(";", profilers));
    }

    private static void addRow(Table table, String setting, String... cells) {
        double stacks = number(cells, STACKS);
        double calls = number(cells, CALLS);
        double lost = 100 * (number(cells, FAILED) + number(cells, UNROOTED)) / stacks;
        String program = title(cells[0]) + (setting.isEmpty() ? "" : ", " + setting);
        boolean isOurs = cells[1].equals(Peer.HYBRID);
        long exempt = Arrays.stream(cells[EXEMPT].split(","))
                .filter(cell -> !cell.isEmpty())
                .mapToLong(cell -> Long.parseLong(cell.replaceAll(".*=", "")))
                .sum();
        double judged = calls - exempt;
        long counted = (long) number(cells, IMPOSSIBLE);
        double most = 100 * Figures.rareAtMost(counted) / judged;
        table.row(
                program,
                cells[1] + cells[2],
                (long) stacks,
                100 * number(cells, FAILED) / stacks,
                100 * number(cells, UNROOTED) / stacks,
                100 * number(cells, NAMELESS) / stacks,
                String.format(
                        Locale.ROOT, "%.0f (%.0f)", number(cells, HANDLER_NANOS), number(cells, HANDLER_NANOS_P90)),
                (long) calls,
                100 * exempt / calls,
                (long) judged,
                100 * counted / judged,
                most,
                (long) number(cells, WRONG),
                100 * number(cells, NOTICED) / number(cells, CHANGED),
                isOurs
                        ? "impossible "
                                + Table.atMostWithin(
                                        100 * Figures.rareAtLeast(counted) / judged, most, IMPOSSIBLE_BAR_PERCENT)
                                + "; walked "
                                + Table.atLeast(100 - lost, WALKED_BAR_PERCENT)
                        : "");
        if (!cells[EXEMPT].isEmpty() && isOurs) {
            table.note(program + ", exempt: " + exemptText(cells[EXEMPT]));
        }
        if (!cells[EXAMPLES].isEmpty()) {
            table.note(program + ", " + cells[1] + ", impossible: `" + cells[EXAMPLES] + "`");
        }
        if (!cells[FAILURES].isEmpty()) {
            table.note(program + ", " + cells[1] + ", failed or not rooted: `" + cells[FAILURES] + "`");
        }
    }

    private static double number(String[] cells, int column) {
        return Double.parseDouble(cells[column]);
    }

    private static String title(String name) {
        return programs().stream()
                .filter(program -> program.name.equals(name))
                .findFirst()
                .orElseThrow()
                .title;
    }

    private static String exemptText(String cell) {
        return Arrays.stream(cell.split(","))
                .map(part -> part.split("="))
                .map(part -> part[1] + " " + Verdict.valueOf(part[0]).text())
                .collect(Collectors.joining(", "));
    }

    /* ------------------------------------------------------------------------------------- in the measured JVM */

    /**
     * The measured programs.
     *
     * @param arguments names of programs, milliseconds of a window, rounds, names of profilers
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[1]);
        int rounds = Integer.parseInt(arguments[2]);
        List<String> profilers = List.of(arguments[3].split(";"));
        List<String> names = List.of(arguments[0].split(","));
        SamplerPeer.keepExactLines();
        if (!ObservedStacks.start("")) {
            throw new IllegalStateException("this JVM does not show byte codes");
        }
        for (Program program : programs()) {
            if (!names.contains(program.name)) {
                continue;
            }
            try (MeasuredThread thread = new MeasuredThread(THREAD, program.step)) {
                Thread.sleep(WARM_UP_WINDOWS * window);
                measure(program, window, rounds, profilers);
            }
        }
        System.exit(0);
    }

    private static void measure(Program program, long window, int rounds, List<String> profilers) throws Exception {
        Map<String, List<Collector>> collected = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            for (String profiler : profilers) {
                Collector collector = profiler.equals(Peer.ASYNC) ? new AsyncStacks() : new OwnStacks();
                collector.collect(window);
                collected.computeIfAbsent(profiler, name -> new ArrayList<>()).add(collector);
            }
        }
        Calls calls = new Calls(List.of(ObservedStacks.loadedClasses()));
        for (Map.Entry<String, List<Collector>> entry : collected.entrySet()) {
            JudgedStacks judged = new JudgedStacks(calls);
            for (Collector collector : entry.getValue()) {
                collector.judge(judged, calls);
            }
            List<Object> cells = new ArrayList<>(List.of(
                    program.name, entry.getKey(), entry.getValue().get(0).engine()));
            cells.addAll(judged.cells());
            List<Double> nanos = entry.getValue().stream()
                    .flatMap(collector -> IntStream.of(collector.handlerNanos()).mapToObj(ns -> (double) ns))
                    .toList();
            cells.add(Figures.median(nanos));
            cells.add(Figures.quantile(nanos, P90));
            Jvm.tell(cells.toArray());
        }
    }

    /** Obtains the stacks of the measured thread from one profiler. */
    private interface Collector {
        void collect(long millis) throws Exception;

        void judge(JudgedStacks judged, Calls calls) throws IOException;

        String engine();

        int[] handlerNanos();
    }

    /** Our stacks, from the native library that keeps them. */
    private static final class OwnStacks implements Collector {
        private int[] numbers = {};
        private int[] handlerNanos = {};
        private String engine = "";

        @Override
        public void collect(long millis) throws Exception {
            SamplerPeer sampler = (SamplerPeer) Peer.of(Peer.HYBRID);
            sampler.start();
            ObservedStacks.start(THREAD);
            SignalTimes.startOf(THREAD);
            Thread.sleep(millis);
            handlerNanos = SignalTimes.stop();
            numbers = ObservedStacks.stop();
            engine = " (" + sampler.statistics().getEngine() + ")";
            sampler.stop(thread -> false);
            if (ObservedStacks.isFull()) {
                throw new IllegalStateException("no room for all stacks: shorter windows");
            }
        }

        @Override
        public void judge(JudgedStacks judged, Calls calls) {
            List<Place> places =
                    Stream.of(ObservedStacks.places()).map(Place::parse).toList();
            int head = 2 + ObservedStacks.INTERRUPTED;
            for (int at = 0; at < numbers.length; at += head + numbers[at + 1]) {
                String outcome = ObservedStacks.outcome(numbers[at]);
                List<Place> stack = new ArrayList<>();
                for (int i = 0; i < numbers[at + 1]; i++) {
                    int place = numbers[at + head + i];
                    stack.add(place == ObservedStacks.GAP ? null : places.get(place));
                }
                if (outcome.startsWith("FAILED") || outcome.endsWith(" NO_JAVA_FRAMES")) {
                    judged.addFailed(outcome);
                } else if (!stack.isEmpty()) {
                    int interrupted = at + 2;
                    judged.add(
                            stack,
                            outcome.endsWith(" METHOD_WITHOUT_ID"),
                            () -> outcome + ", " + ObservedStacks.interrupted(numbers, interrupted));
                }
            }
        }

        @Override
        public String engine() {
            return engine;
        }

        @Override
        public int[] handlerNanos() {
            return handlerNanos;
        }
    }

    /** async-profiler's stacks, from the file that it writes. */
    private static final class AsyncStacks implements Collector {
        private final Map<List<Object>, Place> places = new HashMap<>();
        private int[] handlerNanos = {};
        private Path file;

        @Override
        public void collect(long millis) throws Exception {
            file = Files.createTempFile("oracle", ".jfr");
            AsyncProfiler.getInstance().execute("start,event=cpu,interval=1ms,jstackdepth=2048,jfr,file=" + file);
            SignalTimes.startOf(THREAD);
            Thread.sleep(millis);
            handlerNanos = SignalTimes.stop();
            AsyncProfiler.getInstance().execute("stop,jfr,file=" + file);
        }

        @Override
        public void judge(JudgedStacks judged, Calls calls) throws IOException {
            try (RecordingFile events = new RecordingFile(file)) {
                while (events.hasMoreEvents()) {
                    RecordedEvent event = events.readEvent();
                    if (event.getEventType().getName().equals("jdk.ExecutionSample")
                            && event.getThread("sampledThread") != null
                            && THREAD.equals(event.getThread("sampledThread").getJavaName())) {
                        add(event, judged, calls);
                    }
                }
            }
            Files.delete(file);
        }

        private void add(RecordedEvent event, JudgedStacks judged, Calls calls) {
            List<RecordedFrame> frames = event.getStackTrace() == null
                    ? List.of()
                    : event.getStackTrace().getFrames();
            Collection<String> code = frames.stream()
                    .filter(frame -> isCode(frame))
                    .map(frame -> frame.getMethod().getName())
                    .toList();
            code.stream()
                    .filter(name -> FAILURE.matcher(name).matches())
                    .findFirst()
                    .ifPresentOrElse(
                            judged::addFailed,
                            () -> addWhole(
                                    frames, code.stream().anyMatch(name -> NO_NAMES.contains(name)), judged, calls));
        }

        private void addWhole(List<RecordedFrame> frames, boolean isNameless, JudgedStacks judged, Calls calls) {
            if (frames.isEmpty()) {
                judged.addFailed("no stack");
            } else {
                judged.add(frames.stream().map(frame -> place(frame, calls)).toList(), isNameless, () -> "");
            }
        }

        /*
         * Native functions and stubs have a descriptor that no method has: "()L;", or "(Lk;)L;" for kernel functions.
         */
        private static boolean isCode(RecordedFrame frame) {
            return String.valueOf(frame.getMethod().getDescriptor()).endsWith(")L;");
        }

        private Place place(RecordedFrame frame, Calls calls) {
            if (isCode(frame)) {
                return new Place("[" + frame.getMethod().getName() + "]", "", "", 0, Place.PSEUDO);
            }
            String type = Place.typeName(frame.getMethod().getType().getName());
            String method = frame.getMethod().getName();
            String descriptor = frame.getMethod().getDescriptor();
            int bci = frame.getBytecodeIndex();
            return places.computeIfAbsent(
                    List.of(type, method, descriptor, bci),
                    key -> new Place(type, method, descriptor, bci, instruction(calls, type, method, descriptor, bci)));
        }

        private static String instruction(Calls calls, String type, String method, String descriptor, int bci) {
            return calls.classes(type).stream()
                    .map(declaring -> ObservedStacks.instruction(declaring, method, descriptor, bci))
                    .filter(text -> !text.equals(Place.UNKNOWN))
                    .findFirst()
                    .orElse(Place.UNKNOWN);
        }

        @Override
        public String engine() {
            return "";
        }

        @Override
        public int[] handlerNanos() {
            return handlerNanos;
        }
    }
}
