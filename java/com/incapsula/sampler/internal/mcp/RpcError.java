// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.internal.json.Json;
import org.jspecify.annotations.Nullable;

/** An error answer to a message, with a code of JSON-RPC or of the protocol. */
final class RpcError extends Exception {

    static final int MALFORMED = -32700;
    static final int INVALID_REQUEST = -32600;
    static final int UNKNOWN_METHOD = -32601;
    static final int INVALID_PARAMETERS = -32602;
    static final int FAILED = -32603;
    static final int HEADER_MISMATCH = -32020;
    static final int UNSUPPORTED_VERSION = -32022;

    private static final long serialVersionUID = 1L;

    private final int code;
    private final transient @Nullable Object data;

    RpcError(int code, String message) {
        this(code, message, null);
    }

    /** @param data a value of {@link Json}, or null */
    RpcError(int code, String message, @Nullable Object data) {
        super(message, null, false, false);
        this.code = code;
        this.data = data;
    }

    int code() {
        return code;
    }

    /** @return the error as a value of {@link Json} */
    Object toJson() {
        String message = String.valueOf(getMessage());
        return data == null
                ? Json.object("code", (long) code, "message", message)
                : Json.object("code", (long) code, "message", message, "data", data);
    }
}
