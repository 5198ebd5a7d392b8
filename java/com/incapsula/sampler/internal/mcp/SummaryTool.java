// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

/** The summary of a report. */
final class SummaryTool {

    /** Limit of an answer, characters. */
    static final int BUDGET = 2000;

    static final Tool TOOL = new Tool(
            "summary",
            "Summary",
            "Tells in a few lines where the active time of the Java program went: the ten lines of its own code with"
                    + " the most time, each with its state (running, runnable, blocked, I/O, waiting), the method that it"
                    + " called and the thread group; for a blocked one the lock, the line that held it and the group of the"
                    + " holder. Idle threads are left out. Call this first.",
            KeptIntervals.parameters(),
            SummaryTool::answer);

    private SummaryTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        BudgetText text = new BudgetText(BUDGET, interval.title());
        int leftOut = text.rows(interval.report()
                .getSummary()
                .toString()
                .lines()
                .skip(1) // the title
                .map(SummaryTool::row)
                .toList());
        return leftOut == 0 ? text.end() : text.end() + "\nLeft out: " + leftOut + " lines.";
    }

    /* Removes the blanks that align columns. */
    private static String row(String line) {
        return Frames.clean(line.strip().replaceAll(" {2,}", "  "));
    }
}
