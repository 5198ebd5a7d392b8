// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for one of the hottest lines of an interval. Field names are part of the format. */
@Name(HotLineEvent.NAME)
@Label("Hot Line")
@Category("threads-sampler")
@Description("A line of code with much time of its own, in a thread group and an interval of threads-sampler")
@Enabled(false)
@StackTrace(false)
final class HotLineEvent extends StatesEvent {

    static final String NAME = "threadsampler.HotLine";

    @Label("From")
    @Description("Begin of the interval")
    @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
    long from;

    @Label("Rank")
    @Description("1 is the hottest")
    int rank;

    @Label("Line")
    @Description("The frame as a report prints it")
    @Nullable
    String line;

    @Label("Thread Group")
    @Nullable
    String group;

    @Label("Class")
    @Description("Missing for a frame in brackets, which is not a method")
    @Nullable
    String className;

    @Label("Method")
    @Description("For a frame in brackets its text")
    @Nullable
    String method;

    @Label("Line Number")
    @Description("Negative if not known")
    int lineNumber;

    @Label("Wall Time")
    @Timespan(Timespan.NANOSECONDS)
    long wall;

    @Label("CPU Time")
    @Timespan(Timespan.NANOSECONDS)
    long cpu;

    @Label("Samples")
    long samples;

    @Label("Share")
    @Description("Share of the wall time of the interval")
    @Percentage
    float share;
}
