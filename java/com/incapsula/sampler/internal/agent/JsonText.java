// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes a JSON document: objects as maps in their order, arrays as lists, whole numbers as {@link Long},
 * others as {@link Double}.
 *
 * <p>Threads: one.
 */
final class JsonText {

    private static final int MAX_DEPTH = 32; // a report has 5

    private final String text;
    private int at;

    private JsonText(String text) {
        this.text = text;
    }

    /**
     * Reads a document.
     *
     * @throws IllegalArgumentException with the place, if it is none
     */
    static @Nullable Object read(String text) {
        JsonText json = new JsonText(text);
        Object value = json.value(0);
        json.skipBlanks();
        if (json.at < text.length()) {
            throw json.wrong();
        }
        return value;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON at character " + at);
    }

    private void skipBlanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char next() {
        skipBlanks();
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at);
    }

    private void expect(char c) {
        if (next() != c) {
            throw wrong();
        }
        at++;
    }

    private @Nullable Object value(int depth) {
        if (depth > MAX_DEPTH) {
            throw wrong();
        }
        return switch (next()) {
            case '{' -> object(depth);
            case '[' -> array(depth);
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong();
        }
        at += word.length();
        return value;
    }

    private Map<String, @Nullable Object> object(int depth) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        expect('{');
        if (next() != '}') {
            readMember(members, depth);
            while (next() == ',') {
                at++;
                readMember(members, depth);
            }
        }
        expect('}');
        return members;
    }

    private void readMember(Map<String, @Nullable Object> members, int depth) {
        String name = string();
        expect(':');
        members.put(name, value(depth + 1));
    }

    private List<@Nullable Object> array(int depth) {
        List<@Nullable Object> elements = new ArrayList<>();
        expect('[');
        if (next() != ']') {
            elements.add(value(depth + 1));
            while (next() == ',') {
                at++;
                elements.add(value(depth + 1));
            }
        }
        expect(']');
        return elements;
    }

    private Number number() {
        int from = at;
        while (at < text.length() && "+-.0123456789Ee".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        String digits = text.substring(from, at);
        try {
            return digits.chars().allMatch(c -> c == '-' || Character.isDigit(c))
                    ? (Number) Long.valueOf(digits)
                    : Double.valueOf(digits);
        } catch (NumberFormatException e) {
            at = from;
            throw wrong();
        }
    }

    private String string() {
        StringBuilder value = new StringBuilder();
        expect('"');
        for (char c = character(); c != '"'; c = character()) {
            value.append(c == '\\' ? escaped() : c);
        }
        return value.toString();
    }

    private char character() {
        if (at >= text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    private char escaped() {
        char c = character();
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unit();
            default -> throw wrong();
        };
    }

    private char unit() {
        if (at + 4 > text.length()) {
            throw wrong();
        }
        try {
            char unit = (char) Integer.parseInt(text, at, at + 4, 16);
            at += 4;
            return unit;
        } catch (NumberFormatException e) {
            throw wrong();
        }
    }

    // ---- writing

    /** Writes a value that {@link #read} may give; the text can stand in an HTML script element. */
    static void write(StringBuilder out, @Nullable Object value) {
        if (value instanceof Map<?, ?> members) {
            String separator = "{";
            for (Map.Entry<?, ?> member : members.entrySet()) {
                out.append(separator);
                writeString(out, String.valueOf(member.getKey()));
                out.append(':');
                write(out, member.getValue());
                separator = ",";
            }
            out.append(members.isEmpty() ? "{}" : "}");
        } else if (value instanceof List<?> elements) {
            String separator = "[";
            for (Object element : elements) {
                out.append(separator);
                write(out, element);
                separator = ",";
            }
            out.append(elements.isEmpty() ? "[]" : "]");
        } else if (value instanceof String string) {
            writeString(out, string);
        } else {
            out.append(value);
        }
    }

    private static void writeString(StringBuilder out, String value) {
        out.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || "<>&\u007f\u2028\u2029".indexOf(c) >= 0 || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }
}
