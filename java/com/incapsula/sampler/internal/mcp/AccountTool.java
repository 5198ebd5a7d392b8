// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingReport;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The sampler's account, which shows how reliable its figures are. */
final class AccountTool {

    static final Tool TOOL = new Tool(
            "account",
            "The sampler's account",
            "Tells how the figures of the other tools were obtained, and what they miss: the number of samples, how"
                    + " each poll of a thread ended, what was lost, and what the sampler itself costs. Call it if figures"
                    + " look odd.",
            KeptIntervals.parametersWith(),
            AccountTool::answer);

    private AccountTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        text.head("engine: " + Frames.clean(intervals.sampler().getStatistics().getEngine()));
        text.head("samples: " + report.getSamples() + " of " + report.getPolls() + " polls");
        text.head("sampler's own CPU: " + TimeUnit.NANOSECONDS.toMillis(report.getOwnCpuNanos()) + " ms, its memory: "
                + report.getMemoryUsedBytes() + " of " + report.getMemoryLimitBytes() + " bytes");
        text.head("How polls ended, by code:");
        int leftOut = addCounts(report.getOutcomes(), text);
        text.head("Other counts:");
        leftOut += addCounts(report.getCounters(), text);
        return leftOut == 0 ? text.end() : text.end() + "\nLeft out: " + leftOut + " rows with smaller counts.";
    }

    /** @return the number of rows beyond the budget */
    private static int addCounts(Map<String, Long> counts, BudgetText text) {
        return text.rows(counts.entrySet().stream()
                .filter(count -> count.getValue() != 0)
                .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
                .map(count -> count.getValue() + " " + count.getKey())
                .toList());
    }
}
