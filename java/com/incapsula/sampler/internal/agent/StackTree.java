// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A tree of stacks with the amounts of one or two sides; equal stacks are one node. Nodes are numbers. A group is a
 * node without a parent. A parent has a lower number than its children.
 *
 * <p>Threads: one.
 */
final class StackTree {

    /** The parent of a group. */
    static final int NONE = -1;

    private static final int FIRST_NODES = 1024;

    private record Place(int parent, String text) {}

    private final Map<Place, Integer> numbers = new HashMap<>();
    private final List<Place> places = new ArrayList<>();
    private final List<Map<String, long[]>> sides = new ArrayList<>(); // amounts by measure

    StackTree(int sideCount) {
        for (int i = 0; i < sideCount; i++) {
            sides.add(new TreeMap<>());
        }
    }

    /** @return the node of a frame below a parent, or of a group below {@link #NONE}; a new one if there is none */
    int node(int parent, String text) {
        Place place = new Place(parent, text);
        Integer known = numbers.putIfAbsent(place, places.size());
        if (known != null) {
            return known;
        }
        places.add(place);
        return places.size() - 1;
    }

    /** Adds to a node's own amount. @throws ArithmeticException if the sum is too large */
    void add(int side, String measure, int node, long amount) {
        Map<String, long[]> amounts = sides.get(side);
        long[] column = amounts.computeIfAbsent(measure, any -> new long[FIRST_NODES]);
        if (node >= column.length) {
            column = Arrays.copyOf(column, Math.max(2 * column.length, node + 1));
            amounts.put(measure, column);
        }
        column[node] = Math.addExact(column[node], amount);
    }

    int count() {
        return places.size();
    }

    int parent(int node) {
        return places.get(node).parent();
    }

    String text(int node) {
        return places.get(node).text();
    }

    /** @return the node's own amount, without its children */
    long amount(int side, String measure, int node) {
        long @Nullable [] column = sides.get(side).get(measure);
        return column == null || node >= column.length ? 0 : column[node];
    }

    /** @return the names of all measures of all sides */
    Set<String> measures() {
        Set<String> names = new LinkedHashSet<>();
        sides.forEach(side -> names.addAll(side.keySet()));
        return names;
    }
}
