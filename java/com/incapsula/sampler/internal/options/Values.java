// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks values of properties, and reads them from text. All methods throw an {@link IllegalArgumentException} that
 * begins with the property's name if a value is wrong.
 *
 * <p>Threads: any.
 */
public final class Values {

    /** Milliseconds in a second. */
    public static final long SECOND_MILLIS = 1000;

    private static final int NANOS_PER_MILLI = 1_000_000;
    private static final long STEP = 1024; // between two units of size
    private static final long WRONG = -1; // no amount

    private Values() {}

    // ---- checks ----

    /** {@return the value, which is not null} */
    public static <T> T notNull(String name, @Nullable T value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " must not be null");
        }
        return value;
    }

    /** {@return the text, which is neither null nor blank} */
    public static String notBlank(String name, @Nullable String value) {
        if (value == null || value.isBlank()) {
            throw new IllegalArgumentException(name + " must not be " + (value == null ? "null" : "blank"));
        }
        return value;
    }

    /** {@return the number, which is between these limits} */
    public static long between(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + " must be between " + min + " and " + max + ", got " + value);
        }
        return value;
    }

    /** {@return the time in milliseconds, which are whole} */
    public static long wholeMillis(String name, Duration value) {
        notNull(name, value);
        if (value.toNanosPart() % NANOS_PER_MILLI != 0) {
            throw new IllegalArgumentException(name + " must be whole milliseconds, got " + value);
        }
        try {
            return value.toMillis();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(name + " is too long: " + value, e);
        }
    }

    /** {@return the time in seconds, which are whole} */
    public static long wholeSeconds(String name, Duration value) {
        notNull(name, value);
        if (value.getNano() != 0) {
            throw new IllegalArgumentException(name + " must be whole seconds, got " + value);
        }
        return value.getSeconds();
    }

    // ---- texts ----

    /**
     * {@return the constant of this name, in upper or lower case}
     *
     * @param choices all constants
     * @param others further names that the caller knows, for the message
     */
    public static <E extends Enum<E>> E choice(String name, E[] choices, String text, String... others) {
        for (E each : choices) {
            if (each.name().equalsIgnoreCase(text)) {
                return each;
            }
        }
        Stream<String> names = Arrays.stream(choices).map(each -> each.name().toLowerCase(Locale.ROOT));
        throw new IllegalArgumentException(name + " must be one of "
                + Stream.concat(Arrays.stream(others), names).collect(Collectors.joining(", ")) + ", got \"" + text
                + "\"");
    }

    /**
     * {@return a time such as {@code 20ms}, {@code 10s}, {@code 5m}, {@code 1h} or {@code 1d}, in milliseconds}
     *
     * @param bareMillis the unit of a number without a unit, milliseconds
     */
    public static long millis(String name, String text, long bareMillis) {
        int end = endOfDigits(text);
        long millis = amount(text, end, unitMillis(text.substring(end), bareMillis));
        if (millis == WRONG) {
            throw new IllegalArgumentException(
                    name + " must be a time such as 20ms, 10s, 5m or 1h, got \"" + text + "\"");
        }
        return millis;
    }

    /** {@return a time as {@link #millis} reads it, in seconds, which are whole; a number without a unit is seconds} */
    public static long wholeSeconds(String name, String text) {
        long millis = millis(name, text, SECOND_MILLIS);
        if (millis % SECOND_MILLIS != 0) {
            throw new IllegalArgumentException(name + " must be whole seconds, got \"" + text + "\"");
        }
        return millis / SECOND_MILLIS;
    }

    /** {@return a size such as {@code 65536}, {@code 64KB} or {@code 64MiB}, in bytes} MB and MiB are both 1024 KB. */
    static long bytes(String name, String text) {
        int end = endOfDigits(text);
        long bytes = amount(text, end, unitBytes(text.substring(end).strip().toUpperCase(Locale.ROOT)));
        if (bytes == WRONG) {
            throw new IllegalArgumentException(
                    name + " must be a size such as 65536, 64KB, 64MB or 1GB, got \"" + text + "\"");
        }
        return bytes;
    }

    private static int endOfDigits(String text) {
        int end = 0;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        return end;
    }

    /* unit: 0 if there is no such unit. */
    private static long amount(String text, int endOfDigits, long unit) {
        if (endOfDigits == 0 || unit == 0) {
            return WRONG;
        }
        try {
            return Math.multiplyExact(Long.parseLong(text.substring(0, endOfDigits)), unit);
        } catch (NumberFormatException | ArithmeticException tooLarge) {
            return WRONG;
        }
    }

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

    private static long unitBytes(String unit) {
        return switch (unit) {
            case "", "B" -> 1;
            case "KB", "KIB" -> STEP;
            case "MB", "MIB" -> STEP * STEP;
            case "GB", "GIB" -> STEP * STEP * STEP;
            case "TB", "TIB" -> STEP * STEP * STEP * STEP;
            default -> 0;
        };
    }
}
