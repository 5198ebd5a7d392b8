// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Makes reports in the JSON format from stacks. Written from the description of the format, independently of the writer
 * in C.
 */
final class ReportJson {
    private final Map<String, Integer> frames = new LinkedHashMap<>();
    private final List<String> methods = new ArrayList<>(); // by frame: the frame without its place
    private final List<Group> groups = new ArrayList<>();
    private final Map<String, Long> outcomes = new LinkedHashMap<>();
    private final Map<String, Long> counters = new LinkedHashMap<>();
    private long elapsedMillis = 900_000;
    private String missedPackages;

    /** The parent and the frame that identify a node of a group's tree. */
    record Place(int parent, int frame) {}

    final class Group {
        private final String name;
        private final int threads;
        private final Map<Place, Integer> nodes = new LinkedHashMap<>();
        private final List<long[]> selves = new ArrayList<>();

        private Group(String name, int threads) {
            this.name = name;
            this.threads = threads;
        }

        /** Adds a stack, root frame first, in the syntax of {@link #frame}. The time is the leaf's own time. */
        Group stack(double wallMillis, double cpuMillis, long samples, String... stack) {
            int node = -1;
            for (String frame : stack) {
                node = child(node, frame(frame));
            }
            add(node, wallMillis, cpuMillis, samples);
            return this;
        }

        int child(int parent, int frame) {
            return nodes.computeIfAbsent(new Place(parent, frame), place -> {
                selves.add(new long[3]);
                return nodes.size();
            });
        }

        void add(int node, double wallMillis, double cpuMillis, long samples) {
            long[] self = selves.get(node);
            self[0] += Math.round(wallMillis * 1e6);
            self[1] += Math.round(cpuMillis * 1e6);
            self[2] += samples;
        }

        String name() {
            return name;
        }

        /** The nodes, parents before their children. */
        Set<Place> places() {
            return nodes.keySet();
        }

        /** A node's own wall nanoseconds, CPU nanoseconds and samples. */
        long[] self(int node) {
            return selves.get(node);
        }

        private long sum(int column) {
            return selves.stream().mapToLong(self -> self[column]).sum();
        }

        private void write(StringBuilder out, boolean withNodes) {
            out.append("{\"name\":")
                    .append(quoted(name))
                    .append(",\"threads\":")
                    .append(threads)
                    .append(",\"threadNames\":[")
                    .append(quoted(name + "1"))
                    .append(',')
                    .append(quoted(name + "2"))
                    .append("],\"maxDepth\":")
                    .append(12)
                    .append(",\"polls\":")
                    .append(sum(2))
                    .append(",\"outcomes\":{\"WALKED\":")
                    .append(sum(2))
                    .append('}');
            if (withNodes) {
                writeNodes(out);
            }
            out.append('}');
        }

        private void writeNodes(StringBuilder out) {
            numbers(
                    out,
                    "parent",
                    nodes.keySet().stream().mapToLong(Place::parent).toArray());
            numbers(
                    out,
                    "frame",
                    nodes.keySet().stream().mapToLong(Place::frame).toArray());
            String[] columns = {"wall", "cpu", "samples"};
            for (int i = 0; i < columns.length; i++) {
                int column = i;
                numbers(
                        out,
                        columns[i],
                        selves.stream().mapToLong(self -> self[column]).toArray());
            }
        }
    }

    ReportJson elapsedMillis(long millis) {
        elapsedMillis = millis;
        return this;
    }

    ReportJson missedPackages(String packages) {
        missedPackages = packages;
        return this;
    }

    ReportJson outcome(String text, long count) {
        outcomes.put(text, count);
        return this;
    }

    ReportJson counter(String text, long count) {
        counters.put(text, count);
        return this;
    }

    Group group(String name, int threads) {
        Group group = new Group(name, threads);
        groups.add(group);
        return group;
    }

    /** Parses {@code com.acme.A.run:12}, {@code com.acme.A.run0} for a native method, or {@code [thread ended]}. */
    int frame(String text) {
        if (text.startsWith("[")) {
            String pseudo = "{\"pseudo\":" + quoted(text);
            return known(pseudo, "");
        }
        int colon = text.lastIndexOf(':');
        String name = colon < 0 ? text : text.substring(0, colon);
        int dot = name.lastIndexOf('.');
        String className = name.substring(0, dot);
        String file = className.substring(className.lastIndexOf('.') + 1).replaceAll("\\$.*", "") + ".java";
        return colon < 0
                ? known(method(className, name.substring(dot + 1)), ",\"native\":true")
                : frame(className, name.substring(dot + 1), file, Integer.parseInt(text.substring(colon + 1)));
    }

    int frame(String className, String method, String file, int line) {
        return known(method(className, method), ",\"file\":" + quoted(file) + ",\"line\":" + line);
    }

    private static String method(String className, String method) {
        return "{\"class\":" + quoted(className) + ",\"method\":" + quoted(method);
    }

    private int known(String method, String place) {
        return frames.computeIfAbsent(method + place + "}", added -> {
            methods.add(method + "}");
            return frames.size();
        });
    }

    /** The frame without file and line. */
    String methodOf(int frame) {
        return methods.get(frame);
    }

    List<Group> groups() {
        return groups;
    }

    String json() {
        return json(true);
    }

    String json(boolean withNodes) {
        groups.sort((a, b) -> Long.compare(b.sum(0), a.sum(0)));
        long till = 1_790_000_000_000L;
        long samples = groups.stream().mapToLong(group -> group.sum(2)).sum();
        long others = outcomes.values().stream().mapToLong(Long::longValue).sum();
        Map<String, Long> all = new LinkedHashMap<>();
        all.put("WALKED", samples);
        all.putAll(outcomes);
        StringBuilder out = new StringBuilder();
        out.append("{\"format\":\"threads-sampler/1\",\"fromMillis\":")
                .append(till - elapsedMillis)
                .append(",\"tillMillis\":")
                .append(till)
                .append(",\"elapsedNanos\":")
                .append(elapsedMillis * 1_000_000)
                .append(",\"ownCpuNanos\":")
                .append(elapsedMillis * 3_100)
                .append(",\"memoryUsedBytes\":11480000,\"memoryLimitBytes\":100663296")
                .append(",\"account\":{\"polls\":")
                .append(samples + others)
                .append(",\"samples\":")
                .append(samples);
        figures(out, "outcomes", all);
        figures(out, "counters", counters);
        if (missedPackages != null) {
            out.append(",\"missedPackages\":").append(quoted(missedPackages));
        }
        out.append('}');
        if (withNodes) {
            out.append(",\"frames\":[")
                    .append(String.join(",\n", frames.keySet()))
                    .append(']');
        }
        out.append(",\"groups\":[");
        for (int i = 0; i < groups.size(); i++) {
            out.append(i == 0 ? "" : ",\n");
            groups.get(i).write(out, withNodes);
        }
        return out.append("]}\n").toString();
    }

    private static void figures(StringBuilder out, String name, Map<String, Long> figures) {
        List<String> parts = new ArrayList<>();
        figures.forEach((text, count) -> parts.add(quoted(text) + ":" + count));
        out.append(",\"")
                .append(name)
                .append("\":{")
                .append(String.join(",", parts))
                .append('}');
    }

    static void numbers(StringBuilder out, String name, long[] values) {
        out.append(",\"").append(name).append("\":[");
        for (int i = 0; i < values.length; i++) {
            out.append(i == 0 ? "" : ",").append(values[i]);
        }
        out.append(']');
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c < ' ' || c == '"' || c == '\\' || c == '<' || Character.isSurrogate((char) c)) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.append((char) c);
            }
        });
        return out.append('"').toString();
    }
}
