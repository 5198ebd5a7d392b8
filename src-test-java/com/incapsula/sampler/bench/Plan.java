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
 * @param rounds how often each gets its turn
 * @param scale 1 for the sizes the bars are about; less makes thread counts smaller
 * @param sources the folder of the test sources, where hot lines are marked
 * @param before the jar of an older build, or its observed library, for the benchmarks that compare with it; null:
 *     there is none
 * @param shown takes the tables of a benchmark that is not at its end yet
 */
public record Plan(
        List<Path> jdks,
        long windowMillis,
        int rounds,
        double scale,
        Path sources,
        Path before,
        Consumer<List<Table>> shown) {

    /** A plan of which only the end is shown. */
    public Plan(List<Path> jdks, long windowMillis, int rounds, double scale, Path sources, Path before) {
        this(jdks, windowMillis, rounds, scale, sources, before, tables -> {});
    }

    /**
     * The same, shown.
     *
     * @param to takes the tables
     * @return another plan
     */
    Plan shownTo(Consumer<List<Table>> to) {
        return new Plan(jdks, windowMillis, rounds, scale, sources, before, to);
    }

    /**
     * A size in this plan.
     *
     * @param full the size the bar is about
     * @return at least 1
     */
    public int scaled(int full) {
        return (int) Math.max(1, Math.round(full * scale));
    }
}
