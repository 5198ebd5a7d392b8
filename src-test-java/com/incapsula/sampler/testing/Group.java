// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The record of one thread group, read back. */
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

    /** @throws AssertionError where the title or a row has another form */
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

    /** @return the time of all its roots */
    public long cumulativeMillis() {
        return rows.stream()
                .filter(row -> row.depth() == 0)
                .mapToLong(Row::cumulativeMillis)
                .sum();
    }

    /** @return the method time of all its rows */
    public long methodMillis() {
        return rows.stream().mapToLong(Row::methodMillis).sum();
    }

    /** @return the names of all methods, from row to row */
    public List<String> methods() {
        return rows.stream().map(Row::method).toList();
    }

    /** @return the cumulative time of the rows of a method, given by its full name */
    public long millisIn(String method) {
        return rows.stream()
                .filter(row -> row.method().equals(method))
                .mapToLong(Row::cumulativeMillis)
                .sum();
    }
}
