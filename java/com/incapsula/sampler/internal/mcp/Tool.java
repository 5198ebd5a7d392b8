// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.List;
import java.util.Map;

/** A tool that a model can call. The model sees its name, description and parameters. */
interface Tool {

    /** @return the name for calls */
    String name();

    /** @return a few words for people */
    String title();

    /** @return text for the model: what the tool answers, and when to call it */
    String description();

    /** @return the parameters in the order of the schema */
    List<Parameter> parameters();

    /**
     * Answers a call.
     *
     * @param arguments checked against {@link #parameters}
     * @return text within the budget
     * @throws ToolRefusal if it cannot
     * @throws InterruptedException if the server ends while it waits
     */
    String call(ToolArguments arguments) throws InterruptedException;

    /** @return the tool's entry in {@code tools/list} */
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
