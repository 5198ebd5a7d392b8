// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Makes the data of the page of a difference. Written from the description of the format, independently of the writer
 * in C.
 */
final class DifferenceJson {
    private static final List<String> SIDES = List.of("before", "after");
    private static final List<String> MEASURES = List.of("wall", "cpu", "samples");

    /** The parent and the text that identify a node. */
    private record Place(int parent, String name) {}

    private final Map<Place, Integer> nodes = new LinkedHashMap<>();
    private final List<Integer> frameOfNode = new ArrayList<>();
    private final List<long[]> figures = new ArrayList<>();
    private final Map<String, Integer> frames = new LinkedHashMap<>();
    private final List<int[]> groups = new ArrayList<>();

    private DifferenceJson() {}

    static String of(ReportJson before, ReportJson after) {
        String reports = "{\"before\":" + before.json(false) + ",\"after\":" + after.json(false); // sorts groups
        DifferenceJson difference = new DifferenceJson();
        difference.add(0, before);
        difference.add(1, after);
        return reports + ",\"difference\":" + difference.json() + "}";
    }

    private void add(int side, ReportJson report) {
        for (int i = 0; i < report.groups().size(); i++) {
            ReportJson.Group group = report.groups().get(i);
            int root = node(new Place(-1, group.name()), this::newGroup);
            groups.get(frameOfNode.get(root))[side] = i;
            addNodes(side, report, group, root);
        }
    }

    private void addNodes(int side, ReportJson report, ReportJson.Group group, int root) {
        List<Integer> numbers = new ArrayList<>();
        for (ReportJson.Place place : group.places()) {
            String method = report.methodOf(place.frame());
            int parent = place.parent() < 0 ? root : numbers.get(place.parent());
            int node = node(new Place(parent, method), () -> frames.computeIfAbsent(method, added -> frames.size()));
            long[] self = group.self(numbers.size());
            IntStream.range(0, self.length).forEach(i -> figures.get(node)[side * self.length + i] += self[i]);
            numbers.add(node);
        }
    }

    private int newGroup() {
        groups.add(new int[] {-1, -1});
        return groups.size() - 1;
    }

    private int node(Place place, java.util.function.IntSupplier frame) {
        return nodes.computeIfAbsent(place, added -> {
            frameOfNode.add(frame.getAsInt());
            figures.add(new long[SIDES.size() * MEASURES.size()]);
            return nodes.size();
        });
    }

    private String json() {
        StringBuilder out = new StringBuilder("{\"frames\":[")
                .append(String.join(",\n", frames.keySet()))
                .append("],\"groups\":[")
                .append(String.join(
                        ",",
                        groups.stream()
                                .map(sides -> "[" + sides[0] + "," + sides[1] + "]")
                                .toList()))
                .append(']');
        ReportJson.numbers(
                out, "parent", nodes.keySet().stream().mapToLong(Place::parent).toArray());
        ReportJson.numbers(
                out, "frame", frameOfNode.stream().mapToLong(Integer::longValue).toArray());
        for (int side = 0; side < SIDES.size(); side++) {
            StringBuilder columns = new StringBuilder();
            for (int measure = 0; measure < MEASURES.size(); measure++) {
                int column = side * MEASURES.size() + measure;
                ReportJson.numbers(
                        columns,
                        MEASURES.get(measure),
                        figures.stream().mapToLong(one -> one[column]).toArray());
            }
            out.append(",\"")
                    .append(SIDES.get(side))
                    .append("\":{")
                    .append(columns.substring(1))
                    .append('}');
        }
        return out.append("}\n").toString();
    }
}
