// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import com.incapsula.sampler.remote.RemoteProtocol;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The destination of reports, from the user's URL.
 *
 * @param protocol determined by the scheme, else by the path
 * @param uri the HTTP URL, with the protocol's path, without user and password
 * @param authorization the header made of user and password, or null
 */
public record Endpoint(
        RemoteProtocol protocol, URI uri, @Nullable String authorization) {

    private static final String OTLP_SCHEME = "otlp+";
    private static final String PYROSCOPE_SCHEME = "pyroscope+";

    /** The path of the service, which is appended to a base URL. */
    private static final String OTLP_PATH = "/v1development/profiles";

    private static final String PYROSCOPE_PATH = "/push.v1.PusherService/Push";

    private static final int MAX_PORT = 65_535;

    /**
     * Reads a URL.
     *
     * @param url {@code [otlp+|pyroscope+]http[s]://[user:password@]host[:port][/path]}
     * @throws IllegalArgumentException with the reason; the message has no password
     */
    public static Endpoint of(String url) {
        String text = url.strip();
        RemoteProtocol protocol = null;
        if (startsWith(text, OTLP_SCHEME)) {
            protocol = RemoteProtocol.OTLP;
            text = text.substring(OTLP_SCHEME.length());
        } else if (startsWith(text, PYROSCOPE_SCHEME)) {
            protocol = RemoteProtocol.PYROSCOPE;
            text = text.substring(PYROSCOPE_SCHEME.length());
        }
        URI uri = parse(text);
        String path = uri.getRawPath() == null ? "" : uri.getRawPath();
        if (protocol == null) {
            protocol = ofPath(path);
        }
        return new Endpoint(protocol, withPath(uri, fullPath(protocol, path)), authorization(uri));
    }

    /**
     * Reads the URL of an OTLP service, to which no path is added.
     *
     * @param url {@code http[s]://[user:password@]host[:port][/path]}
     * @throws IllegalArgumentException with the reason; the message has no password
     */
    static Endpoint ofOtlpService(String url) {
        URI uri = parse(url.strip());
        String path = uri.getRawPath() == null || uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
        return new Endpoint(RemoteProtocol.OTLP, withPath(uri, path), authorization(uri));
    }

    private static boolean startsWith(String text, String scheme) {
        return text.regionMatches(true, 0, scheme, 0, scheme.length());
    }

    private static URI parse(String text) {
        try {
            URI uri = new URI(text);
            String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
            if (!scheme.equals("http") && !scheme.equals("https")) {
                throw wrong(
                        "the scheme is none of http, https, otlp+http, otlp+https, pyroscope+http, pyroscope+https");
            }
            if (uri.getHost() == null) {
                throw wrong(
                        uri.getRawAuthority() == null
                                ? "there is no host"
                                : "the host's name may have letters, digits, dots and hyphens only, and the port digits");
            }
            if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
                throw wrong("the port is not between 1 and " + MAX_PORT);
            }
            return uri;
        } catch (URISyntaxException e) {
            throw wrong(e.getReason());
        }
    }

    private static IllegalArgumentException wrong(String problem) {
        return new IllegalArgumentException(
                "url must be such as otlp+http://host:4318, pyroscope+http://host:4040 or http://host/path: "
                        + problem);
    }

    private static RemoteProtocol ofPath(String path) {
        if (path.endsWith(OTLP_PATH)) {
            return RemoteProtocol.OTLP;
        }
        return path.endsWith(PYROSCOPE_PATH) ? RemoteProtocol.PYROSCOPE : RemoteProtocol.PPROF;
    }

    private static String fullPath(RemoteProtocol protocol, String path) {
        String service = switch (protocol) {
            case OTLP -> OTLP_PATH;
            case PYROSCOPE -> PYROSCOPE_PATH;
            case PPROF -> "";
        };
        if (path.endsWith(service)) {
            return path;
        }
        return (path.endsWith("/") ? path.substring(0, path.length() - 1) : path) + service;
    }

    private static URI withPath(URI uri, String path) {
        String host = uri.getHost();
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        String query = uri.getRawQuery() == null ? "" : "?" + uri.getRawQuery();
        return URI.create(uri.getScheme().toLowerCase(Locale.ROOT) + "://" + host + port + path + query);
    }

    private static @Nullable String authorization(URI uri) {
        String user = uri.getUserInfo();
        return user == null
                ? null
                : "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Shortens a URI for messages.
     *
     * @param uri of an endpoint
     * @return the URI without the query, which may contain a key
     */
    public static String shown(URI uri) {
        return uri.getScheme() + "://" + uri.getRawAuthority() + uri.getRawPath();
    }
}
