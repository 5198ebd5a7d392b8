// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportWeight;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.report.CollapsedLines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The lines of code with the most time of their own, over all thread groups of a snapshot. */
final class HotLines {

    /** One line. Times in nanoseconds. */
    record Line(String text, long wallNanos, long cpuNanos, long samples) {
    }

    /* By leaf; the index in the array is the ordinal of the weight. */
    private final Map<String, long[]> lines = new HashMap<>();

    private HotLines() {
    }

    /** @return at most count lines, the hottest first */
    static List<Line> of(Snapshot snapshot, int count) throws IOException {
        HotLines all = new HotLines();
        for (ReportWeight weight : ReportWeight.values()) {
            snapshot.write(ReportFormat.COLLAPSED.ordinal(), weight.ordinal(), 0,
                    new CollapsedLines((line, length, value) -> all.add(leaf(line, length), weight, value)));
        }
        return all.lines.entrySet().stream()
                .map(entry -> line(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparingLong(Line::wallNanos).reversed().thenComparing(Line::text))
                .limit(count)
                .toList();
    }

    private static String leaf(byte[] line, int length) {
        int start = length;
        while (start > 0 && line[start - 1] != ';') {
            start--;
        }
        return new String(line, start, length - start, StandardCharsets.UTF_8);
    }

    private void add(String leaf, ReportWeight weight, long value) {
        lines.computeIfAbsent(leaf, unseen -> new long[ReportWeight.values().length])[weight.ordinal()] += value;
    }

    private static Line line(String text, long[] weights) {
        return new Line(text, weights[ReportWeight.WALL.ordinal()], weights[ReportWeight.CPU.ordinal()],
                weights[ReportWeight.SAMPLES.ordinal()]);
    }
}
