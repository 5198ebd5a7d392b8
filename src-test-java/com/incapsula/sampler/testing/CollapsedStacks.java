// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import java.util.LinkedHashMap;
import java.util.Map;

/** Parses reports in collapsed format. */
public final class CollapsedStacks {

    private CollapsedStacks() {}

    /** @return the nanoseconds of each stack: the group and the frames from the root on, joined by semicolons */
    public static Map<String, Long> of(SamplingReport report) {
        return parse(report.toString(ReportFormat.COLLAPSED));
    }

    /** @return the weight of each stack, in the order of the lines; lines with equal stacks are added up */
    public static Map<String, Long> parse(String lines) {
        Map<String, Long> weights = new LinkedHashMap<>();
        lines.lines().forEach(line -> {
            int space = line.lastIndexOf(' ');
            weights.merge(line.substring(0, space), Long.parseLong(line.substring(space + 1)), Long::sum);
        });
        return weights;
    }
}
