// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of one call, checked.
 *
 * <p>Threads: immutable.
 */
final class ToolArguments {

    static final String BUDGET = "budget_chars";

    private static final long MIN_BUDGET = 500;
    private static final long MAX_BUDGET = 50_000;
    private static final int STANDARD_BUDGET = 4_000;

    private final Map<String, Object> values = new HashMap<>();

    /** The parameter that all tools have. */
    static Parameter budget() {
        return Parameter.number(
                BUDGET,
                MIN_BUDGET,
                MAX_BUDGET,
                "The answer has at most so many characters (default " + STANDARD_BUDGET
                        + "). Rows with the smallest share are left out; the last line says how much that is.");
    }

    /** Checks arguments. @throws ToolRefusal if one is unknown, missing or wrong */
    ToolArguments(Tool tool, Map<?, ?> given) {
        List<Parameter> parameters = tool.parameters();
        given.forEach((name, value) -> {
            Parameter parameter = parameters.stream()
                    .filter(each -> each.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new ToolRefusal(tool.name() + " has no argument \"" + Frames.clean(name + "")
                            + "\"; it has " + names(parameters)));
            if (value != Json.Null.NULL) {
                values.put(parameter.name(), parameter.check(value));
            }
        });
        for (Parameter parameter : parameters) {
            if (parameter.isRequired() && !values.containsKey(parameter.name())) {
                throw new ToolRefusal(tool.name() + " needs the argument " + parameter.name());
            }
        }
    }

    private static String names(List<Parameter> parameters) {
        return parameters.stream().map(Parameter::name).collect(Collectors.joining(", "));
    }

    /** @return the value, or null if it was not given */
    @Nullable
    String text(String name) {
        return (String) values.get(name);
    }

    /** @return the value, or the default if it was not given */
    int number(String name, int standard) {
        return ((Long) values.getOrDefault(name, (long) standard)).intValue();
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    /** @return the limit of the answer, characters */
    int budgetChars() {
        return number(BUDGET, STANDARD_BUDGET);
    }
}
