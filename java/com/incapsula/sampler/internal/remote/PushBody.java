// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.net.URI;
import java.util.List;
import java.util.Map;

/**
 * A report that is ready to be sent.
 *
 * @param uri the destination
 * @param headers of the request
 * @param parts the request's body, to be sent one after the other; they must not change
 */
public record PushBody(URI uri, Map<String, String> headers, List<byte[]> parts) {

    /** @return the length of the body */
    long bytes() {
        return parts.stream().mapToLong(part -> part.length).sum();
    }
}
