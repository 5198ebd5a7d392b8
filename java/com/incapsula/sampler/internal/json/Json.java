// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.json;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The values of JSON as Java objects: {@code Map} (in the order of the text), {@code List}, {@code String},
 * {@code Boolean}, {@code Long}, {@link Numeral} and {@link Null}. There is no Java null among them.
 */
public final class Json {

    /** The one value {@code null}. */
    public enum Null {
        /** JSON's null, as distinct from Java's. */
        NULL;

        @Override
        public String toString() {
            return "null";
        }
    }

    /**
     * A number that does not fit {@code Long}, as text. So an id is returned unchanged, and huge exponents are never
     * computed.
     *
     * @param text the number in the grammar of JSON
     */
    public record Numeral(String text) {

        /** {@return true if it has no fraction and no exponent} */
        public boolean isInteger() {
            return text.chars().allMatch(c -> c == '-' || (c >= '0' && c <= '9'));
        }

        @Override
        public String toString() {
            return text;
        }
    }

    private Json() {}

    /** Reads a member that may be missing. @return the value; null if it is missing or JSON's null */
    public static @Nullable Object get(Map<String, Object> object, String name) {
        Object value = object.get(name);
        return value == Null.NULL ? null : value;
    }

    /**
     * Creates an object.
     *
     * @param namesAndValues in turn
     * @return the object, in this order
     */
    public static Map<String, Object> object(Object... namesAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            object.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return object;
    }

    /* True if the character at this index is half of a surrogate pair without the other half. */
    static boolean isHalfPair(CharSequence text, int at) {
        char c = text.charAt(at);
        return Character.isHighSurrogate(c)
                ? at + 1 == text.length() || !Character.isLowSurrogate(text.charAt(at + 1))
                : Character.isLowSurrogate(c) && (at == 0 || !Character.isHighSurrogate(text.charAt(at - 1)));
    }
}
