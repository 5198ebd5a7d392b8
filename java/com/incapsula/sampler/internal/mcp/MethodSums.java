// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The times of methods, each summed over all places in call trees where it was called. Subtrees with less than a given
 * time are not read, and at most {@link #MAX_ROWS} rows are.
 *
 * <p>Threads: one.
 */
final class MethodSums {

    /** Rows read for one answer. Each takes some microseconds. */
    static final int MAX_ROWS = 300_000;

    /** A method's times. */
    static final class Sum {

        private final String method;
        private long own;
        private long waits;
        private long total;
        private long calls;
        private int depth; // open calls on the current path: a recursion counts once
        private String hottest = "";
        private long hottestOwn = -1;

        Sum(String method) {
            this.method = method;
        }

        String method() {
            return method;
        }

        /** @return the line with the most own time */
        String hottestLine() {
            return hottest;
        }

        long own() {
            return own;
        }

        long waits() {
            return waits;
        }

        /** @return the time, callees included */
        long total() {
            return total;
        }

        long calls() {
            return calls;
        }
    }

    /** The rows below a method that are still to be read. */
    private record Level(@Nullable Sum above, Iterator<SamplingRow> rows) {}

    private final Measure by;
    private final long least;
    private final Map<String, Sum> sums = new HashMap<>();
    private int read;

    /** @param least rows with less time are not read */
    MethodSums(Measure by, long least) {
        this.by = by;
        this.least = least;
    }

    /** Adds a group's tree. */
    void add(SamplingReport report, SamplingGroup group) {
        Deque<Level> way = new ArrayDeque<>();
        way.push(new Level(null, report.rows(group).iterator()));
        while (!way.isEmpty()) {
            Level level = way.element();
            if (level.rows().hasNext()) {
                add(level.rows().next(), way);
            } else {
                way.pop();
                if (level.above() != null) {
                    level.above().depth--;
                }
            }
        }
    }

    private void add(SamplingRow row, Deque<Level> way) {
        long total = by.total(row);
        if (total < least || read >= MAX_ROWS) {
            return;
        }
        read++;
        Sum sum = sums.computeIfAbsent(Frames.method(row), Sum::new);
        long own = by.own(row);
        sum.own += own;
        sum.waits += by.waits(row);
        sum.calls += row.getCalls();
        sum.total += sum.depth++ == 0 ? total : 0;
        if (own > sum.hottestOwn) {
            sum.hottestOwn = own;
            sum.hottest = Frames.line(row);
        }
        way.push(new Level(sum, row.children().iterator()));
    }

    /** @return in no order */
    Collection<Sum> all() {
        return List.copyOf(sums.values());
    }

    /** @return all zero if the method was not seen */
    Sum of(String method) {
        return sums.getOrDefault(method, new Sum(method));
    }
}
