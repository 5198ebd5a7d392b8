// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingReport;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The sampler's account, which shows how reliable its figures are. */
final class AccountTool implements Tool {

    private final KeptIntervals intervals;

    AccountTool(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    @Override
    public String name() {
        return "account";
    }

    @Override
    public String title() {
        return "The sampler's account";
    }

    @Override
    public String description() {
        return "Tells how the figures of the other tools were obtained, and what they miss: the number of samples, how"
                + " each poll of a thread ended, what was lost, and what the sampler itself costs. Call it if figures"
                + " look odd.";
    }

    @Override
    public List<Parameter> parameters() {
        return KeptIntervals.parametersWith();
    }

    @Override
    public String call(ToolArguments arguments) throws InterruptedException {
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
        List<Map.Entry<String, Long>> rows = new ArrayList<>(counts.entrySet());
        rows.removeIf(row -> row.getValue() == 0);
        rows.sort(Map.Entry.comparingByValue(Comparator.reverseOrder()));
        int shown = 0;
        while (shown < rows.size()
                && text.row(rows.get(shown).getValue() + " " + rows.get(shown).getKey())) {
            shown++;
        }
        return rows.size() - shown;
    }
}
