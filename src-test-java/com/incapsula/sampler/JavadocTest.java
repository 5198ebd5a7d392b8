// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What javadoc itself does not check of the public pages. Read from the sources. */
class JavadocTest {

    private static final Path SOURCES = Path.of("java", "com", "incapsula", "sampler");
    private static final List<String> WITH_EXAMPLES = List.of("outputer", "manipulate");
    private static final List<String> PUBLIC =
            List.of("", "outputer", "manipulate", "jmh", "junit", "micrometer", "remote");

    /* The last comment before the package of a package page, or before the public type of the file. */
    private static final Pattern PAGE = Pattern.compile(
            "^(/\\*\\*(?:(?!\\*/).)*\\*/)\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public [a-z @]+\\w+|package [\\w.]+;\\s*$)",
            Pattern.DOTALL | Pattern.MULTILINE);

    private static List<Path> sources(String folder) throws IOException {
        try (Stream<Path> files = Files.list(SOURCES.resolve(folder))) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    /** @return empty where the file has no public type */
    private static String page(Path file) throws IOException {
        Matcher matcher = PAGE.matcher(Files.readString(file));
        return matcher.find() ? matcher.group(1) : "";
    }

    @Test
    void everyPublicTypeAndPackageSaysSinceWhen() throws IOException {
        int pages = 0;
        for (String folder : PUBLIC) {
            for (Path file : sources(folder)) {
                String page = page(file);
                if (!page.isEmpty()) {
                    assertThat(page).as(file.toString()).containsPattern("\n \\* @since \\d+\\.\\d+\n");
                    pages++;
                }
            }
        }
        assertThat(pages).as("public types and packages").isGreaterThanOrEqualTo(35);
    }

    @Test
    void everyOutputerAndManipulatorHasAnExample() throws IOException {
        for (String folder : WITH_EXAMPLES) {
            for (Path file : sources(folder)) {
                String page = page(file);
                if (!file.endsWith("package-info.java") && !page.isEmpty()) {
                    assertThat(page).as(file.toString()).contains("<pre>{@code");
                }
            }
        }
    }

    @Test
    void theMainPageSaysHowToReadAReport() throws IOException {
        assertThat(page(SOURCES.resolve("package-info.java"))).contains("<h2>How to read a report</h2>");
    }
}
