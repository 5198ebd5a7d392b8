// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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
    void aLinkToAFolderIsOne() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("real")));
        assertThat(Folders.make(link)).isEqualTo(link);
        assertThat(Folders.make(link.resolve("a"))).isDirectory();
    }

    @Test
    void aFileIsNone() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatExceptionOfType(FileAlreadyExistsException.class).isThrownBy(() -> Folders.make(file));
    }
}
