// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import org.jspecify.annotations.Nullable;

/**
 * The wait before a report is sent again: a second, doubled after each failure, up to half a minute. Each wait is
 * shortened at random by up to a half, so that clients that failed together do not retry together.
 *
 * <p>Threads: any.
 */
final class Backoff {

    static final long FIRST_MILLIS = 1_000;
    static final long LONGEST_MILLIS = 30_000;

    /** Limit of a peer's {@code Retry-After}, milliseconds. */
    static final long LONGEST_RETRY_AFTER_MILLIS = 300_000;

    private static final int MAX_DOUBLINGS = 10;

    private Backoff() {}

    /**
     * Computes the wait before an attempt.
     *
     * @param failures the number of failures, 1 or more
     * @param random from 0 to below 1
     * @param retryAfter the header of this name, or null
     * @param now by the wall clock
     * @return milliseconds, at least as long as the header demands
     */
    static long millis(int failures, double random, @Nullable String retryAfter, Instant now) {
        long doubled = FIRST_MILLIS << Math.min(failures - 1, MAX_DOUBLINGS);
        long longest = Math.min(doubled, LONGEST_MILLIS);
        long own = Math.round(longest * (1 - random / 2));
        return Math.max(own, Math.min(retryAfterMillis(retryAfter, now), LONGEST_RETRY_AFTER_MILLIS));
    }

    /** @return the wait of a header with seconds or a date; 0 if it has neither */
    private static long retryAfterMillis(@Nullable String retryAfter, Instant now) {
        if (retryAfter == null) {
            return 0;
        }
        String text = retryAfter.strip();
        try {
            if (text.chars().allMatch(c -> c >= '0' && c <= '9')) {
                return Duration.ofSeconds(Long.parseLong(text)).toMillis();
            }
            Instant until = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return Math.max(0, Duration.between(now, until).toMillis());
        } catch (NumberFormatException | ArithmeticException | DateTimeParseException unreadable) {
            return 0;
        }
    }
}
