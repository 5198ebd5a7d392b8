// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of options has a row for each setter, and no other. Surefire runs in the project's folder. */
class ReadmeOptionsTest {

    @Test
    void everySetterHasItsRow() {
        String table = Stream.of("README.md", "java/README.md")
                .map(Path::of)
                .filter(Files::exists)
                .map(ReadmeOptionsTest::read)
                .filter(text -> text.contains("\n<!-- options: "))
                .findFirst()
                .map(text -> text.substring(text.indexOf("\n<!-- options: ")))
                .orElseThrow();
        List<String> rows = Pattern.compile("^\\| `(\\w+)` \\|", Pattern.MULTILINE)
                .matcher(table.substring(0, table.indexOf("\n\n")))
                .results()
                .map((MatchResult row) -> row.group(1))
                .toList();
        List<String> properties = Arrays.stream(ThreadsSampler.class.getMethods())
                .map(Method::getName)
                .filter(name -> name.startsWith("set"))
                .map(name -> Character.toLowerCase(name.charAt(3)) + name.substring(4))
                .toList();
        assertThat(rows).containsExactlyInAnyOrderElementsOf(properties);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
