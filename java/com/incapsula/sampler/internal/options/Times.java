// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

import java.time.Duration;

/** Reads times such as {@code 20ms}, {@code 10s}, {@code 5m}, {@code 1h} or {@code 1d}. */
public final class Times {

    /** Milliseconds in a second. */
    public static final long SECOND_MILLIS = 1000;

    private static final int NANOS_PER_MILLI = 1_000_000;

    private Times() {}

    /**
     * Reads a time.
     *
     * @param name the option's, for messages
     * @param bareMillis the unit of a number without a unit, milliseconds
     * @return milliseconds
     * @throws IllegalArgumentException if it is no such time
     */
    public static long millis(String name, String value, long bareMillis) {
        int digits = 0;
        while (digits < value.length() && Character.isDigit(value.charAt(digits))) {
            digits++;
        }
        long unit = unitMillis(value.substring(digits), bareMillis);
        try {
            if (digits > 0 && unit > 0) {
                return Math.multiplyExact(Long.parseLong(value.substring(0, digits)), unit);
            }
        } catch (NumberFormatException | ArithmeticException tooLarge) {
            // the message is the same
        }
        throw new IllegalArgumentException(name + " must be a time such as 20ms, 10s, 5m or 1h, got \"" + value + "\"");
    }

    /**
     * As {@link #millis}; a number without a unit is seconds.
     *
     * @param name the option's, for messages
     * @return seconds
     * @throws IllegalArgumentException if it is no such time, or not whole seconds
     */
    public static long wholeSeconds(String name, String value) {
        long millis = millis(name, value, SECOND_MILLIS);
        if (millis % SECOND_MILLIS != 0) {
            throw new IllegalArgumentException(name + " must be whole seconds, got \"" + value + "\"");
        }
        return millis / SECOND_MILLIS;
    }

    /**
     * A time as a number.
     *
     * @param name the option's, for messages
     * @return milliseconds
     * @throws IllegalArgumentException if it is null, too long, or not whole milliseconds
     */
    public static long wholeMillis(String name, Duration value) {
        requireNotNull(name, value);
        if (value.toNanosPart() % NANOS_PER_MILLI != 0) {
            throw new IllegalArgumentException(name + " must be whole milliseconds, got " + value);
        }
        try {
            return value.toMillis();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(name + " is too long: " + value, e);
        }
    }

    /**
     * A time as a number.
     *
     * @param name the option's, for messages
     * @return seconds
     * @throws IllegalArgumentException if it is null, or not whole seconds
     */
    public static long wholeSeconds(String name, Duration value) {
        requireNotNull(name, value);
        if (value.getNano() != 0) {
            throw new IllegalArgumentException(name + " must be whole seconds, got " + value);
        }
        return value.getSeconds();
    }

    private static void requireNotNull(String name, Duration value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " must not be null");
        }
    }

    /** @return 0 if there is no such unit */
    private static long unitMillis(String unit, long bareMillis) {
        return switch (unit) {
            case "" -> bareMillis;
            case "ms" -> 1;
            case "s" -> SECOND_MILLIS;
            case "m", "min" -> 60 * SECOND_MILLIS;
            case "h" -> 3600 * SECOND_MILLIS;
            case "d" -> 24 * 3600 * SECOND_MILLIS;
            default -> 0;
        };
    }
}
