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

/** One interval of the sampler, in the flight recorder. Field names are part of the format. */
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
    @Description("Of all sampled threads together")
    @Timespan(Timespan.NANOSECONDS)
    long wall;

    @Label("CPU Time")
    @Description("Of all sampled threads together; 0 where it is not measured")
    @Timespan(Timespan.NANOSECONDS)
    long cpu;

    @Label("Samples")
    long samples;

    @Label("Polls")
    long polls;

    @Label("Account")
    @Description("How polls ended and what else was counted, by code, where it is not 0")
    @Nullable
    String account;

    @Label("Own CPU Time")
    @Description("Of the sampler itself")
    @Timespan(Timespan.NANOSECONDS)
    long ownCpu;

    @Label("Memory Used")
    @DataAmount(DataAmount.BYTES)
    long memoryUsed;

    @Label("Memory Limit")
    @DataAmount(DataAmount.BYTES)
    long memoryLimit;
}
