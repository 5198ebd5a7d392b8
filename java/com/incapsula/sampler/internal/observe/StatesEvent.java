// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import com.incapsula.sampler.ReportMeasure;
import java.util.function.ToLongFunction;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Timespan;

/** An event with wall time by state. Field names are part of the format. */
abstract class StatesEvent extends Event {

    @Label("Running Time")
    @Description("On a CPU; states add up to wall time")
    @Timespan(Timespan.NANOSECONDS)
    long running;

    @Label("Runnable Time")
    @Description("Waited for a CPU; states add up to wall time")
    @Timespan(Timespan.NANOSECONDS)
    long runnable;

    @Label("Blocked Time")
    @Description("Waited for a lock; states add up to wall time")
    @Timespan(Timespan.NANOSECONDS)
    long blocked;

    @Label("I/O Time")
    @Description("Waited for a file, a pipe, a socket or the look-up of a name; states add up to wall time")
    @Timespan(Timespan.NANOSECONDS)
    long io;

    @Label("Waiting Time")
    @Description("Waited for anything else; states add up to wall time")
    @Timespan(Timespan.NANOSECONDS)
    long waiting;

    @Label("Idle Time")
    @Description("Waited for work; states add up to wall time")
    @Timespan(Timespan.NANOSECONDS)
    long idle;

    final void setStates(ToLongFunction<ReportMeasure> times) {
        running = times.applyAsLong(ReportMeasure.RUNNING);
        runnable = times.applyAsLong(ReportMeasure.RUNNABLE);
        blocked = times.applyAsLong(ReportMeasure.BLOCKED);
        io = times.applyAsLong(ReportMeasure.IO);
        waiting = times.applyAsLong(ReportMeasure.WAITING);
        idle = times.applyAsLong(ReportMeasure.IDLE);
    }
}
