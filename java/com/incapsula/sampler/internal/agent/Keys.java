// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.options.BeanProperties;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The keys of settings. The key of a sampler's property is its name; some properties have a short key, too. The other
 * keys are the agent's own.
 *
 * <p>Threads: any.
 */
final class Keys {

    static final String FILE = "file";
    static final String FORMAT = "format";
    static final String KEEP = "keep";
    static final String MEASURE = "measure";
    static final String PER = "per";
    static final String FOCUS = "focus";
    static final String OUTPUT = "output"; // the same as FILE
    static final String TO = "to";
    static final String HTTP = "http";
    static final String PUSH = "push";
    static final String PUSH_HEADERS = "pushHeaders";
    static final String MCP = "mcp";
    static final String THREADS = "threads";
    static final String CONFIG = "config";
    static final String DURATION = "duration";
    static final String EVERY = "reportFrequencySeconds";
    static final String RECORDED = "jfrEvents";

    /** The format of a report that is sent to the command line. */
    static final String CONTENT = "content";

    private static final List<String> OWN = List.of(
            FILE,
            FORMAT,
            KEEP,
            MEASURE,
            PER,
            FOCUS,
            TO,
            HTTP,
            MCP,
            PUSH,
            PUSH_HEADERS,
            THREADS,
            CONFIG,
            DURATION,
            CONTENT);

    /** Keys whose values may have a password, so no message shows them. */
    private static final Set<String> SECRETS = Set.of(PUSH, PUSH_HEADERS);

    /** The values of {@link #TO}. */
    static final List<String> DESTINATIONS = List.of("file", "log", "stdout", "none");

    private static final Map<String, String> SHORT = shortNames();

    private static final String VARIABLE = "THREADS_SAMPLER_";

    private Keys() {}

    private static Map<String, String> shortNames() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("interval", "samplingFrequencyMillis");
        names.put("packages", "monitoredPackages");
        names.put("every", EVERY);
        names.put("jmx", "jmxName");
        names.put("by", MEASURE);
        names.put("weight", MEASURE);
        names.put(OUTPUT, FILE);
        return names;
    }

    /** @return the canonical name of a key such as reportCpuTime, report-cpu-time or every; null if it is unknown */
    static @Nullable String canonical(String key) {
        String camel = key.indexOf('-') > 0 ? BeanProperties.camelCase(key, '-') : key;
        String name = SHORT.getOrDefault(camel, camel);
        return OWN.contains(name) || BeanProperties.has(name) ? name : null;
    }

    /** @return true if the key needs no value, which is then {@code true} */
    static boolean isFlag(String key) {
        String name = canonical(key);
        return name != null && (name.equals(MCP) || BeanProperties.isFlag(name));
    }

    /**
     * Adds a setting. A list may be added in parts.
     *
     * @throws Refusal if there is no such key, or if it has a value already and is no list
     */
    static void add(Map<String, List<String>> settings, String key, String value) {
        String name = canonical(key);
        if (name == null) {
            throw new Refusal("there is no option \"" + key + "\"; " + help());
        }
        requireNoPlace(key, value);
        List<String> parts = settings.get(name);
        if (parts == null) {
            parts = new ArrayList<>();
            settings.put(name, parts);
        }
        if (!parts.isEmpty() && !BeanProperties.isText(name)) {
            throw new Refusal(
                    key + " is there twice" + (SECRETS.contains(name) ? "" : ": " + parts.get(0) + " and " + value));
        }
        parts.add(value);
    }

    /* Users may call loggers and streams outputs, too. */
    private static void requireNoPlace(String key, String value) {
        if (key.equals(OUTPUT) && DESTINATIONS.contains(value)) {
            throw new Refusal("output is a file, got \"" + value + "\": the place is to=" + value
                    + ", and a file of that name ./" + value);
        }
    }

    /** @return the settings, with commas between the parts of a list */
    static Map<String, String> joined(Map<String, List<String>> settings) {
        Map<String, String> values = new LinkedHashMap<>();
        for (Map.Entry<String, List<String>> setting : settings.entrySet()) {
            values.put(setting.getKey(), String.join(",", setting.getValue()));
        }
        return values;
    }

    /** @return the canonical names of all keys */
    static List<String> all() {
        List<String> names = new ArrayList<>(OWN);
        names.addAll(BeanProperties.names());
        return names;
    }

    /** @return true if the canonical name is the agent's own, false if it is a property of the sampler */
    static boolean isOwn(String name) {
        return OWN.contains(name);
    }

    /** @return true if the setting is a property of the sampler, or chooses its threads */
    static boolean isOfSampler(String name) {
        return name.equals(THREADS) || BeanProperties.has(name);
    }

    /** @return a sentence with all keys */
    static String help() {
        List<String> names = new ArrayList<>(SHORT.keySet());
        names.addAll(OWN);
        names.remove(CONTENT);
        return "options are " + String.join(", ", names) + ", and the properties of ThreadsSampler: "
                + String.join(", ", BeanProperties.names());
    }

    /**
     * Reads settings from environment variables: {@code THREADS_SAMPLER_REPORT_CPU_TIME} is {@code reportCpuTime}.
     * Other variables with this prefix are ignored, because a container may set them for a service of that name.
     *
     * @param environment all variables
     * @param ignored receives the names of variables with the prefix that are no settings
     * @throws Refusal if a value is wrong
     */
    static Map<String, String> ofEnvironment(Map<String, String> environment, List<String> ignored) {
        Map<String, String> settings = new LinkedHashMap<>();
        for (Map.Entry<String, String> each : environment.entrySet()) {
            String variable = each.getKey();
            String value = each.getValue();
            if (variable.startsWith(VARIABLE) && !value.isBlank()) {
                String key = BeanProperties.camelCase(
                        variable.substring(VARIABLE.length()).toLowerCase(Locale.ROOT), '_');
                String name = canonical(key);
                requireNoPlace(key, value.strip());
                if (name == null) {
                    ignored.add(variable);
                } else {
                    settings.put(name, value.strip());
                }
            }
        }
        return settings;
    }
}
