// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.json.Json;
import com.incapsula.sampler.internal.json.JsonParser;
import com.incapsula.sampler.internal.json.MalformedJson;
import com.incapsula.sampler.internal.report.IoReason;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A report in a file: COLLAPSED ({@code stack amount} in each line, the amount in nanoseconds of wall time), JSON, or
 * the HTML page, which contains the JSON. The content determines the format.
 *
 * <p>Needs several times the memory of the whole file.
 */
final class ProfileFile {

    static final String WALL = "wall";

    /** The lists of groups in the JSON form. */
    static final String GROUPS = "groups";

    static final String COUNTED = "counted";

    /** The frame for time of a group without a stack. */
    static final String NO_FRAME = "[no frame]";

    private static final String DATA_BEGIN = "<script type=\"application/json\" id=\"report\">";
    private static final String DATA_END = "</script>";
    /* Only a collapsed report may be empty. An empty file of another format was truncated, as by a full disk. */
    private static final String NEVER_EMPTY = "(?s).*\\.(json|html?)";
    private static final String FORMAT = "threads-sampler/1";
    private static final String DIFFERENCE = "a difference of two reports, which is no report";

    private final Path file;
    private final Map<String, Object> head; // of the JSON form, without frames and nodes
    private boolean hasCounted;

    private ProfileFile(Path file, Map<String, Object> head) {
        this.file = file;
        this.head = head;
    }

    /**
     * Adds the stacks of a file to the trees.
     *
     * @param side of the trees
     * @param key makes the key of a frame's text; frames with equal keys are one node
     * @return the other data of the file
     * @throws IOException naming the file and the error
     */
    static ProfileFile read(Path file, Stacks stacks, int side, UnaryOperator<String> key) throws IOException {
        Path absolute = file.toAbsolutePath();
        try {
            String text = textOf(file, absolute);
            if (text.isEmpty() && file.toString().matches(NEVER_EMPTY)) {
                throw new IllegalArgumentException("the file is empty");
            }
            String json = jsonIn(text);
            return json == null
                    ? readCollapsed(absolute, text, stacks.sampled(), side, key)
                    : readJson(absolute, json, stacks, side, key);
        } catch (ArithmeticException e) {
            throw new IOException(absolute + ": the sums are too large", e);
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            throw new IOException(absolute + ": not a report of threads-sampler: " + e.getMessage(), e);
        }
    }

    private static String textOf(Path file, Path absolute) throws IOException {
        try {
            return Files.readString(file);
        } catch (CharacterCodingException e) {
            throw new IOException(absolute + ": not a text, so neither collapsed nor html nor json", e);
        } catch (NoSuchFileException e) {
            throw new IOException("there is no file " + absolute, e);
        } catch (IOException e) {
            throw new IOException(absolute + " cannot be read: " + IoReason.of(e), e);
        }
    }

    /* Returns null if the file is neither a page nor JSON. */
    private static @Nullable String jsonIn(String text) {
        if (text.stripLeading().startsWith("{")) {
            return text;
        }
        if (!text.startsWith("<!DOCTYPE html>")) {
            return null;
        }
        int begin = text.indexOf(DATA_BEGIN);
        if (begin < 0) {
            throw new IllegalArgumentException("the page has no report, or ends before it");
        }
        int end = text.indexOf(DATA_END, begin);
        return text.substring(begin + DATA_BEGIN.length(), end < 0 ? text.length() : end);
    }

    // ---- COLLAPSED

    private static ProfileFile readCollapsed(
            Path file, String text, StackTree tree, int side, UnaryOperator<String> key) throws IOException {
        Set<String> groups = new LinkedHashSet<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            try {
                groups.add(readLine(line, tree, side, key));
            } catch (NumberFormatException | ArithmeticException e) {
                String what = DIFFERENCE.equals(e.getMessage())
                        ? DIFFERENCE
                        : "not the form collapsed, which is STACK AMOUNT";
                throw new IOException(file + ", line " + number + ": " + what, e);
            }
        }
        Map<String, Object> head = new LinkedHashMap<>();
        long written = Files.getLastModifiedTime(file).toMillis();
        head.put("format", FORMAT);
        head.put("fromMillis", written);
        head.put("tillMillis", written);
        head.put("elapsedNanos", 0L);
        head.put(GROUPS, groups.stream().map(name -> Map.of("name", name)).toList());
        return new ProfileFile(file, head);
    }

    /* Returns the group. */
    private static String readLine(String line, StackTree tree, int side, UnaryOperator<String> key) {
        int at = line.lastIndexOf(' ');
        long amount = Long.parseLong(line.substring(at + 1));
        if (at <= 0 || amount < 0) {
            throw new NumberFormatException();
        }
        String stack = line.substring(0, at);
        if (stack.matches("(?s).* \\d+")) {
            throw new NumberFormatException(DIFFERENCE);
        }
        String[] parts = stack.split(";");
        int node = tree.node(StackTree.NONE, parts[0]);
        for (int i = 1; i < parts.length; i++) {
            node = tree.node(node, key.apply(parts[i]));
        }
        tree.add(side, WALL, node, amount);
        return parts[0];
    }

    // ---- JSON

    private static ProfileFile readJson(Path file, String json, Stacks stacks, int side, UnaryOperator<String> key) {
        Map<String, Object> document = object(parse(json));
        if (document.containsKey("before")) {
            throw new IllegalArgumentException("it is " + DIFFERENCE);
        }
        if (!(document.get("format") instanceof String format) || !format.startsWith(FORMAT)) {
            throw new IllegalArgumentException("its format is " + document.get("format") + ", not " + FORMAT);
        }
        List<String> frames = new ArrayList<>();
        for (Object frame : list(document.remove("frames"))) {
            frames.add(key.apply(Frames.text(object(frame))));
        }
        ProfileFile read = new ProfileFile(file, document);
        for (Object group : list(document.get(GROUPS))) {
            readGroup(object(group), frames, stacks.sampled(), side);
        }
        read.hasCounted = Json.get(document, COUNTED) != null;
        if (read.hasCounted) {
            for (Object group : list(document.get(COUNTED))) {
                readCounted(object(group), frames, stacks, side);
            }
        } else {
            document.remove(COUNTED);
        }
        return read;
    }

    private static void readCounted(Map<String, Object> group, List<String> frames, Stacks stacks, int side) {
        List<Object> times = taken(group, "rootTimes");
        List<Object> since = taken(group, "countedSince");
        int[] nodes = readGroup(group, frames, stacks.counted(), side);
        for (Object each : since) {
            List<Object> row = list(each);
            stacks.since()
                    .merge(
                            nodes[Math.toIntExact(number(row.get(0)))],
                            new Stacks.CountedSince(number(row.get(1)), number(row.get(2))),
                            Stacks.CountedSince::plus);
        }
        for (Object each : times) {
            List<Object> time = list(each);
            stacks.rootTimes()
                    .merge(
                            nodes[Math.toIntExact(number(time.get(0)))],
                            new Stacks.RootTime(
                                    number(time.get(1)), number(time.get(2)), number(time.get(3)), number(time.get(4))),
                            Stacks.RootTime::plus);
        }
    }

    /* Returns an empty list if the group has none. */
    private static List<Object> taken(Map<String, Object> group, String name) {
        @Nullable Object rows = group.remove(name);
        return rows == null ? List.of() : list(rows);
    }

    private static Object parse(String json) {
        try {
            return JsonParser.parse(json);
        } catch (MalformedJson e) {
            throw new IllegalArgumentException("no JSON at character " + e.at() + ": " + e.what(), e);
        }
    }

    /* Returns the tree's nodes, by their place in the group's arrays. */
    private static int[] readGroup(Map<String, Object> group, List<String> frames, StackTree tree, int side) {
        List<Object> parents = list(group.remove("parent"));
        List<Object> numbers = list(group.remove("frame"));
        int root = tree.node(StackTree.NONE, Frames.ofGroup(group));
        int[] nodes = new int[parents.size()];
        for (int i = 0; i < nodes.length; i++) {
            int parent = Math.toIntExact(number(parents.get(i)));
            if (parent >= i) {
                throw new IllegalArgumentException("node " + i + " stands before its parent");
            }
            String frame = frames.get(Math.toIntExact(number(numbers.get(i))));
            nodes[i] = tree.node(parent < 0 ? root : nodes[parent], frame);
        }
        group.remove("rowCalls");
        group.remove("countedSince"); // belongs to the time of one report
        group.remove("recursion");
        for (String name : List.copyOf(group.keySet())) {
            if (!name.equals("threadNames") && group.get(name) instanceof List<?> amounts) {
                group.remove(name);
                for (int i = 0; i < nodes.length; i++) {
                    tree.add(side, name, nodes[i], number(amounts.get(i)));
                }
            }
        }
        return nodes;
    }

    @SuppressWarnings("unchecked") // the parser makes no other maps
    private static Map<String, Object> object(@Nullable Object value) {
        if (value instanceof Map<?, ?> members) {
            return (Map<String, Object>) members;
        }
        throw new IllegalArgumentException("an object is missing");
    }

    @SuppressWarnings("unchecked") // nor lists
    private static List<Object> list(@Nullable Object value) {
        if (value instanceof List<?> elements) {
            return (List<Object>) elements;
        }
        throw new IllegalArgumentException("an array is missing");
    }

    private static long number(@Nullable Object value) {
        if (value instanceof Long number) {
            return number;
        }
        throw new IllegalArgumentException("a whole number is missing");
    }

    Path file() {
        return file;
    }

    /** @return the JSON form without frames and nodes; the caller may change it */
    Map<String, Object> head() {
        return head;
    }

    /** @return true if calls were counted */
    boolean hasCounted() {
        return hasCounted;
    }
}
