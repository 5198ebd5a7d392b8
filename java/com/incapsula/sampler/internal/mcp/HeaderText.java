// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/** The text of a header of the protocol: {@code =?base64?...?=} where it has characters that headers do not have. */
final class HeaderText {

    private static final String BEGIN = "=?base64?";
    private static final String END = "?=";

    private HeaderText() {}

    /** @return the text, or null where there is none or it is malformed */
    static @Nullable String decode(@Nullable String value) {
        if (value == null || !value.startsWith(BEGIN) || !value.endsWith(END)) {
            return value;
        }
        try {
            byte[] bytes = Base64.getDecoder().decode(value.substring(BEGIN.length(), value.length() - END.length()));
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException | StringIndexOutOfBoundsException malformed) {
            return null;
        }
    }
}
