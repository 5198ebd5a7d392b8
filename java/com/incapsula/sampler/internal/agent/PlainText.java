// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

/**
 * Texts of other processes as a terminal may show them. A process of another user can name itself, and answer, as it
 * likes: control characters would move the cursor, or change what stands above.
 */
final class PlainText {

    private PlainText() {}

    /** @return the text with its control and format characters escaped, except for ends of lines and tabulators */
    static String of(String text) {
        if (text.chars().noneMatch(PlainText::isUnsafe)) {
            return text;
        }
        StringBuilder plain = new StringBuilder();
        text.chars().forEach(c -> {
            if (isUnsafe(c)) {
                plain.append(String.format("\\u%04x", c));
            } else {
                plain.append((char) c);
            }
        });
        return plain.toString();
    }

    private static boolean isUnsafe(int c) {
        boolean isControl = Character.isISOControl(c) && c != '\n' && c != '\t';
        return isControl || Character.getType(c) == Character.FORMAT;
    }
}
