// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.util.regex.Pattern;

/** Names of passengers. */
final class Names {

    private static final Pattern NAME = Pattern.compile("([a-z]+[a-z ]*)+\\.");

    private Names() {}

    /** If the last character does not match, the pattern is tried in all possible ways. */
    static boolean isComplete(String name) {
        return NAME.matcher(name).matches();
    }
}
