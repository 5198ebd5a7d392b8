// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** The table of counted methods with calls, time per call and callers. */
final class CallsTool {

    private static final String PER = "per";
    private static final String FOCUS = "focus";

    static final Tool TOOL = new Tool(
            "calls",
            "Counted calls",
            "Lists how often methods were called, exactly, if calls are counted: calls, total and own time, time per"
                    + " call, the shortest and the longest where known, and which methods called how often. A call that no"
                    + " counted method made has the caller [root].",
            KeptIntervals.parametersWith(
                    Parameter.choice(
                            Measure.NAME, List.of("time", "calls"), "What rows are ordered by. Default: time."),
                    Parameter.choice(PER, List.of("method", "class", "package"), "What a row is. Default: method."),
                    Parameter.text(
                            FOCUS,
                            false,
                            "Only what calls of this row called, such as com.acme.Shop.checkout. Default: all.")),
            CallsTool::answer);

    private CallsTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        changed(ReportOptions.standard(), arguments); // finds a wrong value before time passes
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        if (report.getCountedGroups().isEmpty()) {
            throw new ToolRefusal(TopTool.NO_CALLS);
        }
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        int leftOut = text.rows(table(report, changed(report.getOptions(), arguments))
                .lines()
                .map(Frames::clean)
                .toList());
        return leftOut == 0 ? text.end() : text.end() + "\nLeft out: " + leftOut + " rows.";
    }

    private static ReportOptions changed(ReportOptions own, ToolArguments arguments) {
        try {
            return own.changedBy(arguments.text(Measure.NAME), arguments.text(PER), arguments.text(FOCUS));
        } catch (IllegalArgumentException e) {
            throw new ToolRefusal(String.valueOf(e.getMessage()));
        }
    }

    private static String table(SamplingReport report, ReportOptions options) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            report.writeTo(ReportFormat.CALLS, options, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }
}
