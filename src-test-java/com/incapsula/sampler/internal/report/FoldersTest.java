// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FoldersTest {

    @TempDir
    Path folder;

    @Test
    void foldersThatAreMissingAreMade() throws IOException {
        Path deep = folder.resolve("a/b");
        assertThat(Folders.make(deep)).isEqualTo(deep).isDirectory();
        assertThat(Folders.make(deep)).isDirectory();
    }

    @Test
    void aLinkToAFolderIsAFolder() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("real")));
        assertThat(Folders.make(link)).isEqualTo(link);
        assertThat(Folders.make(link.resolve("a"))).isDirectory();
    }

    @Test
    void aFileIsNone() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatExceptionOfType(FileAlreadyExistsException.class).isThrownBy(() -> Folders.make(file));
    }

    private void assertUnsafe(Path path, String reason) {
        assertThatIOException()
                .isThrownBy(() -> Folders.requireSafe(folder, path))
                .withMessage(reason);
    }

    @Test
    void aFolderThatOthersCannotReplaceIsSafe() throws IOException {
        Path outer = Files.createDirectory(folder.resolve("outer"));
        Path inner = Files.createDirectory(outer.resolve("inner"));
        Path path = Path.of("/outer/inner");
        Folders.requireSafe(folder, path);
        for (int mode : new int[] {0775, 02775, 0757, 0777}) {
            Files.setAttribute(outer, "unix:mode", mode);
            assertUnsafe(path, "others can write to " + outer + " and its sticky bit is not set");
            Files.setAttribute(outer, "unix:mode", mode | 01000);
            Folders.requireSafe(folder, path);
        }
        Files.setAttribute(inner, "unix:mode", 0770);
        assertUnsafe(path, "others can write to " + inner + " and its sticky bit is not set");
        Files.delete(inner);
        Files.createSymbolicLink(inner, folder);
        assertUnsafe(path, inner + " is not a folder");
    }

    @Test
    void anotherUserIsTrustedOnlyIfNamed() throws IOException {
        int user = Folders.userOfThisProcess();
        assertThat(Files.getAttribute(Files.createFile(folder.resolve("file")), "unix:uid"))
                .isEqualTo(user);
        assumeTrue(user == 0, "only root can give files away");
        Path outer = Files.createDirectory(folder.resolve("outer"));
        Files.setAttribute(outer, "unix:uid", 65_534);
        assertThatIOException()
                .isThrownBy(() -> Folders.requireSafe(folder, Path.of("outer")))
                .withMessageStartingWith(outer + " belongs to ");
        Folders.requireSafe(folder, Path.of("outer"), 65_534);
    }
}
