// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A parameter of a tool: a text, a choice, or a whole number within limits.
 *
 * @param name as the model writes it
 * @param description for the model
 * @param isRequired whether a call without it is refused
 * @param choices the values of a choice; empty for any text
 * @param range the inclusive limits of a number; null for a text
 */
record Parameter(
        String name,
        String description,
        boolean isRequired,
        List<String> choices,
        @Nullable Range range) {

    /** A range of whole numbers. */
    record Range(long min, long max) {}

    static Parameter text(String name, boolean isRequired, String description) {
        return new Parameter(name, description, isRequired, List.of(), null);
    }

    static Parameter choice(String name, List<String> choices, String description) {
        return new Parameter(name, description, false, choices, null);
    }

    static Parameter number(String name, long min, long max, String description) {
        return new Parameter(name, description, false, List.of(), new Range(min, max));
    }

    /** @return its JSON schema */
    Map<String, Object> toJson() {
        Map<String, Object> schema = Json.object("type", range == null ? "string" : "integer");
        schema.put("description", description);
        if (range != null) {
            schema.put("minimum", range.min());
            schema.put("maximum", range.max());
        }
        if (!choices.isEmpty()) {
            schema.put("enum", List.copyOf(choices));
        }
        return schema;
    }

    /**
     * Checks a value.
     *
     * @return the text, or the number as a {@code Long}
     * @throws ToolRefusal if it is no value of this parameter
     */
    Object check(Object value) {
        if (range == null) {
            if (value instanceof String text && (choices.isEmpty() || choices.contains(text))) {
                return text;
            }
            throw new ToolRefusal(name + " must be "
                    + (choices.isEmpty() ? "a string" : "one of " + String.join(", ", choices)) + ", got "
                    + shown(value));
        }
        if (value instanceof Long whole && whole >= range.min() && whole <= range.max()) {
            return whole;
        }
        throw new ToolRefusal(
                name + " must be a whole number from " + range.min() + " to " + range.max() + ", got " + shown(value));
    }

    /* Shortened, as the client knows its own text. */
    private static String shown(Object value) {
        if (value instanceof Map<?, ?>) {
            return "an object";
        }
        if (value instanceof List<?>) {
            return "an array";
        }
        return value instanceof String text ? Frames.quoted(text) : Frames.clean(String.valueOf(value));
    }
}
