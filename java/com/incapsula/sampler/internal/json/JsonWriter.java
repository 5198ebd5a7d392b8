// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.json;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Writes JSON on one line, in ASCII: in MCP's transport over standard streams a message is a line, and some clients
 * treat other characters than the line feed as line ends. The text may be put into an HTML script element.
 */
public final class JsonWriter {

    /* Replaces an unpaired surrogate, which names of the application may have; many readers refuse a text with one. */
    private static final char REPLACEMENT = '\ufffd';

    private static final String HTML = "<>&"; // could end a script element

    private final StringBuilder out = new StringBuilder();

    private JsonWriter() {}

    /**
     * Writes a value.
     *
     * @param value a value of {@link Json}
     * @throws IllegalArgumentException if it is any other
     */
    public static String write(Object value) {
        JsonWriter writer = new JsonWriter();
        writer.value(value);
        return writer.out.toString();
    }

    private void value(Object value) {
        if (value instanceof Map<?, ?> members) {
            object(members);
        } else if (value instanceof List<?> values) {
            list(values);
        } else if (value instanceof String text) {
            string(text);
        } else if (value instanceof Json.Numeral number) {
            out.append(number.text());
        } else if (value instanceof Long || value instanceof Boolean || value == Json.Null.NULL) {
            out.append(value);
        } else {
            throw new IllegalArgumentException("no value of JSON: " + value.getClass());
        }
    }

    private void object(Map<?, ?> members) {
        String separator = "{";
        for (Map.Entry<?, ?> member : members.entrySet()) {
            out.append(separator);
            string((String) member.getKey());
            out.append(':');
            value(member.getValue());
            separator = ",";
        }
        out.append(members.isEmpty() ? "{}" : "}");
    }

    private void list(List<?> values) {
        String separator = "[";
        for (Object each : values) {
            out.append(separator);
            value(each);
            separator = ",";
        }
        out.append(values.isEmpty() ? "[]" : "]");
    }

    private void string(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"', '\\' -> out.append('\\').append(c);
                case '\n' -> out.append("\\n");
                case '\t' -> out.append("\\t");
                default -> {
                    if (c < ' ' || c > '~' || HTML.indexOf(c) >= 0) {
                        escape(Json.isHalfPair(text, i) ? REPLACEMENT : c);
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    private void escape(char c) {
        out.append("\\u").append(HexFormat.of().toHexDigits(c));
    }
}
