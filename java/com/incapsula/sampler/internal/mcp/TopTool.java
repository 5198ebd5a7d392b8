// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The methods with the most time of their own, or with the most calls. */
final class TopTool {

    static final String NO_CALLS =
            "no calls were counted: the sampler counts them where its property rootMethods names methods";

    private static final String CALLS = "calls";
    private static final long LEAST_PART = 10_000;
    private static final double NANOS_PER_MICRO = 1000.0;

    static final Tool TOOL = new Tool(
            "top",
            "Hot methods",
            "Lists the methods with the most time of their own, over all places that call them. By wall time the"
                    + " first ones are usually those in which idle threads wait, so name a group, or take measure: cpu to"
                    + " see what uses the processors. measure: calls lists how often methods were called, if calls are"
                    + " counted.",
            KeptIntervals.parametersWith(
                    Parameter.text("group", false, "Only this thread group. Default: all."),
                    Parameter.choice(
                            Measure.NAME,
                            List.of(Measure.WALL.text(), Measure.CPU.text(), CALLS),
                            Measure.parameter().description() + " calls: exact counts, with the time per call.")),
            TopTool::answer);

    private TopTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        return CALLS.equals(arguments.text(Measure.NAME))
                ? calls(arguments, interval, text)
                : times(arguments, interval, text);
    }

    private static String times(ToolArguments arguments, Interval interval, BudgetText text) {
        SamplingReport report = interval.report();
        Measure by = Measure.of(arguments, report);
        String name = arguments.text("group");
        List<SamplingGroup> groups = name == null ? report.getGroups() : List.of(interval.group(name));
        long whole = groups.stream().mapToLong(by::total).sum();
        MethodSums sums = new MethodSums(by, whole / LEAST_PART);
        groups.forEach(group -> sums.add(report, group));
        text.head("In % of the " + by.text() + " time of "
                + (name == null
                        ? "all groups"
                        : "group " + Frames.quoted(groups.get(0).getName()))
                + ": own = in the method itself, waits = the part of own without a CPU, all = with what it called");
        text.head("  own waits   all method:hottest line");
        List<MethodSums.Sum> sorted = new ArrayList<>(sums.all());
        sorted.sort(Comparator.comparingLong(MethodSums.Sum::own).reversed().thenComparing(MethodSums.Sum::method));
        sorted.removeIf(sum -> sum.own() == 0);
        long shown = text.rows(sorted, sum -> row(sum, whole), MethodSums.Sum::own);
        return text.end(whole - shown, whole, "that time");
    }

    private static String row(MethodSums.Sum sum, long whole) {
        return BudgetText.percent(sum.own(), whole) + " " + BudgetText.percent(sum.waits(), whole) + " "
                + BudgetText.percent(sum.total(), whole) + " " + sum.hottestLine();
    }

    private static String calls(ToolArguments arguments, Interval interval, BudgetText text) {
        SamplingReport report = interval.report();
        String name = arguments.text("group");
        MethodSums sums = new MethodSums(Measure.WALL, 0);
        for (SamplingGroup group : report.getCountedGroups()) {
            if (name == null || group.getName().equals(interval.group(name).getName())) {
                sums.add(report, group);
            }
        }
        List<MethodSums.Sum> sorted = new ArrayList<>(sums.all());
        long whole = sorted.stream().mapToLong(MethodSums.Sum::calls).sum();
        if (whole == 0) {
            throw new ToolRefusal(NO_CALLS + "; take measure: wall or cpu");
        }
        sorted.sort(Comparator.comparingLong(MethodSums.Sum::calls).reversed().thenComparing(MethodSums.Sum::method));
        text.head("Exact counts; us/call = wall microseconds of a call, with what it called");
        text.head("     calls    us/call method");
        sorted.removeIf(sum -> sum.calls() == 0);
        long shown = text.rows(sorted, TopTool::countedRow, MethodSums.Sum::calls);
        return text.end(whole - shown, whole, "the calls");
    }

    private static String countedRow(MethodSums.Sum sum) {
        return String.format(
                Locale.ROOT, "%10d %10.1f %s", sum.calls(), sum.total() / NANOS_PER_MICRO / sum.calls(), sum.method());
    }
}
