// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Compares two intervals: which methods have become slower. */
final class DiffTool {

    private static final long LEAST_PART = 10_000;
    private static final double MILLIS_PER_SECOND = 1000.0;

    /** A method in both intervals, in milliseconds for each second of the interval. */
    private record Change(String method, double before, double after, double all) {

        double own() {
            return after - before;
        }
    }

    static final Tool TOOL = new Tool(
            "diff",
            "Difference of two intervals",
            "Compares two intervals: the methods whose time has changed most, up or down. Make intervals by calling"
                    + " groups, top or tree with seconds, before and after a change. diff with seconds: 10 compares"
                    + " interval a, by default the whole time so far, with the next 10 s.",
            List.of(
                    KeptIntervals.number("a", "Number of the interval before. Default 0: the whole time so far."),
                    KeptIntervals.number("b", "Number of the interval after. Default: the newest."),
                    KeptIntervals.seconds(),
                    Parameter.text("group", false, "Only this thread group. Default: all."),
                    Measure.parameter(),
                    ToolArguments.budget()),
            DiffTool::answer);

    private DiffTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        int a = arguments.number("a", 0);
        intervals.find(a); // before time passes
        Interval after = intervals.choose(arguments, "b", intervals.newest(), a);
        Interval before = intervals.find(a);
        if (before.number() == after.number()) {
            throw new ToolRefusal("a and b are the same interval, " + a + "; call with seconds to make another");
        }
        Measure by = Measure.of(arguments, after.report());
        String group = arguments.text("group");
        MethodSums first = sums(before, group, by);
        MethodSums second = sums(after, group, by);
        BudgetText text =
                new BudgetText(arguments.budgetChars(), "Before: " + before.title(), "After: " + after.title());
        text.head("Milliseconds of " + by.text() + " time for each second of the interval, all threads together: own ="
                + " in the method itself; all = change with what it called");
        text.head(" own before  own after     change        all method");
        return rows(changes(before.report(), first, after.report(), second), text);
    }

    private static MethodSums sums(Interval interval, @Nullable String name, Measure by) {
        SamplingReport report = interval.report();
        MethodSums sums = new MethodSums(by, by.total(report) / LEAST_PART);
        SamplingGroup chosen = name == null ? null : interval.group(name);
        for (SamplingGroup group : report.getGroups()) {
            if (chosen == null || chosen == group) {
                sums.add(report, group);
            }
        }
        return sums;
    }

    private static List<Change> changes(
            SamplingReport before, MethodSums first, SamplingReport after, MethodSums second) {
        Set<String> methods = new TreeSet<>();
        first.all().forEach(sum -> methods.add(sum.method()));
        second.all().forEach(sum -> methods.add(sum.method()));
        List<Change> changes = new ArrayList<>();
        for (String method : methods) {
            MethodSums.Sum one = first.of(method);
            MethodSums.Sum other = second.of(method);
            changes.add(new Change(
                    method,
                    rate(one.own(), before),
                    rate(other.own(), after),
                    rate(other.total(), after) - rate(one.total(), before)));
        }
        changes.sort(Comparator.comparingDouble((Change change) -> Math.abs(change.own()))
                .reversed()
                .thenComparing(Change::method));
        return changes;
    }

    private static double rate(long nanos, SamplingReport report) {
        return nanos * MILLIS_PER_SECOND / Math.max(report.getElapsed().toNanos(), 1);
    }

    private static String rows(List<Change> changes, BudgetText text) {
        double whole =
                changes.stream().mapToDouble(change -> Math.abs(change.own())).sum();
        double leftOut = whole;
        for (Change change : changes) {
            String row = String.format(
                    Locale.ROOT,
                    "%11.1f %10.1f %+10.1f %+10.1f %s",
                    change.before(),
                    change.after(),
                    change.own(),
                    change.all(),
                    change.method());
            if (change.own() == 0 || !text.row(row)) {
                break;
            }
            leftOut -= Math.abs(change.own());
        }
        return text.end(Math.round(leftOut * MILLIS_PER_SECOND), Math.round(whole * MILLIS_PER_SECOND), "all changes");
    }
}
