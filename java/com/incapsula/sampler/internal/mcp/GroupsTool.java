// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The thread groups of an interval. */
final class GroupsTool {

    private static final int MAIN_ROWS_OF_GROUP = 200;

    static final Tool TOOL = new Tool(
            "groups",
            "Thread groups",
            "Lists the thread groups (thread pools) of the Java program with their share of the time, how much of"
                    + " it they were on a CPU, and the line with the most time. A group that is near 0 %"
                    + " cpu mostly waits: an idle pool waits for work, which is fine; a pool of request workers that waits"
                    + " in the middle of its work is worth a look with tree. [JVM] is the JVM's own threads.",
            KeptIntervals.parametersWith(Measure.parameter()),
            GroupsTool::answer);

    private GroupsTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        Measure by = Measure.of(arguments, report);
        List<SamplingGroup> groups = new ArrayList<>(report.getGroups());
        groups.sort(Comparator.comparingLong((SamplingGroup group) -> by.total(group))
                .reversed());
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        text.head("In %: share = of the " + by.text() + " time of all groups; cpu = of the group's wall time, on a CPU;"
                + " then the line with the most time of its own, in % of the group");
        text.head("share   cpu threads group | line");
        long whole = by.total(report);
        long shown = text.rows(groups, group -> row(report, group, by), by::total);
        return text.end(whole - shown, whole, "the " + by.text() + " time");
    }

    private static String row(SamplingReport report, SamplingGroup group, Measure by) {
        return String.format(
                Locale.ROOT,
                "%s %s %7d %s%s",
                BudgetText.percent(by.total(group), by.total(report)),
                BudgetText.percent(group.getCpuNanos(), group.getWallNanos()),
                group.getThreads(),
                Frames.quoted(group.getName()),
                mainLine(report, group, by));
    }

    private static String mainLine(SamplingReport report, SamplingGroup group, Measure by) {
        long whole = by.total(group);
        MethodSums sums = new MethodSums(by, Math.max(whole / MAIN_ROWS_OF_GROUP, 1));
        sums.add(report, group);
        return sums.all().stream()
                .max(Comparator.comparingLong(MethodSums.Sum::own).thenComparing(MethodSums.Sum::method))
                .filter(sum -> sum.own() > 0)
                .map(sum -> " | " + sum.hottestLine() + " "
                        + BudgetText.percent(sum.own(), whole).strip() + "%")
                .orElse("");
    }
}
