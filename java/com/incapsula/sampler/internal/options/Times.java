// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

/** Times as users write them: {@code 20ms}, {@code 10s}, {@code 5m}, {@code 1h}, {@code 1d}. */
public final class Times {

    /** Milliseconds of a second. */
    public static final long SECOND_MILLIS = 1000;

    private Times() {}

    /**
     * Reads a time.
     *
     * @param name the option's, for messages
     * @param value the text
     * @param bareMillis what a number without a unit counts
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
     * @param value the text
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

    /** @return 0: there is no such unit */
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
