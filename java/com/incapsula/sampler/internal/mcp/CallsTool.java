// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The table of counted methods with calls, time per call and callers. */
final class CallsTool implements Tool {

    private static final String PER = "per";
    private static final String FOCUS = "focus";

    private final KeptIntervals intervals;

    CallsTool(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    @Override
    public String name() {
        return "calls";
    }

    @Override
    public String title() {
        return "Counted calls";
    }

    @Override
    public String description() {
        return "Lists how often methods were called, exactly, if calls are counted: calls, total and own time, time per"
                + " call, the shortest and the longest where known, and which methods called how often. A call that no"
                + " counted method made has the caller [root].";
    }

    @Override
    public List<Parameter> parameters() {
        List<Parameter> all = new ArrayList<>(KeptIntervals.parameters());
        all.add(Parameter.choice(Measure.NAME, List.of("time", "calls"), "What rows are ordered by. Default: time."));
        all.add(Parameter.choice(PER, List.of("method", "class", "package"), "What a row is. Default: method."));
        all.add(Parameter.text(
                FOCUS, false, "Only what calls of this row called, such as com.acme.Shop.checkout. Default: all."));
        all.add(ToolArguments.budget());
        return all;
    }

    @Override
    public String call(ToolArguments arguments) throws InterruptedException {
        ReportOptions options;
        try {
            options = ReportOptions.of(arguments.text(Measure.NAME), arguments.text(PER), arguments.text(FOCUS));
        } catch (IllegalArgumentException e) {
            throw new ToolRefusal(String.valueOf(e.getMessage()));
        }
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        if (report.getCountedGroups().isEmpty()) {
            throw new ToolRefusal(TopTool.NO_CALLS);
        }
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        List<String> lines = table(report, options).lines().toList();
        int shown = 0;
        while (shown < lines.size() && text.row(Frames.clean(lines.get(shown)))) {
            shown++;
        }
        return shown == lines.size() ? text.end() : text.end() + "\nLeft out: " + (lines.size() - shown) + " rows.";
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
