// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A report, parsed from the texts that an outputer received.
 *
 * @param summary without its title; "" if there is none
 */
public record Report(String title, List<Group> groups, String account, String summary) {

    /**
     * The group of the JVM's own threads, which are measured, not sampled. It is in every report unless it is switched
     * off.
     */
    public static final String JVM = "[JVM]";

    private static final String SUMMARY_TITLE = "Summary.";
    private static final String ACCOUNT_TITLE = "Sampler account.";

    /** The text after the polls in a short account. */
    private static final String SHARE = ", \\d+\\.\\d % of the time with a stack$";

    /** The title of records whose time is also in the groups. */
    private static final String HOLDERS_TITLE = "Lock holders: ";

    /**
     * @throws AssertionError unless the sampler's account is the first record, or the second one after the summary; or
     *     if a record has another format
     */
    static Report of(String title, List<String[]> records) {
        List<Group> groups = new ArrayList<>();
        boolean hasSummary = !records.isEmpty() && records.get(0)[0].equals(SUMMARY_TITLE);
        int account = hasSummary ? 1 : 0;
        if (records.size() <= account || !records.get(account)[0].equals(ACCOUNT_TITLE)) {
            throw new AssertionError("a report begins with the summary and the sampler's account");
        }
        for (String[] record : records.subList(account + 1, records.size())) {
            if (!record[0].startsWith(HOLDERS_TITLE)) {
                groups.add(Group.parse(record[0], record[1]));
            }
        }
        return new Report(title, groups, records.get(account)[1], hasSummary ? records.get(0)[1] : "");
    }

    /** @return the reports printed by a {@code PrintStreamSamplingOutputer} */
    public static List<Report> parse(String text) {
        List<Report> reports = new ArrayList<>();
        for (String one : text.split("(?m)^\n(?=Report interval: )")) {
            if (!one.isEmpty()) {
                reports.add(parseOne(one));
            }
        }
        return reports;
    }

    private static Report parseOne(String text) {
        String[] parts = text.split("\n", 2);
        List<String[]> records = new ArrayList<>();
        for (String record : parts[1].split("\n\n")) {
            if (!record.isEmpty()) {
                String[] lines = record.split("\n", 2);
                records.add(new String[] {lines[0], lines.length > 1 ? lines[1] + "\n" : ""});
            }
        }
        return of(parts[0], records);
    }

    /** @return the groups of sampled threads, without {@link #JVM} */
    public List<Group> sampled() {
        return groups.stream().filter(group -> !group.name().equals(JVM)).toList();
    }

    /** @return the printed names of the groups of sampled threads */
    public List<String> names() {
        return sampled().stream().map(Group::name).toList();
    }

    /** @return the group of this name */
    public Optional<Group> find(String name) {
        return groups.stream().filter(group -> group.name().equals(name)).findFirst();
    }

    /** @throws AssertionError if there is no such group */
    public Group group(String name) {
        return find(name).orElseThrow(() -> new AssertionError("no group " + name + " but " + names()));
    }

    /** @return the figures of the account that are whole numbers; these include the polls, also in a short account */
    public Map<String, Long> figures() {
        Map<String, Long> figures = new LinkedHashMap<>();
        account.lines().forEach(line -> {
            int colon = line.lastIndexOf(": ");
            String value = colon < 0 ? "" : line.substring(colon + 2).replaceFirst(SHARE, "");
            if (value.matches("\\d+")) {
                figures.put(line.substring(0, colon), Long.parseLong(value));
            }
        });
        return figures;
    }

    /** @return a figure of the account; 0 if it is not printed */
    public long figure(String name) {
        return figures().getOrDefault(name, 0L);
    }
}
