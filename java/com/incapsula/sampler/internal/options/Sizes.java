// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

import java.util.Locale;

/** Reads sizes such as {@code 65536}, {@code 64KB}, {@code 64MiB} or {@code 1GB}. */
final class Sizes {

    private static final long STEP = 1024;

    private Sizes() {}

    /**
     * Reads a size.
     *
     * @param name the option's name, for messages
     * @param value the text; MB and MiB are both 1024 KB
     * @return bytes
     * @throws IllegalArgumentException if it is not a size
     */
    static long bytes(String name, String value) {
        int digits = 0;
        while (digits < value.length() && Character.isDigit(value.charAt(digits))) {
            digits++;
        }
        long unit = unit(value.substring(digits).strip().toUpperCase(Locale.ROOT));
        try {
            if (digits > 0 && unit > 0) {
                return Math.multiplyExact(Long.parseLong(value.substring(0, digits)), unit);
            }
        } catch (NumberFormatException | ArithmeticException tooLarge) {
            // the message is the same
        }
        throw new IllegalArgumentException(
                name + " must be a size such as 65536, 64KB, 64MB or 1GB, got \"" + value + "\"");
    }

    /** @return 0 if there is no such unit */
    private static long unit(String name) {
        return switch (name) {
            case "", "B" -> 1;
            case "KB", "KIB" -> STEP;
            case "MB", "MIB" -> STEP * STEP;
            case "GB", "GIB" -> STEP * STEP * STEP;
            case "TB", "TIB" -> STEP * STEP * STEP * STEP;
            default -> 0;
        };
    }
}
