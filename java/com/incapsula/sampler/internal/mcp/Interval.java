// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.RecentWindow;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A report and the number by which models refer to it.
 *
 * @param number 0 for a window
 * @param report valid until the next call of {@link KeptIntervals}
 * @param window the length of the window; null if the report is not a window
 */
record Interval(int number, SamplingReport report, RecentWindow.@Nullable Length window) {

    private static final String WHOLE = " (the whole time so far)";
    private static final double MILLIS_PER_SECOND = 1000.0;
    private static final long FEW_MILLIS = 2000;
    private static final int MANY = 12; // groups in a refusal

    /** @return a sentence that describes the interval */
    String title() {
        long millis = report.getElapsed().toMillis();
        return String.format(
                Locale.ROOT,
                "Interval %d%s: %.1f s until %s; wall %.1f s, cpu %.1f s in all threads.%s",
                number,
                window == null ? "" : window == RecentWindow.Length.SINCE_START ? WHOLE : " (" + window + ")",
                millis / MILLIS_PER_SECOND,
                report.getTill().truncatedTo(ChronoUnit.SECONDS),
                seconds(report.getWallNanos()),
                seconds(report.getCpuNanos()),
                millis < FEW_MILLIS && number == 0 ? " That is little: call with seconds to sample first." : "");
    }

    /**
     * {@return the group with this name, or the only one whose name contains it}
     *
     * @throws ToolRefusal naming possible groups
     */
    SamplingGroup group(String name) {
        List<SamplingGroup> all = report.getGroups();
        for (SamplingGroup group : all) {
            if (group.getName().equals(name)
                    || Frames.clean(group.getName()).equals(name)
                    || Frames.quoted(group.getName()).equals(name)) {
                return group;
            }
        }
        String part = name.toLowerCase(Locale.ROOT);
        List<SamplingGroup> found = all.stream()
                .filter(group -> group.getName().toLowerCase(Locale.ROOT).contains(part))
                .toList();
        if (found.size() == 1) {
            return found.get(0);
        }
        throw new ToolRefusal("group: " + (found.isEmpty() ? "no group is called " : "more than one group is called ")
                + Frames.quoted(name) + "; groups are " + names(found.isEmpty() ? all : found));
    }

    private static String names(List<SamplingGroup> groups) {
        return groups.stream()
                        .limit(MANY)
                        .map(group -> Frames.quoted(group.getName()))
                        .collect(Collectors.joining(", "))
                + (groups.size() > MANY ? " and " + (groups.size() - MANY) + " more" : "") + ". " + BudgetText.NAMES;
    }

    private static double seconds(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos) / MILLIS_PER_SECOND;
    }
}
