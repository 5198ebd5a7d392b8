// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingHotSpot;
import com.incapsula.sampler.SamplingReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The hot spots of a report by thread group; the summary has fewer. */
final class HotSpotsTool {

    private static final String STATE = "state";
    private static final String GROUP = "group";
    private static final List<String> STATES = List.of("running", "runnable", "blocked", "io", "waiting");
    private static final int SMALL_PART = 20; // a state with less than this part of its row's time is not shown
    private static final double NANOS_PER_SECOND = 1e9;

    /** The time of a hot spot in one state. */
    private record StateTime(SamplingHotSpot spot, String state, long nanos) {}

    static final Tool TOOL = new Tool(
            "hot_spots",
            "Hot spots",
            "Lists the lines of the program's own code with the most active time, each in one thread group, more of"
                    + " them than summary: the states with a twentieth of its time or more, the method that the line called,"
                    + " and for blocked ones the lock, the line that held it and the group of the holder. Take state: blocked for locks, io for sockets and"
                    + " files, waiting for pools, queues and sleeps, running for what computes, or name a group.",
            KeptIntervals.parametersWith(
                    Parameter.choice(STATE, STATES, "Only this state. Default: all but idle."),
                    Parameter.text(GROUP, false, "Only this thread group, by its name or a part of it. Default: all.")),
            HotSpotsTool::answer);

    private HotSpotsTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        String state = arguments.text(STATE);
        String named = arguments.text(GROUP);
        String group = named == null ? null : interval.group(named).getName();
        if (state != null && report.getMeasures().getOrDefault(state, 0L) == 0) {
            throw new ToolRefusal("state: no thread was seen " + state + " in this interval; the states are "
                    + String.join(", ", STATES));
        }
        Map<String, List<StateTime>> rows = new LinkedHashMap<>();
        report.getHotSpots().stream()
                .filter(spot -> group == null || group.equals(spot.getGroup()))
                .flatMap(HotSpotsTool::states)
                .filter(time -> state == null || state.equals(time.state()))
                .forEach(time -> rows.computeIfAbsent(
                                place(time.spot()) + '\n' + time.spot().getGroup(), key -> new ArrayList<>())
                        .add(time));
        List<List<StateTime>> sorted = new ArrayList<>(rows.values());
        sorted.sort(Comparator.comparingLong(HotSpotsTool::nanos).reversed());
        return text(sorted, new BudgetText(arguments.budgetChars(), interval.title()));
    }

    private static String text(List<List<StateTime>> rows, BudgetText text) {
        text.head(
                "Seconds by state, line > method that it called | lock | group; a dot at the begin stands for the same"
                        + " package");
        int shown = 0;
        String before = "";
        while (shown < rows.size() && text.row(row(rows.get(shown), before))) {
            before = Frames.packageOf(rows.get(shown).get(0).spot().getClassName());
            shown++;
        }
        return text.end() + (rows.isEmpty() ? "\nThere is no such hot spot." : leftOut(rows, shown));
    }

    /* Running and runnable time of a line is one hot spot with two states. */
    private static Stream<StateTime> states(SamplingHotSpot spot) {
        long runnable = spot.getRunnableNanos();
        return runnable == 0
                ? Stream.of(new StateTime(spot, spot.getState(), spot.getNanos()))
                : Stream.of(
                                new StateTime(spot, "running", spot.getNanos() - runnable),
                                new StateTime(spot, "runnable", runnable))
                        .filter(time -> time.nanos() > 0);
    }

    private static long nanos(List<StateTime> states) {
        return states.stream().mapToLong(StateTime::nanos).sum();
    }

    private static String leftOut(List<List<StateTime>> rows, int shown) {
        long nanos = rows.stream().skip(shown).mapToLong(HotSpotsTool::nanos).sum();
        return shown == rows.size()
                ? ""
                : "\nLeft out: " + (rows.size() - shown) + " smaller ones, " + seconds(nanos) + " s together.";
    }

    /* The states of one line and group, the longest first. */
    private static String row(List<StateTime> states, String packageBefore) {
        SamplingHotSpot first = states.get(0).spot();
        long least = nanos(states) / SMALL_PART;
        String place = place(first);
        boolean isSame = !packageBefore.isEmpty()
                && Frames.packageOf(first.getClassName()).equals(packageBefore);
        return states.stream()
                        .filter(time -> time.nanos() >= least)
                        .sorted(Comparator.comparingLong(StateTime::nanos).reversed())
                        .map(time -> time.state() + " " + seconds(time.nanos()))
                        .collect(Collectors.joining(" + "))
                + " " + Frames.clean(isSame ? place.substring(packageBefore.length()) : place)
                + (first.getCallee() == null ? "" : " > " + Frames.clean(withoutPackage(first.getCallee())))
                + states.stream().map(time -> lock(time.spot())).collect(Collectors.joining())
                + " | " + Frames.quoted(first.getGroup())
                + (first.getCalls() > 0 ? ", " + first.getCalls() + " calls" : "");
    }

    private static String place(SamplingHotSpot spot) {
        String method = spot.getMethodName().isEmpty() ? "" : "." + spot.getMethodName();
        return spot.getClassName() + method + (spot.getLine() > 0 ? ":" + spot.getLine() : "");
    }

    /* Shortens a method: "java.lang.Thread.sleep" becomes "Thread.sleep". Text in brackets is unchanged. */
    private static String withoutPackage(String method) {
        int name = method.startsWith("[") ? -1 : method.lastIndexOf('.');
        return name < 0 ? method : method.substring(method.lastIndexOf('.', name - 1) + 1);
    }

    private static String lock(SamplingHotSpot spot) {
        if (spot.getLockClass() == null) {
            return "";
        }
        String lock = spot.getLockClass();
        String holding = spot.getHoldingLine();
        if (holding != null && holding.startsWith("[")) {
            return " | lock of " + Frames.clean(lock.substring(lock.lastIndexOf('.') + 1)) + ", "
                    + Frames.clean(holding);
        }
        return " | lock of " + Frames.clean(lock.substring(lock.lastIndexOf('.') + 1))
                + (holding == null ? "" : ", held in " + Frames.clean(shortLine(holding)))
                + (spot.getHolderGroup() == null ? "" : " by " + Frames.quoted(spot.getHolderGroup()));
    }

    /* "com.acme.Stock.audit(Stock.java:52)" becomes "Stock.java:52"; without a line, the method. */
    private static String shortLine(String frame) {
        int place = frame.lastIndexOf('(');
        boolean hasLine = place > 0 && frame.endsWith(")") && frame.indexOf(':', place) > 0;
        return hasLine ? frame.substring(place + 1, frame.length() - 1) : frame;
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%.2f", nanos / NANOS_PER_SECOND);
    }
}
