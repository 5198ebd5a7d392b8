// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The methods with the most time of their own, or with the most calls. */
final class TopTool implements Tool {

    static final String NO_CALLS =
            "no calls were counted: the sampler counts them where its property rootMethods names methods";

    private static final String CALLS = "calls";
    private static final long LEAST_PART = 10_000;
    private static final double NANOS_PER_MICRO = 1000.0;

    private final KeptIntervals intervals;

    TopTool(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    @Override
    public String name() {
        return "top";
    }

    @Override
    public String title() {
        return "Hot methods";
    }

    @Override
    public String description() {
        return "Lists the methods with the most time of their own, over all places that call them. By wall time the"
                + " first ones are usually those in which idle threads wait, so name a group, or take measure: cpu to"
                + " see what uses the processors. measure: calls lists how often methods were called, if calls are"
                + " counted.";
    }

    @Override
    public List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(KeptIntervals.parameters());
        all.add(Parameter.text("group", false, "Only this thread group. Default: all."));
        all.add(Parameter.choice(
                Measure.NAME,
                List.of(Measure.WALL.text(), Measure.CPU.text(), CALLS),
                Measure.parameter().description() + " calls: exact counts, with the time per call."));
        all.add(ToolArguments.budget());
        return all;
    }

    @Override
    public String call(ToolArguments arguments) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        return CALLS.equals(arguments.text(Measure.NAME))
                ? calls(arguments, interval.report(), text)
                : times(arguments, interval.report(), text);
    }

    private static String times(ToolArguments arguments, SamplingReport report, BudgetText text) {
        Measure by = Measure.of(arguments, report);
        String name = arguments.text("group");
        List<SamplingGroup> groups = name == null ? report.getGroups() : List.of(Groups.find(report, name));
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
        long leftOut = whole;
        for (MethodSums.Sum sum : sorted) {
            if (sum.own() == 0 || !text.row(row(sum, whole))) {
                break;
            }
            leftOut -= sum.own();
        }
        return text.end(leftOut, whole, "that time");
    }

    private static String row(MethodSums.Sum sum, long whole) {
        return BudgetText.percent(sum.own(), whole) + " " + BudgetText.percent(sum.waits(), whole) + " "
                + BudgetText.percent(sum.total(), whole) + " " + sum.hottestLine();
    }

    private static String calls(ToolArguments arguments, SamplingReport report, BudgetText text) {
        String name = arguments.text("group");
        MethodSums sums = new MethodSums(Measure.WALL, 0);
        for (SamplingGroup group : report.getCountedGroups()) {
            if (name == null || group.getName().equals(Groups.find(report, name).getName())) {
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
        long leftOut = whole;
        for (MethodSums.Sum sum : sorted) {
            if (sum.calls() == 0 || !text.row(countedRow(sum))) {
                break;
            }
            leftOut -= sum.calls();
        }
        return text.end(leftOut, whole, "the calls");
    }

    private static String countedRow(MethodSums.Sum sum) {
        return String.format(
                Locale.ROOT, "%10d %10.1f %s", sum.calls(), sum.total() / NANOS_PER_MICRO / sum.calls(), sum.method());
    }
}
