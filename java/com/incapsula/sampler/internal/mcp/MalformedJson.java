// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

/** A text that is no JSON, or more than is read; the message says what is wrong, and where. */
final class MalformedJson extends Exception {

    private static final long serialVersionUID = 1L;

    MalformedJson(String what, int at) {
        super(what + " at character " + at, null, false, false);
    }
}
