// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.ArrayList;
import java.util.List;

/**
 * The figures of a sampler: two lists of equal length, see {@link NativeBridge#statisticNames()}.
 *
 * @param engine how stacks are walked, as text; empty before the first start
 * @param status how stacks are walked, as data, see {@link NativeBridge#status}; empty before the first start
 * @param names the names
 * @param values the values, in the same order
 */
public record RawStatistics(String engine, List<String> status, List<String> names, List<Long> values) {

    private static final String WAITING = "gauge.reportsWaiting";
    private static final String FAILED = "counter.FAILED_REPORTS";

    /** Before the first start. */
    static final RawStatistics NONE = new RawStatistics("", List.of(), List.of(), List.of());

    /**
     * Copies the lists.
     *
     * @param engine how stacks are walked, as text
     * @param status how stacks are walked, as data
     * @param names the names
     * @param values the values
     */
    public RawStatistics {
        status = List.copyOf(status);
        names = List.copyOf(names);
        values = List.copyOf(values);
        if (names.size() != values.size()) {
            throw new IllegalArgumentException(names.size() + " names for " + values.size() + " values");
        }
    }

    /** Adds a figure at the end of a copy. */
    RawStatistics with(String name, long value) {
        List<String> moreNames = new ArrayList<>(names);
        List<Long> moreValues = new ArrayList<>(values);
        moreNames.add(name);
        moreValues.add(value);
        return new RawStatistics(engine, status, moreNames, moreValues);
    }

    /** Counts waiting reports, and the one that is being written, as failed in a copy. */
    RawStatistics withoutWaiting() {
        int waiting = names.indexOf(WAITING);
        if (waiting < 0) {
            return this;
        }
        List<Long> changed = new ArrayList<>(values);
        for (int i = 0; i < changed.size(); i++) {
            if (names.get(i).endsWith(FAILED)) {
                changed.set(i, values.get(i) + values.get(waiting));
            }
        }
        changed.set(waiting, 0L);
        return new RawStatistics(engine, status, names, changed);
    }
}
