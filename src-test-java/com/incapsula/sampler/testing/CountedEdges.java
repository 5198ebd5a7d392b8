// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The counted calls of a report by caller and callee, in the form of {@link counted.Edges}. */
public final class CountedEdges {

    private CountedEdges() {}

    /** @return the calls that are not 0, by {@code passing > leaf} */
    public static Map<String, Long> of(SamplingReport report) {
        Map<String, Long> edges = new TreeMap<>();
        for (SamplingGroup group : report.getCountedGroups()) {
            for (SamplingRow row : report.rows(group)) {
                add(edges, row);
            }
        }
        edges.values().removeIf(calls -> calls == 0);
        return edges;
    }

    private static String methodOf(SamplingRow row) {
        String name = row.getClassName();
        return name.substring(name.lastIndexOf('.') + 1) + '.' + row.getMethodName();
    }

    /* Not recursive, because the trees are deeper than a stack. */
    private static void add(Map<String, Long> edges, SamplingRow root) {
        Deque<SamplingRow> todo = new ArrayDeque<>(List.of(root));
        edges.merge("outside > " + methodOf(root), root.getCalls(), Long::sum);
        while (!todo.isEmpty()) {
            SamplingRow row = todo.pop();
            String caller = methodOf(row);
            for (SamplingRow child : row.children()) {
                edges.merge(caller + " > " + methodOf(child), child.getCalls(), Long::sum);
                todo.push(child);
            }
        }
    }
}
