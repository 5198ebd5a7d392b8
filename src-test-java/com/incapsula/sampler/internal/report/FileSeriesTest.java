// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
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

    private Path make(String name) throws IOException {
        return Files.writeString(folder.resolve(name), "x");
    }

    /** A setting that names no file is refused before the sampler starts. */
    @ParameterizedTest
    @CsvSource({
        "/, must name a file",
        "reports/, must name a file",
        ".., must name a file",
        "x-%t/r.txt, must have %t and %n in the file's own name only",
        "x-%n/r.txt, must have %t and %n in the file's own name only",
        "r-%n-%n.txt, must have %n once",
        "r-%x.txt, 'may have %t, %n, %p, %h and %%, not %x'",
        "r-%, 'may have %t, %n, %p, %h and %%, not %'",
    })
    void aPatternThatNamesNoFileIsRefused(String pattern, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FileSeries(pattern))
                .withMessage("file " + reason + ", got " + pattern);
    }

    /** Files of a similar name are not of this series: they neither count nor are they removed. */
    @ParameterizedTest
    @CsvSource({
        "r-%t.txt, r-20261120-090806Z.txt, r-20261120x090806Z.txt r-20261120-09080Z.txt r-20261120-090806.txt"
                + " r-20261120-090806Z-.txt r-2026112-090806Z.txt",
        "r-%n.txt, r-1.txt, r-.txt r-1x.txt r-x.txt r-1.txt.gz",
        "100%%-%n, 100%-1, 100x-1 100-1 100%%-1",
        "%p-%t, 4194305-20261120-090806Z, x-20261120-090806Z -20261120-090806Z 4194305x20261120-090806Z",
    })
    void onlyFilesOfTheSeriesAreRemoved(String pattern, String old, String others) throws IOException {
        make(old);
        for (String other : others.split(" ")) {
            make(other);
        }
        FileSeries series = new FileSeries(folder.resolve(pattern).toString());
        Path newest = series.write(TIME.atZone(ZoneOffset.UTC).toInstant(), text("new"));
        series.removeOld(newest, 1, Long.MAX_VALUE);
        assertThat(files())
                .contains(others.split(" "))
                .contains(newest.getFileName().toString());
        assertThat(files()).doesNotContain(old).hasSize(others.split(" ").length + 1);
    }

    /** A folder or a link with such a name was made by somebody else. */
    @Test
    void onlyRegularFilesAreRemoved() throws IOException {
        Files.createDirectory(folder.resolve("r-1.txt"));
        Files.createSymbolicLink(folder.resolve("r-2.txt"), make("other"));
        make("r-3.txt");
        FileSeries series = new FileSeries(folder.resolve("r-%n.txt").toString());
        Path newest = series.write(TIME.toInstant(ZoneOffset.UTC), text("new"));
        series.removeOld(newest, 1, Long.MAX_VALUE);
        assertThat(files()).containsExactly("other", "r-1.txt", "r-2.txt", "r-4.txt");
    }

    /** A young temporary file may be that of a process that still writes it. */
    @Test
    void oldFilesOfAKilledProcessAreRemovedByTheCheck() throws IOException {
        FileTime old = FileTime.from(Instant.now().minus(2, ChronoUnit.DAYS));
        for (String name : List.of(".r-1.txt.0.tmp", ".other.0.tmp", "r-2.txt")) {
            Files.setLastModifiedTime(make(name), old);
        }
        make(".r-3.txt.0.tmp");
        new FileSeries(folder.resolve("r-%n.txt").toString()).check();
        assertThat(files()).containsExactlyInAnyOrder(".other.0.tmp", ".r-3.txt.0.tmp", "r-2.txt");
    }

    @Test
    void aFolderInThePlaceOfTheFileFailsTheCheck() throws IOException {
        FileSeries series = new FileSeries(folder.resolve("r.txt").toString());
        Files.createDirectory(folder.resolve("r.txt"));
        assertThatIOException().isThrownBy(series::check).withMessage("it is a folder");
    }
}
