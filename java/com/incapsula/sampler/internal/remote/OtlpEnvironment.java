// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of OpenTelemetry's environment variables for an exporter of profiles:
 * {@code OTEL_EXPORTER_OTLP_PROFILES_*}, or else {@code OTEL_EXPORTER_OTLP_*}, which apply to all signals. A value that
 * cannot be used is named in a warning and ignored.
 *
 * <p>Threads: any.
 */
public final class OtlpEnvironment {

    private static final Set<Integer> COLLECTOR_PORTS = Set.of(4317, 4318);
    private static final String GENERAL = "OTEL_EXPORTER_OTLP_";
    private static final String PROFILES = GENERAL + "PROFILES_";
    private static final String ENDPOINT = "ENDPOINT";
    private static final String HEADERS = "HEADERS";
    private static final String TIMEOUT = "TIMEOUT";

    /** The general headers are also meant for these servers. */
    private static final List<String> OTHER_SIGNALS =
            List.of(GENERAL + "TRACES_" + ENDPOINT, GENERAL + "METRICS_" + ENDPOINT, GENERAL + "LOGS_" + ENDPOINT);

    private final Map<String, String> variables;
    private final Consumer<String> warn;
    private final Set<String> ignored = ConcurrentHashMap.newKeySet();

    /**
     * Reads the environment.
     *
     * @param variables all variables
     * @param warn receives a sentence about each value that cannot be used
     */
    public OtlpEnvironment(Map<String, String> variables, Consumer<String> warn) {
        this.variables = variables;
        this.warn = warn;
    }

    /* Warns once for each variable. */
    private void ignore(String name, @Nullable String why) {
        if (ignored.add(name)) {
            warn.accept(name + " is ignored: " + why);
        }
    }

    private String value(String name) {
        return variables.getOrDefault(name, "").strip();
    }

    /**
     * {@return the destination of profiles, or null if no variable is set} The URL of the profiles' variable is used as
     * it is; the general one is a base.
     */
    public @Nullable Endpoint endpoint() {
        Endpoint own = endpoint(PROFILES + ENDPOINT);
        return own != null ? own : endpoint(GENERAL + ENDPOINT);
    }

    private @Nullable Endpoint endpoint(String name) {
        String url = value(name);
        if (url.isEmpty()) {
            return null;
        }
        try {
            return name.equals(GENERAL + ENDPOINT) ? Endpoint.of("otlp+" + url) : Endpoint.ofOtlpService(url);
        } catch (IllegalArgumentException e) {
            ignore(name, e.getMessage());
            return null;
        }
    }

    /**
     * The time limit of an attempt.
     *
     * @param max the largest allowed value
     * @return milliseconds, 1 to max; null if no variable is set
     */
    public @Nullable Integer timeoutMillis(int max) {
        Integer own = timeoutMillis(PROFILES + TIMEOUT, max);
        return own != null ? own : timeoutMillis(GENERAL + TIMEOUT, max);
    }

    private @Nullable Integer timeoutMillis(String name, int max) {
        String text = value(name);
        if (text.isEmpty()) {
            return null;
        }
        try {
            int millis = Integer.parseInt(text);
            if (millis >= 1 && millis <= max) {
                return millis;
            }
        } catch (NumberFormatException noNumber) {
            // the warning is the same
        }
        ignore(name, "it must be between 1 and " + max);
        return null;
    }

    /**
     * The headers of requests to a server. A header may be a secret for the servers that the endpoint variables name.
     * So it is not sent to another server, and not sent at all if one of these variables cannot be read.
     *
     * @param target the server
     * @param check reads a list, and throws {@link IllegalArgumentException} if it cannot be sent
     * @return empty if there are none
     */
    public Map<String, String> headers(URI target, Function<String, Map<String, String>> check) {
        String name = value(PROFILES + HEADERS).isEmpty() ? GENERAL + HEADERS : PROFILES + HEADERS;
        if (value(name).isEmpty()) {
            return Map.of();
        }
        String obstacle = obstacle(besides(name), target);
        if (obstacle != null) {
            ignore(name, obstacle);
            return Map.of();
        }
        try {
            return check.apply(value(name));
        } catch (IllegalArgumentException e) {
            ignore(name, e.getMessage());
            return Map.of();
        }
    }

    /** @return the endpoint variables that are set; if empty, headers are for any server */
    private List<String> besides(String headers) {
        if (headers.startsWith(PROFILES)) {
            List<String> own = set(List.of(PROFILES + ENDPOINT));
            return own.isEmpty() ? set(List.of(GENERAL + ENDPOINT)) : own;
        }
        List<String> general = set(List.of(GENERAL + ENDPOINT));
        return general.isEmpty() ? set(OTHER_SIGNALS) : general;
    }

    private List<String> set(List<String> names) {
        return names.stream().filter(name -> !value(name).isEmpty()).toList();
    }

    /** @return why headers for these endpoints must not be sent to the server; null if they may */
    private @Nullable String obstacle(List<String> endpoints, URI target) {
        List<String> meant = new ArrayList<>();
        boolean found = endpoints.isEmpty();
        for (String name : endpoints) {
            Endpoint endpoint = endpoint(name);
            if (endpoint == null) {
                return "for which server it is cannot be read from " + name;
            }
            found |= isSameServer(endpoint.uri(), target);
            meant.add(server(endpoint.uri()));
        }
        return found ? null : "it is for " + String.join(", ", meant) + ", and reports go to " + server(target);
    }

    /* Headers for https are not sent by http. The port may differ, because a collector has one for gRPC and one for
     * HTTP. */
    private static boolean isSameServer(URI meant, URI target) {
        boolean anyPort = meant.getPort() < 0 || target.getPort() < 0;
        boolean isCollector = COLLECTOR_PORTS.contains(meant.getPort()) && COLLECTOR_PORTS.contains(target.getPort());
        return meant.getHost().equalsIgnoreCase(target.getHost())
                && (anyPort || isCollector || meant.getPort() == target.getPort())
                && (!meant.getScheme().equals("https") || target.getScheme().equals("https"));
    }

    private static String server(URI uri) {
        return uri.getScheme() + "://" + uri.getRawAuthority();
    }
}
