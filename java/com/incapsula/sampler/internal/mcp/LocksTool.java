// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingLock;
import com.incapsula.sampler.SamplingReport;
import java.util.List;

/** The locks that threads waited for, with the lines that waited and the lines that held them. */
final class LocksTool implements Tool {

    private final KeptIntervals intervals;

    LocksTool(KeptIntervals intervals) {
        this.intervals = intervals;
    }

    @Override
    public String name() {
        return "locks";
    }

    @Override
    public String title() {
        return "Contended locks";
    }

    @Override
    public String description() {
        return "Lists the locks that threads waited for: the class of the lock, the line that waited, and the line of the"
                + " thread that held the lock meanwhile. To shorten such waits, make the holding line quicker or move it"
                + " out of the lock. Covers monitors (synchronized) and locks of java.util.concurrent.";
    }

    @Override
    public List<Parameter> parameters() {
        return KeptIntervals.parametersWith();
    }

    @Override
    public String call(ToolArguments arguments) throws InterruptedException {
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
        long leftOut = whole;
        for (SamplingLock lock : report.getLocks()) {
            if (!text.row(row(lock, whole))) {
                break;
            }
            leftOut -= lock.getBlockedNanos();
        }
        return text.end(Math.max(leftOut, 0), whole, "the blocked time");
    }

    private static String row(SamplingLock lock, long whole) {
        return BudgetText.percent(lock.getBlockedNanos(), whole) + " " + Frames.clean(lock.getLockClass()) + " | "
                + Frames.clean(lock.getWaitingLine()) + " | " + Frames.clean(lock.getHoldingLine());
    }
}
