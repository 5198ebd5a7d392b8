// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packages below {@code internal}, and the uses between them. Reads the sources: a class of another package is
 * named by its import or its full name.
 */
class RoomsTest {

    private static final Path SOURCES = Path.of("java", "com", "incapsula", "sampler", "internal");
    private static final Pattern ROOM = Pattern.compile("com\\.incapsula\\.sampler\\.internal\\.(\\w+)\\.");

    /*
     * Each package may use only packages above it, so there are no cycles; observe, remote, server and agent do not use
     * each other.
     */
    private static final Map<String, Set<String>> PLAN = Map.of(
            "json", Set.of(),
            "options", Set.of(),
            "report", Set.of("options"),
            "loading", Set.of("report"),
            "engine", Set.of("options", "report", "loading"),
            "observe", Set.of("report", "engine"),
            "mcp", Set.of("json", "report"),
            "server", Set.of("report", "engine", "mcp"),
            "remote", Set.of("report"),
            "agent", Set.of("json", "report", "options", "engine", "mcp"));

    @TempDir
    Path folder;

    @Test
    void eachRoomUsesThoseOfThePlanOnly() throws IOException {
        Map<String, Set<String>> found = uses(SOURCES);

        assertThat(found.keySet()).isEqualTo(PLAN.keySet());
        found.forEach((room, used) ->
                assertThat(PLAN.get(room)).as("what %s may use", room).containsAll(used));
    }

    @Test
    void thePlanHasNoCircle() {
        assertThat(circle(PLAN)).isEmpty();
    }

    @Test
    void everyClassIsInARoom() throws IOException {
        try (Stream<Path> files = Files.list(SOURCES)) {
            assertThat(files.filter(Files::isRegularFile)).isEmpty();
        }
    }

    @Test
    void anImportAndAFullNameAreUses() throws IOException {
        write("a", "import com.incapsula.sampler.internal.b.B;");
        write("b", "class B { com.incapsula.sampler.internal.c.C c; }");
        write("c", "import static com.incapsula.sampler.internal.a.A.*;");

        Map<String, Set<String>> found = uses(folder);

        assertThat(found).isEqualTo(Map.of("a", Set.of("b"), "b", Set.of("c"), "c", Set.of("a")));
        assertThat(circle(found)).containsExactly("a", "b", "c", "a");
    }

    private void write(String room, String body) throws IOException {
        Path file = Files.createDirectory(folder.resolve(room)).resolve("X.java");
        Files.writeString(file, "package com.incapsula.sampler.internal." + room + ";\n" + body + "\n");
    }

    private static Map<String, Set<String>> uses(Path sources) throws IOException {
        Map<String, Set<String>> found = new TreeMap<>();
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path file :
                    (Iterable<Path>) files.filter(path -> path.toString().endsWith(".java"))::iterator) {
                String room = sources.relativize(file).getName(0).toString();
                Set<String> used = found.computeIfAbsent(room, name -> new TreeSet<>());
                Matcher matcher = ROOM.matcher(Files.readString(file));
                while (matcher.find()) {
                    used.add(matcher.group(1));
                }
                used.remove(room);
            }
        }
        return found;
    }

    /** @return the packages along a cycle, the first one twice; empty if there is none */
    private static List<String> circle(Map<String, Set<String>> uses) {
        for (String room : new TreeSet<>(uses.keySet())) {
            List<String> way = new ArrayList<>(List.of(room));
            if (leadsBack(uses, way)) {
                return way;
            }
        }
        return List.of();
    }

    private static boolean leadsBack(Map<String, Set<String>> uses, List<String> way) {
        for (String next : uses.getOrDefault(way.get(way.size() - 1), Set.of())) {
            if (next.equals(way.get(0))) {
                way.add(next);
                return true;
            }
            if (!way.contains(next)) {
                way.add(next);
                if (leadsBack(uses, way)) {
                    return true;
                }
                way.remove(way.size() - 1);
            }
        }
        return false;
    }
}
