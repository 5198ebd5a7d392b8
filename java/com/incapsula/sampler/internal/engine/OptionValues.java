// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Arrays;

/**
 * Values of all properties as the core takes them: those of {@link Property} in its order, numbers, flags and choices
 * as integers (false and the first choice are 0, true and the second 1), then the texts.
 *
 * <p>Threads: immutable; the arrays are handed out as they are and only read.
 */
final class OptionValues {

    private final long[] integers;
    private final String[] texts;

    OptionValues(Settings settings) {
        Property[] properties = Property.values();
        int textCount = 0;
        for (Property property : properties) {
            textCount += property.isText() ? 1 : 0;
        }
        integers = new long[properties.length - textCount];
        texts = new String[textCount];
        int integer = 0;
        int text = 0;
        for (Property property : properties) {
            if (property.isText()) {
                texts[text++] = (String) settings.get(property);
            } else {
                integers[integer++] = property.toInteger(settings.get(property));
            }
        }
    }

    long[] integers() {
        return integers;
    }

    String[] texts() {
        return texts;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof OptionValues values
                && Arrays.equals(integers, values.integers)
                && Arrays.equals(texts, values.texts);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(integers) + Arrays.hashCode(texts);
    }

    /** Lines {@code name=value}. */
    @Override
    public String toString() {
        StringBuilder lines = new StringBuilder();
        int integer = 0;
        int text = 0;
        for (Property property : Property.values()) {
            lines.append(property.text()).append('=');
            if (property.isText()) {
                lines.append(texts[text++]);
            } else {
                lines.append(property.ofInteger(integers[integer++]));
            }
            lines.append('\n');
        }
        return lines.toString();
    }
}
