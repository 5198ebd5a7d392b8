// SPDX-License-Identifier: Apache-2.0
package com.example.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/** Lines of a source file by what is in them: their numbers change with the source. */
public final class SourceLines {

    private SourceLines() {}

    /**
     * Finds the only line with some code.
     *
     * @return {@code Stock.java:41}
     */
    public static String find(Path folder, String file, String code) throws IOException {
        List<String> lines = Files.readAllLines(folder.resolve(file));
        int[] found = IntStream.range(0, lines.size())
                .filter(i -> lines.get(i).contains(code))
                .toArray();
        if (found.length != 1) {
            throw new IllegalArgumentException(file + " has " + found.length + " lines with " + code);
        }
        return file + ":" + (found[0] + 1);
    }
}
