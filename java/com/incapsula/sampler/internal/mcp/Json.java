// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The values of JSON as Java objects: {@code Map} (in the order of the text), {@code List}, {@code String},
 * {@code Boolean}, {@link Numeral} and {@link Null}. There is no Java null among them.
 */
final class Json {

    /** The one value {@code null}. */
    enum Null {
        NULL
    }

    /**
     * A number as it was written: an id goes back as it came, and no huge exponent is ever computed.
     *
     * @param text of the grammar of JSON
     */
    record Numeral(String text) {

        /** @return true: it has no fraction and no exponent */
        boolean isInteger() {
            return text.chars().allMatch(c -> c == '-' || (c >= '0' && c <= '9'));
        }
    }

    private Json() {}

    /** @return an object of names and values in turn, in this order */
    static Map<String, Object> object(Object... namesAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            object.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return object;
    }

    /** @return a number of Java as one of JSON */
    static Numeral number(long value) {
        return new Numeral(Long.toString(value));
    }
}
