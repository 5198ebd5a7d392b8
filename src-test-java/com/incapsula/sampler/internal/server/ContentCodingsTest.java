// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether an answer may be compressed. */
class ContentCodingsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gzip",
                "GZip",
                "x-gzip",
                "gzip, deflate, br",
                "deflate,gzip;q=1.0",
                "gzip;q=0.001",
                "*",
                "br;q=1.0, *;q=0.1",
                "gzip ; q=0.5",
                "identity;q=0.5, gzip;q=0.5",
                "gzip;q=0.5, identity;q=0",
                "gzip;Q = 1"
            })
    void gzipIsWanted(String header) {
        assertThat(ContentCodings.acceptGzip(List.of(header))).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "identity",
                "deflate, br",
                "gzip;q=0",
                "gzip;q=0.000",
                "gzip;q=0, *",
                "*;q=0",
                "identity, gzip;q=0.5",
                "gzip;q=x",
                "gzip;q=",
                "gzip;",
                "gzip;level=9",
                "gzip;q=2",
                "gzip;q=-1",
                "gzipped",
                ",;,;q=1"
            })
    void gzipIsNotWanted(String header) {
        assertThat(ContentCodings.acceptGzip(List.of(header))).isFalse();
    }

    @Test
    void headersAddUp() {
        assertThat(ContentCodings.acceptGzip(null)).isFalse();
        assertThat(ContentCodings.acceptGzip(List.of())).isFalse();
        assertThat(ContentCodings.acceptGzip(List.of("br", "gzip"))).isTrue();
        assertThat(ContentCodings.acceptGzip(List.of("br, identity", "gzip;q=0.9")))
                .isFalse();
    }
}
