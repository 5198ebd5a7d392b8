// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnerMarkTest {

    @TempDir
    Path folder;

    private final Properties properties = new Properties();

    private OwnerMark mark(String... mapped) throws IOException {
        StringBuilder lines = new StringBuilder("55d0-55d1 r--p 00000000 08:01 1 /usr/bin/java\n");
        for (String path : mapped) {
            lines.append("7f00-7f01 r-xp 00000000 08:01 2                          ").append(path).append('\n');
        }
        Path file = folder.resolve("maps");
        Files.writeString(file, lines);
        return new OwnerMark(properties, file.toString());
    }

    private static void assertRefused(OwnerMark mark, String library, String other) {
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(() -> mark.claim(library))
                .withMessage("another copy of threads-sampler is loaded in this JVM, by another class loader, from "
                        + other + ": keep one copy, in a class loader that all its users share");
    }

    @Test
    void firstClaimIsMarked() throws IOException {
        mark().claim("/a.so");
        assertThat(properties.getProperty("com.incapsula.sampler.owner")).isEqualTo("/a.so");
    }

    @Test
    void otherCopyThatIsMappedIsRefused() throws IOException {
        mark().claim("/a.so");
        assertRefused(mark("/a.so"), "/b.so", "/a.so");
        assertRefused(mark("/a.so (deleted)"), "/a.so", "/a.so");
        assertThat(properties.getProperty(OwnerMark.PROPERTY)).isEqualTo("/a.so");
    }

    @Test
    void markOfAClassLoaderThatIsGoneIsReplaced() throws IOException {
        mark().claim("/a.so");
        mark("/other.so").claim("/b.so");
        assertThat(properties.getProperty(OwnerMark.PROPERTY)).isEqualTo("/b.so");
    }

    @Test
    void libraryOfTheJvmItselfNeverGoes() throws IOException {
        mark().claim(OwnerMark.AGENT);
        assertRefused(mark(), "/b.so", "-agentpath");
    }

    @Test
    void unreadableMapIsNoPermission() {
        OwnerMark blind = new OwnerMark(properties, folder.resolve("none").toString());
        blind.claim("/a.so");
        assertRefused(blind, "/b.so", "/a.so");
    }

    @Test
    void releasedMarkIsGone() throws IOException {
        OwnerMark mark = mark("/a.so");
        mark.claim("/a.so");
        mark.release();
        mark.claim("/b.so");
        assertThat(properties.getProperty(OwnerMark.PROPERTY)).isEqualTo("/b.so");
    }
}
