// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Decides which requests are answered. Any page can make a browser send requests here under a name that the page's
 * owner controls (DNS rebinding). So the host name of a request must be one of ours.
 *
 * <p>Threads: immutable.
 */
final class RequestGuard {

    private static final Pattern ADDRESS = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}|\\[[0-9a-f:.]+]");
    private static final Pattern PORT = Pattern.compile(":\\d{0,5}$");

    private final Set<String> names = new HashSet<>();
    private final boolean anyAddress;
    private final byte @Nullable [] token;

    /**
     * @param bound the address that the server listens on
     * @param host that address as the user wrote it
     * @param more other names of the server
     * @param token null: requests need no token
     */
    RequestGuard(InetAddress bound, String host, List<String> more, @Nullable String token) {
        anyAddress = bound.isAnyLocalAddress();
        add(host);
        add(bound.getHostAddress());
        if (anyAddress || bound.isLoopbackAddress()) {
            List.of("localhost", "127.0.0.1", "::1").forEach(this::add);
        }
        more.forEach(this::add);
        this.token = token == null ? null : token.getBytes(StandardCharsets.UTF_8);
    }

    private void add(String name) {
        String plain = name.toLowerCase(Locale.ROOT);
        names.add(plain.contains(":") && !plain.startsWith("[") ? "[" + plain + "]" : plain);
    }

    /** @param headers all values of {@code Host}; may be null */
    boolean isOurs(@Nullable List<String> headers) {
        if (headers == null || headers.size() != 1) {
            return false;
        }
        String name =
                PORT.matcher(headers.get(0).strip().toLowerCase(Locale.ROOT)).replaceFirst("");
        /* A name's owner can change its address; an address in place of a name is safe. */
        return names.contains(name) || (anyAddress && ADDRESS.matcher(name).matches());
    }

    /**
     * @param origins all values of {@code Origin}, which browsers send; may be null
     * @param host the host name of the request, one of ours
     * @return true if no page of another site has sent the request
     */
    boolean isSameOrigin(@Nullable List<String> origins, @Nullable String host) {
        if (origins == null) {
            return true;
        }
        return host != null
                && origins.stream()
                        .allMatch(origin -> origin.equalsIgnoreCase("http://" + host.strip())
                                || origin.equalsIgnoreCase("https://" + host.strip()));
    }

    /**
     * Judges by two headers that browsers send and scripts of a page cannot change.
     *
     * @param site {@code Sec-Fetch-Site}, or null
     * @param destination {@code Sec-Fetch-Dest}, or null
     * @return true if a page of another site includes the answer, as an image or a frame does. It cannot read the
     *     answer, but keeps the server busy. Following a link is allowed
     */
    static boolean isPartOfAnotherSite(@Nullable String site, @Nullable String destination) {
        return "cross-site".equals(site) && !"document".equals(destination);
    }

    /**
     * @param headers all values of {@code Authorization}; may be null
     * @return true if it is {@code Bearer TOKEN}, or {@code Basic} with the token as the password of any user
     */
    boolean isAllowed(@Nullable List<String> headers) {
        if (token == null) {
            return true;
        }
        if (headers == null || headers.size() != 1) {
            return false;
        }
        String[] parts = headers.get(0).strip().split(" +", 2);
        byte[] given = parts.length < 2 ? new byte[0] : secret(parts[0].toLowerCase(Locale.ROOT), parts[1]);
        return MessageDigest.isEqual(token, given);
    }

    private static byte[] secret(String scheme, String credentials) {
        if (scheme.equals("bearer")) {
            return credentials.getBytes(StandardCharsets.UTF_8);
        }
        return scheme.equals("basic") ? password(credentials) : new byte[0];
    }

    private static byte[] password(String credentials) {
        try {
            String both = new String(Base64.getDecoder().decode(credentials), StandardCharsets.UTF_8);
            return both.substring(both.indexOf(':') + 1).getBytes(StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            return new byte[0];
        }
    }
}
