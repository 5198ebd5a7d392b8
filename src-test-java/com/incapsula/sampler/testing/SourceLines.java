// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** Finds lines in a test's own source. */
public final class SourceLines {

    /** The tests' sources, relative to the folder in which tests run. */
    public static final Path TESTS = Path.of("src-test-java");

    private SourceLines() {}

    /** @return the numbers of all lines of this class that end with this text; at least one */
    public static SortedSet<Integer> endingIn(Path sources, Class<?> type, String end) throws IOException {
        String source = type.getName().replace('.', '/') + ".java";
        List<String> text = Files.readAllLines(sources.resolve(source));
        SortedSet<Integer> found = new TreeSet<>();
        for (int i = 0; i < text.size(); i++) {
            if (text.get(i).endsWith(end)) {
                found.add(i + 1);
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException("no line ends in " + end + " in " + source);
        }
        return found;
    }
}
