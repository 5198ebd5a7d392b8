// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.json.Json;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes a tree of stacks as JSON: a report ({@code native/src/export/json.c}), or the page's difference of two
 * ({@code native/src/export/difference.c}).
 */
final class ProfileJson {

    private static final Set<String> LARGEST =
            Set.of("threads", "maxDepth", "memoryUsedBytes", "memoryLimitBytes", "tillMillis");
    private static final String FROM = "fromMillis";
    private static final String ELAPSED = "elapsedNanos";
    private static final Long NO_GROUP = -1L;

    private static final String SUMMARY = "summary";

    private final StackTree tree;
    private final Map<String, Integer> frames; // and their numbers

    private ProfileJson(StackTree tree, Map<String, Integer> frames) {
        this.tree = tree;
        this.frames = frames;
    }

    /** @return the report of stacks with one side; the heads of the source files are merged */
    static Map<String, Object> report(Stacks stacks, List<ProfileFile> files) {
        Map<String, Integer> frames = new LinkedHashMap<>();
        List<Map<String, Object>> groups = new ProfileJson(stacks.sampled(), frames)
                .writeGroups(groupsByName(files, ProfileFile.GROUPS), Map.of(), Map.of());
        List<Map<String, Object>> counted = new ProfileJson(stacks.counted(), frames)
                .writeGroups(groupsByName(files, ProfileFile.COUNTED), stacks.rootTimes(), stacks.since());
        Map<String, Object> head = files.get(0).head();
        boolean isTimed = files.stream().allMatch(ProfileJson::isTimed);
        for (ProfileFile more : files.subList(1, files.size())) {
            add(head, more.head());
        }
        if (!isTimed) {
            head.put(ELAPSED, 0L);
        }
        head.remove(ProfileFile.GROUPS);
        head.remove("counting"); // the JSON form does not say which of its figures add up
        if (files.size() > 1) {
            head.remove("countedFromMillis"); // belongs to one of the files
        }
        head.remove(SUMMARY); // the sum could have hot spots that no file lists
        head.put("frames", frameList(frames));
        head.put(ProfileFile.GROUPS, groups);
        if (files.stream().anyMatch(ProfileFile::hasCounted)) {
            head.put(ProfileFile.COUNTED, counted);
        }
        return head;
    }

    /** @return the page's data of stacks with two sides */
    static Map<String, Object> difference(Stacks stacks, ProfileFile before, ProfileFile after) {
        if (!isTimed(before) || !isTimed(after)) {
            before.head().put(ELAPSED, 0L); // else the page would scale one side to the other
            after.head().put(ELAPSED, 0L);
        }
        before.head().remove(SUMMARY);
        after.head().remove(SUMMARY);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("before", before.head());
        all.put("after", after.head());
        Map<String, Object> difference = new ProfileJson(stacks.sampled(), new LinkedHashMap<>())
                .writeDifference(before, after, ProfileFile.GROUPS);
        if (before.hasCounted() || after.hasCounted()) {
            difference.put(
                    ProfileFile.COUNTED,
                    new ProfileJson(stacks.counted(), new LinkedHashMap<>())
                            .writeDifference(before, after, ProfileFile.COUNTED));
        }
        all.put("difference", difference);
        return all;
    }

    private static boolean isTimed(ProfileFile file) {
        return file.head().get(ELAPSED) instanceof Long elapsed && elapsed > 0;
    }

    // ---- heads

    /* Adds numbers up if their sum has a meaning; otherwise keeps the first value. */
    private static void add(Map<String, Object> sums, Map<?, ?> more) {
        more.forEach((key, value) -> {
            String name = String.valueOf(key);
            Object before = Json.get(sums, name);
            if (before == null) {
                sums.put(name, value);
            } else if (before instanceof Map<?, ?> members && value instanceof Map<?, ?> added) {
                Map<String, Object> all = new LinkedHashMap<>();
                members.forEach((member, amount) -> all.put(String.valueOf(member), amount));
                add(all, added);
                sums.put(name, all);
            } else if (before instanceof Long first && value instanceof Long second) {
                sums.put(name, sum(name, first, second));
            }
        });
    }

    private static long sum(String name, long first, long second) {
        if (name.equals(FROM)) {
            return Math.min(first, second);
        }
        if (LARGEST.contains(name)) {
            return Math.max(first, second);
        }
        long both = first + second;
        boolean fits = ((first ^ both) & (second ^ both)) >= 0;
        return fits ? both : Long.MAX_VALUE;
    }

    /* The groups' data of all files, by their names in the tree. */
    private static Map<String, Map<String, Object>> groupsByName(Collection<ProfileFile> files, String key) {
        Map<String, Map<String, Object>> groups = new LinkedHashMap<>();
        for (ProfileFile file : files) {
            if (file.head().get(key) instanceof List<?> list) {
                for (Object each : list) {
                    Map<?, ?> group = (Map<?, ?>) each;
                    String name = Frames.ofGroup(group);
                    add(groups.computeIfAbsent(name, any -> new LinkedHashMap<>()), group);
                }
            }
        }
        return groups;
    }

    // ---- a report

    private List<Map<String, Object>> writeGroups(
            Map<String, Map<String, Object>> described,
            Map<Integer, Stacks.RootTime> rootTimes,
            Map<Integer, Stacks.CountedSince> since) {
        List<Nodes> groups = new ArrayList<>();
        nodesByGroup(rootTimes, since).forEach((group, nodes) -> {
            if (measures().stream().anyMatch(measure -> tree.amount(0, measure, group) != 0)) {
                nodes.add(StackTree.NONE, frame(ProfileFile.NO_FRAME), group);
            }
            Map<String, Object> all = described.getOrDefault(tree.text(group), new LinkedHashMap<>());
            all.putIfAbsent("name", tree.text(group));
            nodes.putInto(all);
            groups.add(nodes);
        });
        groups.sort(Comparator.comparingLong(Nodes::wall).reversed()); // in the page's order
        return groups.stream().map(Nodes::object).toList();
    }

    private Map<Integer, Nodes> nodesByGroup(
            Map<Integer, Stacks.RootTime> rootTimes, Map<Integer, Stacks.CountedSince> since) {
        Map<Integer, Nodes> groups = new LinkedHashMap<>();
        int[] groupOf = new int[tree.count()];
        int[] places = new int[tree.count()]; // indices in the arrays of the group
        for (int node = 0; node < tree.count(); node++) {
            int parent = tree.parent(node);
            groupOf[node] = parent < 0 ? node : groupOf[parent];
            Nodes nodes = groups.computeIfAbsent(groupOf[node], group -> new Nodes());
            places[node] = parent < 0 ? StackTree.NONE : nodes.add(places[parent], frame(tree.text(node)), node);
            Stacks.RootTime time = rootTimes.get(node);
            if (time != null) {
                nodes.rootTimes.add(time.json(places[node]));
            }
            Stacks.CountedSince late = since.get(node);
            if (late != null) {
                nodes.since.add(late.json(places[node]));
            }
        }
        return groups;
    }

    private int frame(String text) {
        return frames.computeIfAbsent(text, any -> frames.size());
    }

    private static List<Object> frameList(Map<String, Integer> frames) {
        List<Object> list = new ArrayList<>();
        frames.keySet().forEach(text -> list.add(Frames.json(text)));
        return list;
    }

    private Set<String> measures() {
        Set<String> measures = new LinkedHashSet<>(List.of("wall", "cpu", "samples"));
        measures.addAll(tree.measures());
        return measures;
    }

    /** Arrays of numbers by node. */
    private final class Nodes {

        private final List<Object> parents = new ArrayList<>();
        private final List<Object> frameNumbers = new ArrayList<>();
        private final Map<String, List<Object>> amounts = new LinkedHashMap<>();
        private final List<Object> rootTimes = new ArrayList<>();
        private final List<Object> since = new ArrayList<>();
        private Map<String, Object> object = Map.of(); // with the arrays
        private long wall;

        Nodes() {
            measures().forEach(measure -> amounts.put(measure, new ArrayList<>()));
        }

        int add(int parent, int frameNumber, int node) {
            parents.add((long) parent);
            frameNumbers.add((long) frameNumber);
            amounts.forEach((measure, column) -> column.add(tree.amount(0, measure, node)));
            wall += tree.amount(0, ProfileFile.WALL, node);
            return parents.size() - 1;
        }

        void putInto(Map<String, Object> group) {
            group.put("parent", parents);
            group.put("frame", frameNumbers);
            group.putAll(amounts);
            if (!rootTimes.isEmpty()) {
                group.put("rootTimes", rootTimes);
            }
            if (!since.isEmpty()) {
                group.put("countedSince", since);
            }
            object = group;
        }

        Map<String, Object> object() {
            return object;
        }

        /* Returns the sum over the group. */
        long wall() {
            return wall;
        }
    }

    // ---- a difference

    private Map<String, Object> writeDifference(ProfileFile one, ProfileFile other, String key) {
        Map<String, Long> before = groupNumbers(one, key);
        Map<String, Long> after = groupNumbers(other, key);
        List<Object> groups = new ArrayList<>();
        List<Object> parents = new ArrayList<>();
        List<Object> numbers = new ArrayList<>();
        for (int node = 0; node < tree.count(); node++) {
            boolean isGroup = tree.parent(node) < 0;
            numbers.add((long) (isGroup ? groups.size() : frame(tree.text(node))));
            parents.add((long) tree.parent(node));
            if (isGroup) {
                String name = tree.text(node);
                groups.add(List.of(before.getOrDefault(name, NO_GROUP), after.getOrDefault(name, NO_GROUP)));
            }
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("frames", frameList(frames));
        all.put("groups", groups);
        all.put("parent", parents);
        all.put("frame", numbers);
        all.put("before", columns(0));
        all.put("after", columns(1));
        return all;
    }

    private Map<String, Object> columns(int side) {
        Map<String, Object> columns = new LinkedHashMap<>();
        for (String measure : measures()) {
            List<Object> column = new ArrayList<>();
            for (int node = 0; node < tree.count(); node++) {
                column.add(tree.amount(side, measure, node));
            }
            columns.put(measure, column);
        }
        return columns;
    }

    /* The first index of each name among the groups of a file's head. */
    private static Map<String, Long> groupNumbers(ProfileFile file, String key) {
        Map<String, Long> numbers = new HashMap<>();
        if (file.head().get(key) instanceof List<?> list) {
            for (int i = 0; i < list.size(); i++) {
                Map<?, ?> group = (Map<?, ?>) list.get(i);
                numbers.putIfAbsent(Frames.ofGroup(group), (long) i);
            }
        }
        return numbers;
    }
}
