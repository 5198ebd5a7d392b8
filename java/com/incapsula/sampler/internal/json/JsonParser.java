// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A strict parser of JSON (RFC 8259): it refuses comments, trailing commas, duplicate names in an object, and unpaired
 * surrogates. The caller limits the length of the text; the parser limits depth and the length of numbers.
 *
 * <p>Threads: one for each text.
 */
public final class JsonParser {

    /** Limit of nested objects and lists. */
    static final int MAX_DEPTH = 32;

    /** Limit of a number, characters. */
    static final int MAX_NUMBER = 64;

    private static final int HEX_DIGITS = 4;
    private static final int HEX = 16;
    private static final int DECIMAL = 10;

    private final String text;
    private int at;
    private int depth;

    private JsonParser(String text) {
        this.text = text;
    }

    /**
     * Reads one value.
     *
     * @param text the value; blanks around it are allowed
     * @return a value of {@link Json}
     * @throws MalformedJson if the text is anything else
     */
    public static Object parse(String text) throws MalformedJson {
        JsonParser parser = new JsonParser(text);
        Object value = parser.value();
        parser.skipBlanks();
        if (parser.at < text.length()) {
            throw parser.fault("one value has ended, and more follows");
        }
        return value;
    }

    private MalformedJson fault(String what) {
        return new MalformedJson(what, at);
    }

    /* Returns the next character, or 0 at the end; 0 is not valid in JSON. */
    private char peek() {
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void skipBlanks() {
        while (" \t\n\r".indexOf(peek()) >= 0 && at < text.length()) {
            at++;
        }
    }

    private boolean take(char expected) {
        boolean found = peek() == expected && at < text.length();
        at += found ? 1 : 0;
        return found;
    }

    private void require(char expected) throws MalformedJson {
        if (!take(expected)) {
            throw fault("\"" + expected + "\" is missing");
        }
    }

    private Object value() throws MalformedJson {
        skipBlanks();
        return switch (peek()) {
            case '{' -> object();
            case '[' -> list();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", Json.Null.NULL);
            default -> number();
        };
    }

    private Object word(String word, Object value) throws MalformedJson {
        if (!text.startsWith(word, at)) {
            throw fault("no value");
        }
        at += word.length();
        return value;
    }

    private void goDown() throws MalformedJson {
        if (++depth > MAX_DEPTH) {
            throw fault("more than " + MAX_DEPTH + " levels");
        }
        at++;
        skipBlanks();
    }

    private Map<String, Object> object() throws MalformedJson {
        Map<String, Object> members = new LinkedHashMap<>();
        goDown();
        boolean more = !take('}');
        while (more) {
            skipBlanks();
            if (peek() != '"') {
                throw fault("a name is missing");
            }
            String name = string();
            skipBlanks();
            require(':');
            if (members.put(name, value()) != null) {
                throw fault("a name stands twice");
            }
            more = goesOn('}');
        }
        depth--;
        return members;
    }

    private List<Object> list() throws MalformedJson {
        List<Object> values = new ArrayList<>();
        goDown();
        boolean more = !take(']');
        while (more) {
            values.add(value());
            more = goesOn(']');
        }
        depth--;
        return values;
    }

    /** @return true after a comma, false after the end */
    private boolean goesOn(char end) throws MalformedJson {
        skipBlanks();
        if (take(',')) {
            return true;
        }
        require(end);
        return false;
    }

    private String string() throws MalformedJson {
        StringBuilder found = new StringBuilder();
        at++;
        while (!take('"')) {
            char c = peek();
            if (c < ' ') {
                throw fault(at < text.length() ? "a control character in a string" : "a string has no end");
            }
            at++;
            found.append(c == '\\' ? escaped() : c);
        }
        requireWholePairs(found);
        return found.toString();
    }

    private char escaped() throws MalformedJson {
        char c = peek();
        at++;
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> hexadecimal();
            default -> throw fault("no such escape");
        };
    }

    private char hexadecimal() throws MalformedJson {
        int value = 0;
        for (int i = 0; i < HEX_DIGITS; i++) {
            char c = peek();
            int digit = c < 0x80 ? Character.digit(c, HEX) : -1;
            if (digit < 0) {
                throw fault("four hexadecimal digits are missing");
            }
            value = value * HEX + digit;
            at++;
        }
        return (char) value;
    }

    /* An unpaired surrogate cannot be encoded in UTF-8, so the text could not be sent back. */
    private void requireWholePairs(CharSequence found) throws MalformedJson {
        for (int i = 0; i < found.length(); i++) {
            if (Json.isHalfPair(found, i)) {
                throw fault("half a surrogate pair");
            }
        }
    }

    private Object number() throws MalformedJson {
        int begin = at;
        boolean isWhole = true;
        take('-');
        if (!take('0')) {
            digits();
        }
        if (take('.')) {
            isWhole = false;
            digits();
        }
        if (take('e') || take('E')) {
            isWhole = false;
            if (!take('+')) {
                take('-');
            }
            digits();
        }
        if (at - begin > MAX_NUMBER) {
            throw fault("a number of more than " + MAX_NUMBER + " characters");
        }
        return isWhole ? whole(begin) : new Json.Numeral(text.substring(begin, at));
    }

    private Object whole(int begin) {
        try {
            return Long.parseLong(text, begin, at, DECIMAL);
        } catch (NumberFormatException tooLarge) {
            return new Json.Numeral(text.substring(begin, at));
        }
    }

    private void digits() throws MalformedJson {
        int begin = at;
        while (peek() >= '0' && peek() <= '9') {
            at++;
        }
        if (at == begin) {
            throw fault(begin < text.length() ? "no value" : "the text has no end");
        }
    }
}
