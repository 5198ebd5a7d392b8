// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Revisions of the protocol. In those up to 2025-11-25 a client begins with {@code initialize}; from 2026-07-28 on there
 * is no such beginning, and each request names its revision itself.
 */
final class Versions {

    /** Each request names it. */
    static final String MODERN = "2026-07-28";

    /** Of a request by HTTP that names none. */
    static final String UNNAMED = "2025-03-26";

    /** Those with {@code initialize}, the newest first. */
    static final List<String> WITH_BEGINNING = List.of("2025-11-25", "2025-06-18", UNNAMED, "2024-11-05");

    /** In which a message may be a list of messages. */
    private static final List<String> WITH_BATCHES = List.of(UNNAMED, "2024-11-05");

    private Versions() {}

    static boolean isKnown(String version) {
        return version.equals(MODERN) || WITH_BEGINNING.contains(version);
    }

    static boolean hasBatches(String version) {
        return WITH_BATCHES.contains(version);
    }

    /** @return the one that a client wants, or else the newest that a client can begin with */
    static String negotiate(@Nullable Object wanted) {
        return wanted instanceof String version && WITH_BEGINNING.contains(version) ? version : WITH_BEGINNING.get(0);
    }

    /** @return all, as a value of JSON */
    static List<Object> all() {
        List<Object> all = new ArrayList<>(WITH_BEGINNING);
        all.add(0, MODERN);
        return all;
    }

    /** The error that names all. */
    static RpcError unsupported(String requested) {
        return new RpcError(
                RpcError.UNSUPPORTED_VERSION,
                "Unsupported protocol version",
                Json.object("supported", all(), "requested", Frames.clean(requested)));
    }
}
