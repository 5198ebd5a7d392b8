// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The figures of one thread group in a {@link SamplingReport}. {@link SamplingReport#rows} reads its call tree.
 *
 * <p>Threads: immutable.
 *
 * @since 1.0
 */
public final class SamplingGroup {

    /* The order of NativeBridge.snapshotGroupFigures. */
    private static final int THREADS = 0;
    private static final int MAX_DEPTH = 1;
    private static final int POLLS = 2;
    private static final int ROOT = 3;
    private static final int MEASURES = 4;

    private final String name;
    private final List<String> measures;
    private final long[] figures;

    SamplingGroup(String name, List<String> measures, long[] figures) {
        this.name = name;
        this.measures = measures;
        this.figures = figures;
    }

    /** {@return the group's name, as the thread name manipulator made it} */
    public String getName() {
        return name;
    }

    /** {@return the wall time of all its threads together, in nanoseconds} */
    public long getWallNanos() {
        return total(ReportMeasure.WALL);
    }

    /** {@return the CPU time of all its threads together, in nanoseconds; 0 if the engine does not measure it} */
    public long getCpuNanos() {
        return total(ReportMeasure.CPU);
    }

    /**
     * {@return how often a stack of one of its threads was obtained, at most {@link #getPolls()}; see
     * {@link SamplingReport#getSamples()}}
     */
    public long getSamples() {
        return total(ReportMeasure.SAMPLES);
    }

    /**
     * {@return all measures by name, as in {@link SamplingReport#getMeasures()}, summed over all its threads; not
     * modifiable}
     */
    public Map<String, Long> getMeasures() {
        Map<String, Long> totals = new LinkedHashMap<>();
        for (int i = 0; i < measures.size(); i++) {
            totals.put(measures.get(i), figures[MEASURES + i]);
        }
        return Collections.unmodifiableMap(totals);
    }

    /**
     * {@return how many different threads were in the group} In a merged report the number may be too high, because
     * both reports may have counted the same thread.
     */
    public long getThreads() {
        return figures[THREADS];
    }

    /** {@return the depth of the deepest stack, before it was cut, in frames} */
    public int getMaxDepth() {
        return (int) Math.min(figures[MAX_DEPTH], Integer.MAX_VALUE);
    }

    /**
     * {@return the number of polls of its threads, skipped ones included} {@link SamplingReport#getOutcomes()} has the
     * outcomes, for all groups together.
     */
    public long getPolls() {
        return figures[POLLS];
    }

    /** The node whose children are the group's root rows; 0 if there is none. */
    long root() {
        return figures[ROOT];
    }

    private long total(ReportMeasure measure) {
        return figures[MEASURES + measure.ordinal()];
    }

    /** Name, times and samples. */
    @Override
    public String toString() {
        return name + " [wallNanos=" + getWallNanos() + ", cpuNanos=" + getCpuNanos() + ", samples=" + getSamples()
                + "]";
    }
}
