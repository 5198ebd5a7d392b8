// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A parsed row of a report. */
public record Row(int depth, String frame, long cumulativeMillis, long methodMillis, String line) {

    private static final Pattern FORM =
            Pattern.compile("((?:  )*)(\\S.*?) +Cumulative time\\(ms\\): (\\d+), Method time\\(ms\\): (\\d+)"
                    + "(?:, Recursion depth: \\d+)?");

    /** @throws AssertionError if the line is not a row */
    public static List<Row> parse(String record) {
        List<Row> rows = new ArrayList<>();
        record.lines().forEach(line -> {
            Matcher matcher = FORM.matcher(line);
            if (!matcher.matches()) {
                throw new AssertionError("not a row: " + line);
            }
            rows.add(new Row(
                    matcher.group(1).length() / 2,
                    matcher.group(2),
                    Long.parseLong(matcher.group(3)),
                    Long.parseLong(matcher.group(4)),
                    line));
        });
        return rows;
    }

    /** @return the text before the parenthesis */
    public String method() {
        int end = frame.indexOf('(');
        return end < 0 ? frame : frame.substring(0, end);
    }
}
