// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks of the public pages that javadoc itself does not make, for the other artifacts, too. Reads the sources. */
class JavadocTest {

    private static final Path SOURCES = Path.of("java", "com", "incapsula", "sampler");
    private static final List<Path> MODULES = List.of(
            module("jmh", "jmh"),
            module("junit", "junit"),
            module("micrometer", "micrometer"),
            module("spring-boot-starter", "spring"));
    private static final List<String> WITH_EXAMPLES = List.of("outputer", "manipulate", "remote");
    private static final List<String> PUBLIC = List.of("", "outputer", "manipulate", "remote");

    /* The last comment before the package of a package page, or before the public type of a file. */
    private static final Pattern PAGE = Pattern.compile(
            "^(/\\*\\*(?:(?!\\*/).)*\\*/)\\s*(?:@\\w+(?:\\([^)]*\\))?\\s*)*(?:public [a-z @]+\\w+|package [\\w.]+;\\s*$)",
            Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern PUBLIC_TYPE =
            Pattern.compile("^public [a-z @]*(?:class|interface|enum|record) ", Pattern.MULTILINE);

    private static Path module(String folder, String lastPart) {
        return Path.of("java", "modules", folder, "com", "incapsula", "sampler", lastPart);
    }

    private static List<Path> sources(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .sorted()
                    .toList();
        }
    }

    /** @return the comment; empty if the file has no public type */
    private static String page(Path file) throws IOException {
        String text = Files.readString(file);
        Matcher matcher = PAGE.matcher(text);
        boolean hasPage = matcher.find();
        assertThat(hasPage || !PUBLIC_TYPE.matcher(text).find())
                .as("a comment on the public type of " + file)
                .isTrue();
        return hasPage ? matcher.group(1) : "";
    }

    @Test
    void everyPublicTypeAndPackageSaysSinceWhen() throws IOException {
        List<Path> folders = new ArrayList<>(MODULES);
        PUBLIC.forEach(folder -> folders.add(SOURCES.resolve(folder)));
        int pages = 0;
        for (Path folder : folders) {
            for (Path file : sources(folder)) {
                String page = page(file);
                if (!page.isEmpty()) {
                    assertThat(page).as(file.toString()).containsPattern("\n \\* @since \\d+\\.\\d+\n");
                    pages++;
                }
            }
        }
        assertThat(pages).as("public types and packages").isGreaterThanOrEqualTo(41);
    }

    @Test
    void everyOutputerAndManipulatorHasAnExample() throws IOException {
        for (String folder : WITH_EXAMPLES) {
            for (Path file : sources(SOURCES.resolve(folder))) {
                String page = page(file);
                boolean isEnum = Files.readString(file).contains("\npublic enum ");
                if (!file.endsWith("package-info.java") && !isEnum && !page.isEmpty()) {
                    assertThat(page).as(file.toString()).contains("<pre>{@code");
                }
            }
        }
    }

    @Test
    void theMainPageLinksEveryPublicPackage() throws IOException {
        String main = page(SOURCES.resolve("package-info.java"));
        for (String folder : PUBLIC) {
            if (!folder.isEmpty()) {
                assertThat(main).contains("{@link com.incapsula.sampler." + folder + "}");
            }
        }
    }

    @Test
    void theMainPageSaysHowToReadAReport() throws IOException {
        assertThat(page(SOURCES.resolve("package-info.java"))).contains("<h2>How to read a report</h2>");
    }
}
