// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import java.util.List;

/** The summary of a report. */
final class SummaryTool implements Tool {

    /** Limit of an answer, characters. */
    static final int BUDGET = 2000;

    private final KeptIntervals intervals;

    SummaryTool(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    @Override
    public String name() {
        return "summary";
    }

    @Override
    public String title() {
        return "Summary";
    }

    @Override
    public String description() {
        return "Tells in a few lines where the active time of the Java program went: the ten lines of its own code with"
                + " the most time, each with its state (running, runnable, blocked, I/O, waiting), the method that it"
                + " called and the thread group; for a blocked one the lock, the line that held it and the group of the"
                + " holder. Idle threads are left out. Call this first.";
    }

    @Override
    public List<Parameter> parameters() {
        return KeptIntervals.parameters();
    }

    @Override
    public String call(ToolArguments arguments) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        BudgetText text = new BudgetText(BUDGET, interval.title());
        List<String> lines = interval.report().getSummary().toString().lines().toList();
        int shown = 1; // omits the title
        while (shown < lines.size() && text.row(row(lines.get(shown)))) {
            shown++;
        }
        return shown == lines.size() ? text.end() : text.end() + "\nLeft out: " + (lines.size() - shown) + " lines.";
    }

    /* Removes the blanks that align columns. */
    private static String row(String line) {
        return Frames.clean(line.strip().replaceAll(" {2,}", "  "));
    }
}
