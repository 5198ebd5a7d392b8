// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.options.Values;

/**
 * The unit of a row of {@link ReportFormat#CALLS}.
 *
 * @since 1.0
 */
public enum ReportUnit {

    // In the order of the core (native/src/export/style.h).

    /** One method. */
    METHOD,
    /** All counted methods of a class. */
    CLASS,
    /** All counted methods of the classes in a package. */
    PACKAGE;

    /**
     * The unit with a name.
     *
     * @param text the name, in upper or lower case
     * @return the unit
     * @throws IllegalArgumentException if there is none, with the names
     */
    public static ReportUnit of(String text) {
        return Values.choice("per", values(), text);
    }
}
