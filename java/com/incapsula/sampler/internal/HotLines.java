// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The lines of code with the most time of their own, over all thread groups of a snapshot. */
final class HotLines {

    private static final int COLLAPSED = 1; // the ordinal of the format
    private static final int NANOS_PER_MICRO = 1000;

    /** One line. Times in nanoseconds, to the microsecond. */
    record Line(String text, long wallNanos, long cpuNanos, long samples) {
    }

    /* What a weight is kept in: its ordinal in NativeBridge.writeSnapshot. */
    private static final int WALL = 0;
    private static final int CPU = 1;
    private static final int SAMPLES = 2;
    private static final int WEIGHTS = 3;

    private final Map<String, long[]> lines = new HashMap<>();

    private HotLines() {
    }

    /** @return at most count lines, the hottest first */
    static List<Line> of(Snapshot snapshot, int count) throws IOException {
        HotLines all = new HotLines();
        for (int weight = 0; weight < WEIGHTS; weight++) {
            int kind = weight;
            snapshot.write(COLLAPSED, kind, 0,
                    new CollapsedLines((line, length, value) -> all.add(leaf(line, length), kind, value)));
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

    private void add(String leaf, int kind, long value) {
        lines.computeIfAbsent(leaf, unseen -> new long[WEIGHTS])[kind] += value;
    }

    private static Line line(String text, long[] weights) {
        return new Line(text, weights[WALL] * NANOS_PER_MICRO, weights[CPU] * NANOS_PER_MICRO, weights[SAMPLES]);
    }
}
