// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UtcTimeTest {

    private static final DateTimeFormatter COMPACT =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss'Z'").withZone(ZoneOffset.UTC);

    private static void assertSameAsTheJdk(String time) {
        Instant instant = Instant.parse(time);
        UtcTime made = UtcTime.of(instant.getEpochSecond());
        assertThat(made).hasToString(time);
        assertThat(made.compact()).isEqualTo(COMPACT.format(instant));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1970-01-01T00:00:00Z",
                "1969-12-31T23:59:59Z",
                "2000-02-29T12:00:00Z",
                "2000-03-01T00:00:00Z",
                "1900-02-28T23:59:59Z",
                "1900-03-01T00:00:00Z",
                "2024-02-29T23:59:59Z",
                "2026-11-20T09:08:07Z",
                "2026-12-31T23:59:59Z",
                "2100-03-01T00:00:00Z",
                "9999-12-31T23:59:59Z"
            })
    void daysAtWhichCalendarsGoWrong(String time) {
        assertSameAsTheJdk(time);
    }

    @Test
    void anyTime() {
        Random random = new Random(1);
        long most = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();
        for (int i = 0; i < 10_000; i++) {
            assertSameAsTheJdk(Instant.ofEpochSecond(random.nextLong(0, most)).toString());
        }
    }

    @Test
    void nowIsNow() {
        Instant before = Instant.now();
        Instant now = Instant.parse(UtcTime.now().toString());
        assertThat(now).isBetween(before.minusSeconds(1), Instant.now());
    }
}
