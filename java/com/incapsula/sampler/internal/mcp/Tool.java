// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.List;
import java.util.Map;

/** A question that a model can ask. Its name, description and parameters are what the model knows of it. */
interface Tool {

    /** @return the name by which it is called */
    String name();

    /** @return a few words for people */
    String title();

    /** @return for the model: what it answers, and when to ask it */
    String description();

    /** @return in the order of the schema */
    List<Parameter> parameters();

    /**
     * Answers.
     *
     * @param arguments checked against {@link #parameters}
     * @return text within the budget
     * @throws ToolRefusal if it cannot
     * @throws InterruptedException if the server ends while it waits
     */
    String call(ToolArguments arguments) throws InterruptedException;

    /** @return as {@code tools/list} describes it */
    default Map<String, Object> toJson() {
        Map<String, Object> properties = Json.object();
        parameters().forEach(parameter -> properties.put(parameter.name(), parameter.toJson()));
        List<Object> required = List.copyOf(parameters().stream()
                .filter(Parameter::isRequired)
                .map(Parameter::name)
                .toList());
        Map<String, Object> schema = Json.object("type", "object", "properties", properties);
        if (!required.isEmpty()) {
            schema.put("required", required);
        }
        schema.put("additionalProperties", false);
        return Json.object(
                "name",
                name(),
                "title",
                title(),
                "description",
                description(),
                "inputSchema",
                schema,
                "annotations",
                Json.object("title", title(), "readOnlyHint", true, "openWorldHint", false));
    }
}
