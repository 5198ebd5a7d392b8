// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Random;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A gzip document that begins before its content exists. */
class EarlyGzipTest {

    private final ByteArrayOutputStream written = new ByteArrayOutputStream();
    private final EarlyGzip early = new EarlyGzip(written);

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 600})
    void beatsMeanNothing(int beats) throws IOException {
        byte[] content = new byte[100_000];
        new Random(5).nextBytes(content);
        early.begin();
        for (int i = 0; i < beats; i++) {
            early.beat();
        }
        try (GZIPOutputStream gzip = new GZIPOutputStream(early)) {
            gzip.write(content);
        }
        GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(written.toByteArray()));
        assertThat(in.readAllBytes()).isEqualTo(content);
    }

    @Test
    void headerInPiecesIsLeftOutToo() throws IOException {
        ByteArrayOutputStream document = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(document)) {
            gzip.write(7);
        }
        early.begin();
        early.beat();
        for (byte each : document.toByteArray()) {
            early.write(each);
        }
        assertThat(new GZIPInputStream(new ByteArrayInputStream(written.toByteArray())).readAllBytes())
                .containsExactly(7);
    }

    @Test
    void longerHeaderIsNotCutInTheMiddle() throws IOException {
        early.begin();
        assertThatIOException().isThrownBy(() -> early.write(new byte[] {0x1f, (byte) 0x8b, 8, 8}));
    }
}
