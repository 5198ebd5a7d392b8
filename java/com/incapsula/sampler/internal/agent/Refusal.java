// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.options.Values;
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
     * Reads a time; without a unit it is seconds.
     *
     * @return milliseconds
     * @throws Refusal if it is no time
     */
    static long unlessMillis(String key, String value) {
        try {
            return Values.millis(key, value, Values.SECOND_MILLIS);
        } catch (IllegalArgumentException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Reads a time of whole seconds; without a unit it is seconds.
     *
     * @return seconds
     * @throws Refusal if it is no such time
     */
    static long unlessSeconds(String key, String value) {
        try {
            return Values.wholeSeconds(key, value);
        } catch (IllegalArgumentException e) {
            throw new Refusal(String.valueOf(e.getMessage()), e);
        }
    }
}
