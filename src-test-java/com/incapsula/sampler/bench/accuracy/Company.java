// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.AsyncProfilerPeer;
import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Frame.Kind;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.bench.peer.Profile;
import com.incapsula.sampler.bench.peer.SamplerPeer;
import com.incapsula.sampler.testing.work.Programs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Our sampler together with another profiler in the same JVM, after each of them alone. Both interrupt the same threads
 * by signals, so a walk of one may begin inside the handler of the other.
 */
public final class Company {

    /** The other profilers; JFR first, because its CPU-time sampler must find SIGPROF untouched. */
    static final List<String> COMPANIONS = List.of(
            Peer.JFR,
            Peer.JFR_CPU,
            "async-profiler cpu",
            "async-profiler ctimer",
            "async-profiler itimer",
            "async-profiler wall");

    private static final String FIRST = "before it";
    private static final String SECOND = "after it";
    private static final String ASYNC = "async-profiler ";
    private static final String ALONE = "-";
    private static final String OURS = "ours";
    private static final Set<Programs> HARD = EnumSet.of(
            Programs.COLLECTIONS,
            Programs.VIRTUAL_CALLS,
            Programs.STRING_BUILDER,
            Programs.DIGEST,
            Programs.EXCEPTIONS,
            Programs.RECURSION);
    private static final double BAR = 1;
    private static final double STANDARD_ERRORS = 3;
    private static final double LEAST_SAMPLES = 30;
    private static final String THREAD = "measured";
    private static final int WARM_UP_WINDOWS = 3;
    private static final int EXAMPLES = 3;

    /** The weights that one profiler has seen. */
    private record Sums(double total, double right, double failed, String examples) {

        private static final Sums NONE = new Sums(0, 0, 0, "");

        private Sums plus(String... cells) {
            return new Sums(
                    total + Double.parseDouble(cells[3]),
                    right + Double.parseDouble(cells[4]),
                    failed + Double.parseDouble(cells[5]),
                    cells[6].isEmpty() ? examples : cells[6]);
        }

        private double rightPercent() {
            return 100 * right / total;
        }

        private double failedPercent() {
            return 100 * failed / total;
        }
    }

    /** Judges stacks. For code that is hard to walk, each complete stack is right. */
    private record Judge(Truth truth) {

        private static Judge of(String program, Path sources) throws IOException {
            return new Judge(isHard(program) ? null : Truth.of(sources, program));
        }

        private Sums judge(Profile profile) {
            double total = 0;
            double right = 0;
            double failed = 0;
            Map<String, Double> wrong = new HashMap<>();
            for (Map.Entry<List<Frame>, Double> entry : profile.stacks().entrySet()) {
                Truth.Verdict verdict = truth != null ? truth.judge(entry.getKey()) : verdict(entry.getKey());
                if (verdict.compareTo(Truth.Verdict.SKIPPED) <= 0) {
                    continue;
                }
                total += entry.getValue();
                failed += verdict == Truth.Verdict.FAILED ? entry.getValue() : 0;
                if (verdict.compareTo(Truth.Verdict.LINE) >= 0) {
                    right += entry.getValue();
                } else {
                    wrong.merge(text(entry.getKey()), entry.getValue(), Double::sum);
                }
            }
            return new Sums(total, right, failed, examples(wrong));
        }

        private static Truth.Verdict verdict(List<Frame> stack) {
            if (stack.stream().anyMatch(frame -> frame.kind() == Kind.SKIPPED)) {
                return Truth.Verdict.SKIPPED;
            }
            if (stack.get(0).method().equals("[GC active]")) {
                return Truth.Verdict.OUTSIDE;
            }
            boolean rooted = stack.stream().anyMatch(frame -> frame.method().equals("java.lang.Thread.run"));
            boolean failed = stack.stream().anyMatch(frame -> frame.kind() == Kind.FAILED);
            return rooted && !failed ? Truth.Verdict.LINE : Truth.Verdict.FAILED;
        }
    }

    private Company() {}

    private static boolean isHard(String program) {
        return program.equals(program.toUpperCase(Locale.ROOT));
    }

    private static String text(List<Frame> stack) {
        return String.join(
                " < ", stack.stream().limit(EXAMPLES).map(Frame::toString).toList());
    }

    private static String examples(Map<String, Double> wrong) {
        return String.join(
                "; ",
                wrong.entrySet().stream()
                        .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                        .limit(EXAMPLES)
                        .map(entry -> Math.round(entry.getValue()) + " x " + entry.getKey())
                        .toList());
    }

    /** Programs whose right line is known, and some whose stacks are hard to walk. */
    static List<String> programs() {
        return Stream.concat(
                        Stream.of(
                                "meSoHotInline",
                                "meSoHotNoInline",
                                "blameSetResult",
                                "blameSetResultDeeper",
                                "copy",
                                "systemArrayCopy",
                                "adler32",
                                "crc32"),
                        HARD.stream().map(Programs::name))
                .toList();
    }

    private static MeasuredThread.Step step(String program) {
        if (isHard(program)) {
            return Programs.valueOf(program)::step;
        }
        SafepointBias bias = new SafepointBias();
        bias.setup();
        return switch (program) {
            case "meSoHotInline" -> loop(bias::meSoHotInline);
            case "meSoHotNoInline" -> loop(bias::meSoHotNoInline);
            case "blameSetResult" -> loop(bias::blameSetResult);
            case "blameSetResultDeeper" -> loop(bias::blameSetResultDeeper);
            case "copy" -> loop(bias::copy);
            case "systemArrayCopy" -> bias::systemArrayCopy;
            case "adler32" -> bias::adler32;
            case "crc32" -> bias::crc32;
            default -> throw new IllegalArgumentException(program);
        };
    }

    private static MeasuredThread.Step loop(Runnable body) {
        return () -> {
            body.run();
            return 1;
        };
    }

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
                    "Beside another profiler, JDK " + Jvm.version(jdk),
                    "program",
                    "profiler",
                    "beside",
                    "started",
                    "weight seen",
                    "right line %",
                    "failed %",
                    "bar");
            for (String program : programs().subList(0, plan.scaled(programs().size()))) {
                if (program.matches(only)) {
                    measure(plan, jdk, program, table);
                }
            }
            table.note(
                    "Weight: samples; ms for ours. Right line: of the programs in capitals, which have no one hot line,"
                            + " the share of whole stacks. Bar: ours within " + BAR
                            + " point of ours alone; theirs within a point and "
                            + STANDARD_ERRORS + " standard errors of theirs alone, where both have "
                            + LEAST_SAMPLES + " samples.");
            tables.add(table);
        }
        return tables;
    }

    private static void measure(Plan plan, Path jdk, String program, Table table)
            throws IOException, InterruptedException {
        List<Object> arguments = new ArrayList<>(List.of(program, plan.windowMillis(), plan.rounds(), plan.sources()));
        arguments.addAll(companions(jdk));
        Map<List<String>, Sums> sums = new LinkedHashMap<>();
        for (String[] cells : Jvm.of(jdk, List.of()).run(Company.class, arguments.toArray())) {
            sums.merge(List.of(cells[0], cells[1], cells[2]), Sums.NONE.plus(cells), (old, more) -> old.plus(cells));
        }
        sums.forEach((key, sum) -> {
            Sums alone = sums.get(List.of(key.get(0), ALONE, ALONE));
            String bar =
                    key.get(1).equals(ALONE) ? "" : bar(alone, sum, key.get(0).startsWith(OURS));
            table.row(
                    program,
                    key.get(0) + (key.get(0).startsWith(OURS) ? " (" + Peer.HYBRID + ")" : ""),
                    key.get(1),
                    key.get(2),
                    sum.total(),
                    sum.total() > 0 ? sum.rightPercent() : null,
                    sum.total() > 0 ? sum.failedPercent() : null,
                    bar);
        });
    }

    /*
     * Ours must not be worse than alone. The other profiler must be unchanged within the random error of that many
     * samples.
     */
    private static String bar(Sums alone, Sums beside, boolean isOurs) {
        if (isOurs) {
            return "right " + Table.atMost(alone.rightPercent() - beside.rightPercent(), BAR) + "; failed "
                    + Table.atMost(beside.failedPercent() - alone.failedPercent(), BAR);
        }
        if (Math.min(alone.total(), beside.total()) < LEAST_SAMPLES) {
            return "theirs: too few samples to judge";
        }
        return "theirs: right "
                + Table.atMost(
                        Math.abs(alone.rightPercent() - beside.rightPercent()),
                        BAR + STANDARD_ERRORS * standardError(alone, beside, alone.rightPercent()))
                + "; failed "
                + Table.atMost(
                        Math.abs(beside.failedPercent() - alone.failedPercent()),
                        BAR + STANDARD_ERRORS * standardError(alone, beside, alone.failedPercent()));
    }

    /* The standard error of the difference of two shares, in points. */
    private static double standardError(Sums one, Sums other, double percent) {
        double share = (percent + 1) / (100 + 2);
        return 100 * Math.sqrt(share * (1 - share) * (1 / Math.max(1, one.total()) + 1 / Math.max(1, other.total())));
    }

    private static List<String> companions(Path jdk) {
        int feature = Integer.parseInt(Jvm.version(jdk).split("\\D")[0]);
        return COMPANIONS.stream()
                .filter(name -> !name.equals(Peer.JFR_CPU) || feature >= 25)
                .toList();
    }

    /**
     * The measured program.
     *
     * @param arguments its name, milliseconds of a window, rounds, the folder of sources, other profilers' names
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[1]);
        SamplerPeer.keepExactLines();
        try (MeasuredThread thread = new MeasuredThread(THREAD, step(arguments[0]))) {
            Thread.sleep(WARM_UP_WINDOWS * window);
            measureAll(window, arguments);
        }
        System.exit(0);
    }

    private static void measureAll(long window, String... arguments) throws Exception {
        Judge judge = Judge.of(arguments[0], Path.of(arguments[3]));
        List<String> companions = Arrays.asList(arguments).subList(4, arguments.length);
        for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
            for (SamplingClock clock : SamplingClock.values()) {
                SamplerPeer ours = ours(clock);
                Profile profile = alone(ours, window);
                tell(
                        OURS + " " + clock,
                        ALONE,
                        ALONE,
                        judge,
                        profile,
                        ours.statistics().getWalksInOtherHandlers());
            }
            for (String companion : companions) {
                measure(judge, companion, window);
            }
        }
    }

    private static void measure(Judge judge, String companion, long window) throws Exception {
        tell(companion, ALONE, ALONE, judge, alone(peer(companion), window), 0);
        for (SamplingClock clock : SamplingClock.values()) {
            for (String order : List.of(FIRST, SECOND)) {
                SamplerPeer ours = ours(clock);
                Peer theirs = peer(companion);
                Peer first = order.equals(FIRST) ? ours : theirs;
                Peer second = order.equals(FIRST) ? theirs : ours;
                first.start();
                second.start();
                Thread.sleep(window);
                Profile secondSaw = second.stop(THREAD::equals);
                Profile firstSaw = first.stop(THREAD::equals);
                tell(
                        OURS + " " + clock,
                        companion,
                        order,
                        judge,
                        order.equals(FIRST) ? firstSaw : secondSaw,
                        ours.statistics().getWalksInOtherHandlers());
                tell(
                        companion,
                        OURS + " " + clock,
                        order.equals(FIRST) ? SECOND : FIRST,
                        judge,
                        order.equals(FIRST) ? secondSaw : firstSaw,
                        0);
            }
        }
    }

    private static Profile alone(Peer peer, long window) throws Exception {
        peer.start();
        Thread.sleep(window);
        return peer.stop(THREAD::equals);
    }

    private static SamplerPeer ours(SamplingClock clock) {
        return new SamplerPeer(clock);
    }

    private static Peer peer(String companion) {
        return companion.startsWith(ASYNC)
                ? new AsyncProfilerPeer(companion.substring(ASYNC.length()))
                : Peer.of(companion);
    }

    private static void tell(
            String profiler, String beside, String order, Judge judge, Profile profile, long inHandlers) {
        Sums sums = judge.judge(profile);
        Jvm.tell(profiler, beside, order, sums.total, sums.right, sums.failed, sums.examples, inHandlers);
    }
}
