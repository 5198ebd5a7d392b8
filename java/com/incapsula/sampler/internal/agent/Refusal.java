// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A command that is not carried out; the message says why, in words for the user. Nothing has changed. */
final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    Refusal(String message) {
        this(message, null);
    }

    Refusal(String message, @Nullable Throwable cause) {
        super(message, cause, false, false);
    }

    /**
     * Reads a value.
     *
     * @param reading fails with a message for users where the value is wrong
     * @return the value
     * @throws Refusal with that message
     */
    static long ifWrong(LongSupplier reading) {
        try {
            return reading.getAsLong();
        } catch (IllegalArgumentException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }
}
