// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import com.incapsula.sampler.internal.report.FileNames;
import java.io.File;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The process that a report describes: the attributes of OpenTelemetry's resource, and the same as labels.
 *
 * <p>Threads: immutable.
 */
public final class ServiceIdentity {

    static final String SERVICE_NAME = "service.name";
    static final String INSTANCE_ID = "service.instance.id";
    static final String ENVIRONMENT_NAME = "deployment.environment.name";
    static final String PROCESS_ID = "process.pid";

    /** Limit of attributes: servers refuse reports with more than about thirty labels. */
    public static final int MAX_ATTRIBUTES = 24;

    /** Longer values are cut. */
    public static final int MAX_VALUE_CHARS = 2_000;

    private static final String OLD_ENVIRONMENT_NAME = "deployment.environment";

    private final Map<String, String> attributes;

    private ServiceIdentity(Map<String, String> attributes) {
        this.attributes = Collections.unmodifiableMap(attributes);
    }

    /**
     * Combines all sources.
     *
     * @param serviceName the user's name for the service; null: the name in the environment, or else of the main class
     *     or jar
     * @param chosen attributes of the user; they take precedence over those of the environment
     * @param environment all variables
     * @param warn receives a sentence about each value of the environment that cannot be used
     */
    public static ServiceIdentity of(
            @Nullable String serviceName,
            Map<String, String> chosen,
            Map<String, String> environment,
            Consumer<String> warn) {
        Map<String, String> found = new LinkedHashMap<>();
        found.put(SERVICE_NAME, "");
        found.put(INSTANCE_ID, "");
        found.putAll(renamed(ofEnvironment(environment, warn)));
        String named = environment.getOrDefault("OTEL_SERVICE_NAME", "").strip();
        if (!named.isEmpty()) {
            found.put(SERVICE_NAME, named);
        }
        found.putAll(renamed(chosen));
        if (serviceName != null) {
            found.put(SERVICE_NAME, serviceName);
        }
        found.computeIfPresent(SERVICE_NAME, (key, value) -> value.isEmpty() ? program() : value);
        found.computeIfPresent(INSTANCE_ID, (key, value) -> value.isEmpty() ? instance() : value);
        return new ServiceIdentity(limited(found, warn));
    }

    /* Renames in each source separately, because a source with precedence may have the old name. */
    private static Map<String, String> renamed(Map<String, String> source) {
        Map<String, String> renamed = new LinkedHashMap<>(source);
        String old = renamed.remove(OLD_ENVIRONMENT_NAME);
        if (old != null) {
            renamed.putIfAbsent(ENVIRONMENT_NAME, old);
        }
        return renamed;
    }

    private static Map<String, String> ofEnvironment(Map<String, String> environment, Consumer<String> warn) {
        try {
            return KeyValues.parse(
                    "OTEL_RESOURCE_ATTRIBUTES", environment.getOrDefault("OTEL_RESOURCE_ATTRIBUTES", ""));
        } catch (IllegalArgumentException e) {
            warn.accept(e.getMessage() + "; it is ignored");
            return Map.of();
        }
    }

    private static Map<String, String> limited(Map<String, String> all, Consumer<String> warn) {
        Map<String, String> kept = new LinkedHashMap<>();
        List<String> left = new ArrayList<>();
        all.forEach((key, value) -> {
            if (kept.size() < MAX_ATTRIBUTES) {
                kept.put(key, value.substring(0, Math.min(value.length(), MAX_VALUE_CHARS)));
            } else {
                left.add(key);
            }
        });
        if (!left.isEmpty()) {
            warn.accept("of the resource's attributes only " + MAX_ATTRIBUTES + " are sent, without " + left);
        }
        return kept;
    }

    /* The main class or the jar, without packages and folders. */
    private static String program() {
        String command = System.getProperty("sun.java.command", "").strip();
        int blank = command.indexOf(' ');
        String main = blank < 0 ? command : command.substring(0, blank);
        String file = main.substring(main.lastIndexOf(File.separatorChar) + 1);
        String name = file.endsWith(".jar")
                ? file.substring(0, file.length() - ".jar".length())
                : file.substring(file.lastIndexOf('.') + 1);
        return name.isEmpty() ? "unknown_service:java" : name;
    }

    private static String instance() {
        String host = FileNames.hostName();
        return (host.isEmpty() ? "localhost" : host) + ":"
                + ProcessHandle.current().pid();
    }

    /**
     * {@return further attributes of OpenTelemetry's resource, {@link String} and {@link Long} values: host, system,
     * process and JVM, unless the user chose them, within the limit}
     */
    Map<String, Object> detected() {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("host.name", FileNames.hostName());
        found.put("host.arch", architecture(System.getProperty("os.arch", "")));
        found.put("os.type", "linux");
        found.put(PROCESS_ID, ProcessHandle.current().pid());
        found.put("process.runtime.name", System.getProperty("java.runtime.name", ""));
        found.put("process.runtime.version", System.getProperty("java.runtime.version", ""));
        found.put("process.runtime.description", description());
        found.keySet().removeAll(attributes.keySet());
        found.values().removeIf(""::equals);
        List<String> names = List.copyOf(found.keySet());
        int fitting = Math.min(names.size(), MAX_ATTRIBUTES - attributes.size());
        found.keySet().retainAll(names.subList(0, fitting));
        return found;
    }

    /* The name in OpenTelemetry's conventions. */
    private static String architecture(String ofJava) {
        return ofJava.equals("aarch64") ? "arm64" : ofJava;
    }

    private static String description() {
        return System.getProperty("java.vm.vendor", "") + " " + System.getProperty("java.vm.name", "") + " "
                + System.getProperty("java.vm.version", "");
    }

    /** {@return the attributes of OpenTelemetry's resource: service.name and service.instance.id, then the others} */
    public Map<String, String> attributes() {
        return attributes;
    }

    /** @return the attributes with names of letters, digits and underscores, as labels need */
    Map<String, String> labels() {
        Map<String, String> labels = new LinkedHashMap<>();
        attributes.forEach((key, value) -> labels.putIfAbsent(label(key), value));
        return labels;
    }

    private static String label(String key) {
        String name = key.replaceAll("[^a-zA-Z0-9_]", "_");
        return Character.isDigit(name.charAt(0)) ? "_" + name : name;
    }
}
