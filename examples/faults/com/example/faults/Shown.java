// SPDX-License-Identifier: Apache-2.0
package com.example.faults;

import java.util.List;

/**
 * The first part of a report that a reader sees.
 *
 * @param spots the places that it names
 * @param text the whole text
 */
public record Shown(List<Spot> spots, String text) {

    private static final String FIRST_LINE = "Summary.";
    private static final int MOST_LINES = 25;
    private static final int MOST_LINES_BEFORE = 3;

    /**
     * Finds the first lines of a report among other lines.
     *
     * @param lines printed or logged by a program
     * @return the first {@value #MOST_LINES} lines of the first report in them
     */
    public static Shown in(List<String> lines) {
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).endsWith(FIRST_LINE)) {
                return firstOf(lines.subList(i, Math.min(lines.size(), i + MOST_LINES - MOST_LINES_BEFORE)));
            }
        }
        return new Shown(List.of(), String.join("\n", lines));
    }

    private static Shown firstOf(List<String> lines) {
        return new Shown(Spot.ofSummary(lines), String.join("\n", lines));
    }
}
