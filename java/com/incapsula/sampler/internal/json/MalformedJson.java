// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.json;

/** A text that is no JSON, or more than is read; the message says what is wrong, and where. */
public final class MalformedJson extends Exception {

    private static final long serialVersionUID = 1L;

    /** What is wrong, without the place. */
    private final String what;

    /** The number of the character, from 0. */
    private final int at;

    /**
     * A text that is malformed at one place.
     *
     * @param what is wrong
     * @param at the character at which it is, from 0
     */
    public MalformedJson(String what, int at) {
        super(what + " at character " + at, null, false, false);
        this.what = what;
        this.at = at;
    }

    /**
     * What is wrong, without the place.
     *
     * @return as in the message
     */
    public String what() {
        return what;
    }

    /**
     * Where it is.
     *
     * @return the number of the character, from 0
     */
    public int at() {
        return at;
    }
}
