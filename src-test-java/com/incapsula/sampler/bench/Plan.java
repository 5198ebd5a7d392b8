// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * How thoroughly to measure.
 *
 * @param jdks homes of the JDKs to measure on
 * @param windowMillis how long one profiler runs at a time
 * @param rounds how many windows each profiler has
 * @param scale 1 for the sizes that the bars are about; smaller values reduce thread counts
 * @param sources the folder of the test sources, in which hot lines are marked
 * @param before the jar of an older build, or its observed library, for benchmarks that compare with it; null if there
 *     is none
 * @param shown receives the tables of a benchmark that has not ended yet
 */
public record Plan(
        List<Path> jdks,
        long windowMillis,
        int rounds,
        double scale,
        Path sources,
        Path before,
        Consumer<List<Table>> shown) {

    /** Creates a plan that shows tables only at the end. */
    public Plan(List<Path> jdks, long windowMillis, int rounds, double scale, Path sources, Path before) {
        this(jdks, windowMillis, rounds, scale, sources, before, tables -> {});
    }

    /**
     * Creates a copy that shows tables as they grow.
     *
     * @param to receives the tables
     * @return the copy
     */
    Plan shownTo(Consumer<List<Table>> to) {
        return new Plan(jdks, windowMillis, rounds, scale, sources, before, to);
    }

    /**
     * Scales a size.
     *
     * @param full the size that the bar is about
     * @return the size for this plan, at least 1
     */
    public int scaled(int full) {
        return (int) Math.max(1, Math.round(full * scale));
    }
}
