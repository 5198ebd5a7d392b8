// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Paths from another process, below a folder that stands for its root. */
class TargetFilesTest {

    @TempDir
    Path folder;

    private Path root;
    private Path secret; // outside the root

    @BeforeEach
    void makeFiles() throws IOException {
        root = Files.createDirectories(folder.resolve("root"));
        Files.createDirectories(root.resolve("tmp"));
        Files.writeString(root.resolve("tmp/report"), "report");
        secret = Files.writeString(folder.resolve("secret"), "secret");
        Files.createSymbolicLink(root.resolve("tmp/out"), folder);
        Files.createSymbolicLink(root.resolve("tmp/link"), secret);
    }

    private UserPrincipal owner() throws IOException {
        return Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS);
    }

    @Test
    void aReportIsReadAndRemoved() throws Exception {
        byte[] report = TargetFiles.takeFrom(root, "/tmp/report", owner());
        assertThat(new String(report, StandardCharsets.UTF_8)).isEqualTo("report");
        assertThat(root.resolve("tmp/report")).doesNotExist();
    }

    @Test
    void noLinkLeadsOutOfTheRoot() throws Exception {
        for (String path : List.of("/tmp/out/secret", "/tmp/link", "/tmp/../../secret", "tmp/report", "/", "/tmp")) {
            assertThatExceptionOfType(IOException.class)
                    .as(path)
                    .isThrownBy(() -> TargetFiles.takeFrom(root, path, owner()));
        }
        assertThat(secret).hasContent("secret");
        assertThat(root.resolve("tmp/link")).isSymbolicLink();
    }

    @Test
    void theJarIsCopiedSoThatAllMayReadIt() throws Exception {
        String copy = TargetFiles.copyInto(root, "/tmp", secret);
        assertThat(copy).matches("/tmp/threads-sampler-agent-[0-9a-f]+\\.jar");
        Path copied = root.resolve(copy.substring(1));
        assertThat(copied).hasContent("secret");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(copied)))
                .isEqualTo("rw-r--r--");
    }

    @Test
    void theJarIsNotCopiedThroughALink() {
        for (String path : List.of("/tmp/out", "/tmp/../..", "tmp")) {
            assertThatExceptionOfType(IOException.class)
                    .as(path)
                    .isThrownBy(() -> TargetFiles.copyInto(root, path, secret));
        }
        assertThat(folder.toFile().list()).containsExactlyInAnyOrder("root", "secret");
    }
}
