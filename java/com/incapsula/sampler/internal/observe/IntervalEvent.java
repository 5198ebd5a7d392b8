// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;
import org.jspecify.annotations.Nullable;

/** The flight recorder's event for one interval of the sampler. Field names are part of the format. */
@Name(IntervalEvent.NAME)
@Label("Interval")
@Category("threads-sampler")
@Description("An interval of threads-sampler: what was covered, and the sampler's account of it")
@Enabled(false)
@StackTrace(false)
final class IntervalEvent extends StatesEvent {

    static final String NAME = "threadsampler.Interval";

    @Label("From")
    @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
    long from;

    @Label("Till")
    @Timestamp(Timestamp.MILLISECONDS_SINCE_EPOCH)
    long till;

    @Label("Covered")
    @Description("Without pauses")
    @Timespan(Timespan.NANOSECONDS)
    long elapsed;

    @Label("Thread Groups")
    long groups;

    @Label("Wall Time")
    @Description("Sum over all sampled threads")
    @Timespan(Timespan.NANOSECONDS)
    long wall;

    @Label("CPU Time")
    @Description("Sum over all sampled threads; 0 if not measured")
    @Timespan(Timespan.NANOSECONDS)
    long cpu;

    @Label("Samples")
    long samples;

    @Label("Polls")
    long polls;

    @Label("Account")
    @Description("Outcomes of polls and other counts that are not 0, by code")
    @Nullable
    String account;

    @Label("Own CPU Time")
    @Description("CPU time of the sampler itself")
    @Timespan(Timespan.NANOSECONDS)
    long ownCpu;

    @Label("Memory Used")
    @DataAmount(DataAmount.BYTES)
    long memoryUsed;

    @Label("Memory Limit")
    @DataAmount(DataAmount.BYTES)
    long memoryLimit;
}
