// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import com.incapsula.sampler.internal.report.HotRows;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.Aggregator;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ResultRole;

/**
 * The time of each line in the iterations of a benchmark. JMH adds up iterations and forks. The object is serialised
 * from a fork to JMH's own JVM.
 */
final class SampledLines extends Result<SampledLines> {

    private static final long serialVersionUID = 1;
    private static final String LABEL = "sampler";

    private final HashMap<String, Long> nanos;
    private final TreeSet<String> files;
    private final int lines;

    SampledLines(Map<String, Long> nanos, int lines, @Nullable Path file) {
        super(ResultRole.SECONDARY, LABEL, of(Double.NaN), "---", AggregationPolicy.AVG);
        this.nanos = new HashMap<>(nanos);
        this.lines = lines;
        this.files = new TreeSet<>();
        if (file != null) {
            files.add(file.toString());
        }
    }

    @Override
    protected Aggregator<SampledLines> getThreadAggregator() {
        return SampledLines::sum;
    }

    @Override
    protected Aggregator<SampledLines> getIterationAggregator() {
        return SampledLines::sum;
    }

    private static SampledLines sum(Collection<SampledLines> results) {
        SampledLines sum = new SampledLines(Map.of(), results.iterator().next().lines, null);
        for (SampledLines each : results) {
            each.nanos.forEach((line, own) -> sum.nanos.merge(line, own, Long::sum));
            sum.files.addAll(each.files);
        }
        return sum;
    }

    /** The text that JMH prints after each iteration; the lines are in the results. */
    @Override
    public String toString() {
        return "<" + nanos.size() + " lines>";
    }

    @Override
    public String extendedInfo() {
        StringBuilder text =
                new StringBuilder("The hottest lines of the worker threads, by wall time of their own:\n\n");
        text.append(HotRows.table(nanos, lines));
        files.forEach(file -> text.append("\nThe whole report: ").append(file).append('\n'));
        return text.toString();
    }
}
