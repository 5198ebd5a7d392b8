// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingHotSpot;
import com.incapsula.sampler.SamplingReport;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The hot spots of a report, each in one state and one thread group: more than the summary has. */
final class HotSpotsTool implements Tool {

    private static final String STATE = "state";
    private static final String GROUP = "group";
    private static final List<String> STATES = List.of("running", "runnable", "blocked", "io", "waiting");
    private static final double NANOS_PER_SECOND = 1e9;

    private final KeptIntervals intervals;

    HotSpotsTool(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    @Override
    public String name() {
        return "hot_spots";
    }

    @Override
    public String title() {
        return "Hot spots";
    }

    @Override
    public String description() {
        return "Lists the lines of the program's own code with the most active time, each in one state and one thread"
                + " group, more of them than summary: the method that the line called; for blocked ones the lock, the"
                + " line that held it and the group of the holder. Take state: blocked for locks, io for sockets and"
                + " files, waiting for pools, queues and sleeps, running for what computes, or name a group.";
    }

    @Override
    public List<Parameter> parameters() {
        return KeptIntervals.parametersWith(
                Parameter.choice(STATE, STATES, "Only this state. Default: all but idle."),
                Parameter.text(GROUP, false, "Only this thread group, by its name or a part of it. Default: all."));
    }

    @Override
    public String call(ToolArguments arguments) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        String state = arguments.text(STATE);
        String named = arguments.text(GROUP);
        String group = named == null ? null : Groups.find(report, named).getName();
        if (state != null && report.getMeasures().getOrDefault(state, 0L) == 0) {
            throw new ToolRefusal("state: no thread was seen " + state + " in this interval; the states are "
                    + String.join(", ", STATES));
        }
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        text.head("Seconds, state, line of your code > method that it called | lock | thread group");
        List<SamplingHotSpot> chosen = report.getHotSpots().stream()
                .filter(spot -> isWanted(spot, state, group))
                .toList();
        int shown = 0;
        while (shown < chosen.size() && text.row(row(chosen.get(shown)))) {
            shown++;
        }
        return text.end() + (chosen.isEmpty() ? "\nThere is no such hot spot." : leftOut(chosen, shown));
    }

    private static boolean isWanted(SamplingHotSpot spot, @Nullable String state, @Nullable String group) {
        return (state == null || state.equals(spot.getState())) && (group == null || group.equals(spot.getGroup()));
    }

    private static String leftOut(List<SamplingHotSpot> chosen, int shown) {
        long nanos =
                chosen.stream().skip(shown).mapToLong(SamplingHotSpot::getNanos).sum();
        return shown == chosen.size()
                ? ""
                : "\nLeft out: " + (chosen.size() - shown) + " smaller ones, "
                        + seconds(nanos).strip() + " s together.";
    }

    private static String row(SamplingHotSpot spot) {
        return seconds(spot.getNanos()) + " " + spot.getState() + " " + Frames.clean(place(spot))
                + (spot.getCallee() == null ? "" : " > " + Frames.clean(spot.getCallee()))
                + lock(spot)
                + " | " + Frames.quoted(spot.getGroup())
                + (spot.getCalls() > 0 ? ", " + spot.getCalls() + " calls" : "");
    }

    private static String place(SamplingHotSpot spot) {
        String method = spot.getMethodName().isEmpty() ? "" : "." + spot.getMethodName();
        return spot.getClassName() + method + (spot.getLine() > 0 ? ":" + spot.getLine() : "");
    }

    private static String lock(SamplingHotSpot spot) {
        if (spot.getLockClass() == null) {
            return "";
        }
        return " | lock of " + Frames.clean(spot.getLockClass())
                + (spot.getHoldingLine() == null ? "" : ", held in " + Frames.clean(spot.getHoldingLine()))
                + (spot.getHolderGroup() == null ? "" : " by " + Frames.quoted(spot.getHolderGroup()));
    }

    private static String seconds(long nanos) {
        return String.format(Locale.ROOT, "%6.2f", nanos / NANOS_PER_SECOND);
    }
}
