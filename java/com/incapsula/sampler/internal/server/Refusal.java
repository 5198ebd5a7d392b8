// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.util.Map;

/** A refused request, with the status and the text of the answer. */
final class Refusal extends Exception {

    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient Map<String, String> headers;

    Refusal(int status, String message, Map<String, String> headers) {
        super(message);
        this.status = status;
        this.headers = headers;
    }

    Refusal(int status, String message) {
        this(status, message, Map.of());
    }

    int status() {
        return status;
    }

    /** @return further headers of the answer */
    Map<String, String> headers() {
        return headers;
    }
}
