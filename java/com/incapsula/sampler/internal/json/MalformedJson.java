// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.json;

/** A text that is not JSON, or exceeds a limit; the message names the error and its place. */
public final class MalformedJson extends Exception {

    private static final long serialVersionUID = 1L;

    /** The error, without the place. */
    private final String what;

    /** The index of the character, from 0. */
    private final int at;

    /** Names the error and the index of its character, from 0. */
    public MalformedJson(String what, int at) {
        super(what + " at character " + at, null, false, false);
        this.what = what;
        this.at = at;
    }

    /** {@return the error, without the place} */
    public String what() {
        return what;
    }

    /** {@return the place of the error: the index of the character, from 0} */
    public int at() {
        return at;
    }
}
