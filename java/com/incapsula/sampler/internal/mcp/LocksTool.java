// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingLock;
import com.incapsula.sampler.SamplingReport;

/** The locks that threads waited for, with the lines that waited and the lines that held them. */
final class LocksTool {

    static final Tool TOOL = new Tool(
            "locks",
            "Contended locks",
            "Lists the locks that threads waited for: the class of the lock, the line that waited, and the line of the"
                    + " thread that held the lock meanwhile. To shorten such waits, make the holding line quicker or move it"
                    + " out of the lock. Covers monitors (synchronized) and locks of java.util.concurrent.",
            KeptIntervals.parametersWith(),
            LocksTool::answer);

    private LocksTool() {}

    private static String answer(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException {
        Interval interval = intervals.choose(arguments, "interval", 0);
        SamplingReport report = interval.report();
        long whole = report.getMeasures().getOrDefault("blocked", 0L);
        if (whole == 0) {
            throw new ToolRefusal("no thread was seen waiting for a lock in this interval; tree shows what threads wait"
                    + " for otherwise");
        }
        BudgetText text = new BudgetText(arguments.budgetChars(), interval.title());
        text.head(
                "In % of the time for which threads were blocked, all threads together: " + whole / 1_000_000 + " ms");
        text.head("share lock | waiting line | holding line");
        long shown = text.rows(report.getLocks(), lock -> row(lock, whole), SamplingLock::getBlockedNanos);
        return text.end(Math.max(whole - shown, 0), whole, "the blocked time");
    }

    private static String row(SamplingLock lock, long whole) {
        return BudgetText.percent(lock.getBlockedNanos(), whole) + " " + Frames.clean(lock.getLockClass()) + " | "
                + Frames.clean(lock.getWaitingLine()) + " | " + Frames.clean(lock.getHoldingLine());
    }
}
