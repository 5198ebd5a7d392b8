// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Files of one series that are written at the same time: by JVMs with a shared volume, or by samplers of one JVM at its
 * exit.
 */
class FileSeriesTest {

    private static final LocalDateTime TIME = LocalDateTime.of(2026, 11, 20, 9, 8, 7);

    @TempDir
    Path folder;

    private Path write(String pattern, Writable content) throws IOException {
        return new FileSeries(folder.resolve(pattern).toString())
                .write(TIME.atZone(ZoneOffset.UTC).toInstant(), content);
    }

    private static Writable text(String text) {
        return out -> out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "r-%t.txt, r-20261120-090807Z.txt, r-20261120-090807Z-2.txt",
        "r-%n.txt, r-1.txt, r-2.txt",
        "%t-%n, 20261120-090807Z-1, 20261120-090807Z-2"
    })
    void aFileThatAnotherWritesMeanwhileHasAnotherName(String pattern, String first, String second) throws IOException {
        Path written = write(pattern, out -> {
            assertThat(write(pattern, text("another's"))).isEqualTo(folder.resolve(second));
            text("ours").writeTo(out);
        });
        assertThat(written).isEqualTo(folder.resolve(first)).hasContent("ours");
        assertThat(folder.resolve(second)).hasContent("another's");
        assertThat(files()).containsExactlyInAnyOrder(first, second);
    }

    @Test
    void aFileWithOneNameReplacesTheOneBefore() throws IOException {
        Path written = write("r.txt", out -> {
            write("r.txt", text("another's"));
            text("ours").writeTo(out);
        });
        assertThat(written).hasContent("ours");
        assertThat(files()).containsExactly("r.txt");
    }

    /** The other file is written by a program that does not know about names of unfinished files. */
    @ParameterizedTest
    @CsvSource({
        "r-%t.txt, r-20261120-090807Z.txt, r-20261120-090807Z-2.txt",
        "r-%n.txt, r-1.txt, r-2.txt",
    })
    void aFileThatHasComeMeanwhileStays(String pattern, String first, String second) throws IOException {
        Path written = write(pattern, out -> {
            Files.writeString(folder.resolve(first), "another's");
            text("ours").writeTo(out);
        });
        assertThat(written).isEqualTo(folder.resolve(second)).hasContent("ours");
        assertThat(folder.resolve(first)).hasContent("another's");
        assertThat(files()).containsExactlyInAnyOrder(first, second);
    }

    @Test
    void aFailureLeavesNothing() throws IOException {
        assertThatIOException()
                .isThrownBy(() -> write(
                        "r-%n.txt",
                        out -> {
                            out.write(1);
                            throw new IOException("no space");
                        }))
                .withMessage("cannot write " + folder.resolve("r-1.txt") + ": no space");
        assertThat(files()).isEmpty();
    }
}
