// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

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
        for (ReportUnit each : values()) {
            if (each.name().equalsIgnoreCase(text)) {
                return each;
            }
        }
        throw new IllegalArgumentException("per must be one of "
                + Arrays.stream(values())
                        .map(each -> each.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", "))
                + ", got \"" + text + "\"");
    }
}
