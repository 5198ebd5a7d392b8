// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Lists in the form of OpenTelemetry's environment variables: {@code key=value,key=value}, with values in percent
 * encoding.
 *
 * <p>Threads: any.
 */
public final class KeyValues {

    private KeyValues() {}

    /**
     * Reads a list.
     *
     * @param name the property's, for messages
     * @param text the list; blanks around keys and values are dropped, empty parts are ignored
     * @return the values by key, in the order of the list; if a key occurs twice, its last value
     * @throws IllegalArgumentException naming the property; the message has no value, which may be a secret
     */
    public static Map<String, String> parse(String name, String text) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String part : text.split(",", -1)) {
            if (part.isBlank()) {
                continue;
            }
            int at = part.indexOf('=');
            if (at <= 0 || part.substring(0, at).isBlank()) {
                throw new IllegalArgumentException(name
                        + " must be key=value pairs separated by commas, got a part without a key or without \"=\"");
            }
            String key = part.substring(0, at).strip();
            found.put(key, decoded(name, key, part.substring(at + 1).strip()));
        }
        return found;
    }

    /* Unlike in HTML forms, a plus sign is not a blank. */
    private static String decoded(String name, String key, String value) {
        try {
            return URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    name + " must be in percent encoding, which the value of \"" + key + "\" is not", e);
        }
    }
}
