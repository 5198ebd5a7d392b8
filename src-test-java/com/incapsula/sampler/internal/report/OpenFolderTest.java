// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A folder does the same whether it can be held open or has to be used by its path. */
class OpenFolderTest {

    private static final Path A = Path.of("a");
    private static final Path B = Path.of("b");

    @TempDir
    Path path;

    private OpenFolder open(boolean isHeld) throws IOException {
        return isHeld ? OpenFolder.open(path) : OpenFolder.byPath(path);
    }

    private static void write(OpenFolder folder, Path name, String text) throws IOException {
        try (SeekableByteChannel file = folder.create(name)) {
            file.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void filesAreMadeRenamedAndRemoved(boolean isHeld) throws IOException {
        try (OpenFolder folder = open(isHeld)) {
            write(folder, A, "new");
            Files.writeString(path.resolve(B), "old");
            assertThat(folder.names()).containsExactlyInAnyOrder("a", "b");
            assertThat(folder.attributes(A).size()).isEqualTo(3);
            folder.rename(A, B);
            assertThat(path.resolve(B)).hasContent("new");
            assertThat(folder.attributes(A)).isNull();
            folder.delete(B);
            folder.delete(B);
            assertThat(folder.names()).isEmpty();
        }
    }

    /** Otherwise another user of the folder could make this one write to any file. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aLinkIsNotFollowed(boolean isHeld) throws IOException {
        Files.createSymbolicLink(path.resolve(A), path.resolve(B));
        try (OpenFolder folder = open(isHeld)) {
            assertThatExceptionOfType(FileAlreadyExistsException.class).isThrownBy(() -> folder.create(A));
            assertThat(folder.attributes(A)).as("there is no target").isNull();
            assertThat(folder.attributes(A, LinkOption.NOFOLLOW_LINKS).isSymbolicLink())
                    .isTrue();
            assertThat(folder.names()).containsExactly("a");
        }
    }

    @Test
    void whatIsNoFolderIsNotOpened() throws IOException {
        Path file = Files.writeString(path.resolve(A), "x");
        assertThatExceptionOfType(NotDirectoryException.class).isThrownBy(() -> OpenFolder.open(file));
        assertThatExceptionOfType(NoSuchFileException.class).isThrownBy(() -> OpenFolder.open(path.resolve(B)));
    }
}
