// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.net.URI;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What OpenTelemetry's environment variables say of an exporter of profiles: those of profiles,
 * {@code OTEL_EXPORTER_OTLP_PROFILES_*}, or else those of all signals, {@code OTEL_EXPORTER_OTLP_*}. What cannot be used is
 * named in a warning and ignored.
 *
 * <p>Threads: any.
 */
public final class OtlpEnvironment {

    private static final String GENERAL = "OTEL_EXPORTER_OTLP_";
    private static final String PROFILES = GENERAL + "PROFILES_";
    private static final String ENDPOINT = "ENDPOINT";
    private static final String HEADERS = "HEADERS";
    private static final String TIMEOUT = "TIMEOUT";

    private final Map<String, String> variables;
    private final Consumer<String> warn;
    private final Set<String> ignored = ConcurrentHashMap.newKeySet();

    /**
     * Reads the environment.
     *
     * @param variables all
     * @param warn receives a sentence about each that cannot be used
     */
    public OtlpEnvironment(Map<String, String> variables, Consumer<String> warn) {
        this.variables = variables;
        this.warn = warn;
    }

    /* Once for each. */
    private void ignore(String name, @Nullable String why) {
        if (ignored.add(name)) {
            warn.accept(name + " is ignored: " + why);
        }
    }

    private String value(String name) {
        return variables.getOrDefault(name, "").strip();
    }

    /**
     * Where profiles go. The URL of the profiles' own variable is used as it is, the general one is a base.
     *
     * @return null: nothing says it
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
            return name.startsWith(PROFILES) ? Endpoint.ofOtlpService(url) : Endpoint.of("otlp+" + url);
        } catch (IllegalArgumentException e) {
            ignore(name, e.getMessage());
            return null;
        }
    }

    /**
     * How long an attempt may take.
     *
     * @param max the longest
     * @return milliseconds, 1 to max; null: nothing says it
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
     * The headers of requests to a server. A header may be a secret that is for the host which the variable with the
     * endpoint names: another host does not get it.
     *
     * @param target the server
     * @param check reads a list, and throws {@link IllegalArgumentException} if it cannot be sent
     * @return empty: none
     */
    public Map<String, String> headers(URI target, Function<String, Map<String, String>> check) {
        String name = value(PROFILES + HEADERS).isEmpty() ? GENERAL + HEADERS : PROFILES + HEADERS;
        URI meant = value(name).isEmpty() ? null : hostOf(name);
        if (meant == null || target.getHost().equalsIgnoreCase(meant.getHost())) {
            try {
                return check.apply(value(name));
            } catch (IllegalArgumentException e) {
                ignore(name, e.getMessage());
                return Map.of();
            }
        }
        ignore(name, "it is for the host " + meant.getHost() + ", and reports go to " + target.getHost());
        return Map.of();
    }

    private @Nullable URI hostOf(String headers) {
        Endpoint meant = headers.startsWith(PROFILES) ? endpoint() : endpoint(GENERAL + ENDPOINT);
        return meant == null ? null : meant.uri();
    }
}
