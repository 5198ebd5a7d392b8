// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.List;
import java.util.Map;

/**
 * A tool that a model can call. The model sees everything but the answer's code.
 *
 * @param name for calls
 * @param title a few words for people
 * @param description text for the model: what the tool answers, and when to call it
 * @param parameters in the order of the schema
 * @param answer answers calls
 */
record Tool(String name, String title, String description, List<Parameter> parameters, Answer answer) {

    /** Answers calls of a tool. */
    @FunctionalInterface
    interface Answer {

        /**
         * Answers a call.
         *
         * @param arguments checked against the tool's parameters
         * @return text within the budget
         * @throws ToolRefusal if it cannot
         * @throws InterruptedException if the server ends while it waits
         */
        String of(ToolArguments arguments, KeptIntervals intervals) throws InterruptedException;
    }

    /** @return the tool's entry in {@code tools/list} */
    Map<String, Object> toJson() {
        Map<String, Object> properties = Json.object();
        parameters.forEach(parameter -> properties.put(parameter.name(), parameter.toJson()));
        List<Object> required = List.copyOf(parameters.stream()
                .filter(Parameter::isRequired)
                .map(Parameter::name)
                .toList());
        Map<String, Object> schema = Json.object("type", "object", "properties", properties);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        schema.put("additionalProperties", false);
        Map<String, Object> hints = Json.object("title", title, "readOnlyHint", true, "openWorldHint", false);
        Map<String, Object> entry = Json.object("name", name, "title", title, "description", description);
        entry.put("inputSchema", schema);
        entry.put("annotations", hints);
        return entry;
    }
}
