// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {

    private static final Instant NOW = Instant.parse("2026-01-02T03:04:05Z");

    @ParameterizedTest
    @CsvSource({
        "1, 0, , 1000",
        "1, 0.5, , 750",
        "2, 0, , 2000",
        "5, 0, , 16000",
        "6, 0, , 30000",
        "2147483647, 0.98, , 15300",
        "1, 0, 20, 20000",
        "1, 0, 0, 1000",
        "1, 0, ' 3 ', 3000",
        "1, 0, 999999, 300000",
        "1, 0, 99999999999999999999, 1000",
        "1, 0, -5, 1000",
        "1, 0, soon, 1000",
        "1, 0, 'Fri, 02 Jan 2026 03:04:25 GMT', 20000",
        "1, 0, 'Fri, 02 Jan 2026 03:04:00 GMT', 1000",
    })
    void waitsGrowUpToALimitAndHonourRetryAfter(int failures, double random, String retryAfter, long millis) {
        assertThat(Backoff.millis(failures, random, retryAfter, NOW)).isEqualTo(millis);
    }
}
