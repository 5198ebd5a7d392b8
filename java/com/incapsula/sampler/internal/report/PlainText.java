// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

/**
 * Makes foreign texts safe for a terminal or a line of a report. Thread names, and answers of another user's process,
 * may have any characters; some would move the cursor, end the line, or hide or reverse the text around them.
 * {@code native/src/model/escape.h} has the same rule.
 */
public final class PlainText {

    private PlainText() {}

    /**
     * Escapes a text of several lines.
     *
     * @return the text with the characters of {@link #isHidden} escaped, except for line ends and tabs
     */
    public static String of(String text) {
        if (text.codePoints().noneMatch(PlainText::isUnsafe)) {
            return text;
        }
        StringBuilder plain = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (isUnsafe(c)) {
                escape(plain, c);
            } else {
                plain.appendCodePoint(c);
            }
        });
        return plain.toString();
    }

    private static boolean isUnsafe(int c) {
        return c != '\n' && c != '\t' && isHidden(c);
    }

    /**
     * Whether a character must be escaped.
     *
     * @return true for control and format characters, and for separators of lines and paragraphs
     */
    public static boolean isHidden(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR -> true;
            default -> false;
        };
    }

    /** Appends a character as {@code \}{@code u001b}; above U+FFFF, its surrogate pair. */
    public static void escape(StringBuilder to, int codePoint) {
        for (char c : Character.toChars(codePoint)) {
            to.append(String.format("\\u%04x", (int) c));
        }
    }
}
