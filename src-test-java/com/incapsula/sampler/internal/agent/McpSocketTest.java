// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.internal.engine.LoadedLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class McpSocketTest {

    @TempDir
    Path folder;

    private void letOthersWrite() throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    private static Path parentOf(McpSocket socket) {
        return socket.path().getParent().getParent();
    }

    @Test
    void socketIsInAFolderOfItsOwn() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolve("link"), Files.createDirectory(folder.resolve("real")));
        try (McpSocket socket = McpSocket.open(link.toString())) {
            assertThat(parentOf(socket)).isEqualTo(folder.resolve("real"));
            assertThat(PosixFilePermissions.toString(
                            Files.getPosixFilePermissions(socket.path().getParent())))
                    .isEqualTo("rwx------");
        }
        assertThat(folder.resolve("real")).isEmptyDirectory();
    }

    /** Another user could replace the folder by one with a socket of that user. */
    @Test
    void aFolderInWhichOthersCanRenameIsNotUsed() throws IOException {
        Path other = Files.createDirectory(folder.resolve("other"));
        letOthersWrite();
        Path safe = Files.createTempDirectory("threads-sampler-test-");
        try (McpSocket socket = McpSocket.open(other.toString(), safe.toString())) {
            assertThat(parentOf(socket)).isEqualTo(safe.toRealPath());
        } finally {
            Files.delete(safe);
        }
        assertThat(other).isEmptyDirectory();
    }

    @Test
    void withoutASafeFolderThatOfTheLibraryIsUsed() throws IOException {
        letOthersWrite();
        try (McpSocket socket = McpSocket.open(folder.toString())) {
            assertThat(parentOf(socket)).isEqualTo(LoadedLibrary.file().getParent());
        }
    }
}
