// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The parsed record of one thread group. */
public record Group(
        String title,
        String record,
        String name,
        int maxDepth,
        long distinctThreads,
        String threadNames,
        List<Row> rows) {

    private static final Pattern TITLE = Pattern.compile(
            "Aggregated thread: (.*)\\. Max depth: (\\d+)\\. Distinct threads: (\\d+) \\[(.*)\\](?: of \\d+ groups)?",
            Pattern.DOTALL);

    /** @throws AssertionError if the title or a row has another format */
    public static Group parse(String title, String record) {
        Matcher matcher = TITLE.matcher(title);
        if (!matcher.matches()) {
            throw new AssertionError("not the title of a group: " + title);
        }
        return new Group(
                title,
                record,
                matcher.group(1),
                Integer.parseInt(matcher.group(2)),
                Long.parseLong(matcher.group(3)),
                matcher.group(4),
                Row.parse(record));
    }

    /** @return the sum of its root rows' times */
    public long cumulativeMillis() {
        return rows.stream()
                .filter(row -> row.depth() == 0)
                .mapToLong(Row::cumulativeMillis)
                .sum();
    }

    /**
     * Returns the number of rows without a caller. Each shows its time in whole milliseconds, so the group shows less
     * than its whole time by up to one millisecond for each of them.
     */
    public long roots() {
        return rows.stream().filter(row -> row.depth() == 0).count();
    }

    /** @return the sum of its rows' method times */
    public long methodMillis() {
        return rows.stream().mapToLong(Row::methodMillis).sum();
    }

    /** @return the method of each row */
    public List<String> methods() {
        return rows.stream().map(Row::method).toList();
    }

    /** @return the sum of the cumulative times of a method's rows; the method is given by its full name */
    public long millisIn(String method) {
        return rows.stream()
                .filter(row -> row.method().equals(method))
                .mapToLong(Row::cumulativeMillis)
                .sum();
    }
}
