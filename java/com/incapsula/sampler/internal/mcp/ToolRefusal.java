// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

/** A call of a tool that cannot be answered; the message tells the model the reason and a remedy. */
final class ToolRefusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ToolRefusal(String message) {
        super(message, null, false, false);
    }
}
