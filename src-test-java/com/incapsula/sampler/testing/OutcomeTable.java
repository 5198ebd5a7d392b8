// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The core's list of outcomes and counters, read from the page: codes, kinds and the report's texts. */
public final class OutcomeTable {

    private static final Path PAGE_TABLE = Path.of("java/META-INF/threads-sampler/page/outcomes.js");
    private static final Pattern ROW =
            Pattern.compile("    (\\w+): \\{\n(?:        kind: '(\\w+)',\n)?        text: '((?:[^'\\\\]|\\\\.)*)',\n");

    private static final Map<String, String> KINDS = new LinkedHashMap<>();
    private static final Map<String, String> TEXTS = new LinkedHashMap<>();

    static {
        Matcher row = ROW.matcher(read());
        while (row.find()) {
            KINDS.put(row.group(1), row.group(2) == null ? "counter" : row.group(2));
            TEXTS.put(row.group(1), row.group(3).replace("\\", ""));
        }
    }

    private OutcomeTable() {}

    private static String read() {
        try {
            String tables = Files.readString(PAGE_TABLE);
            return tables.substring(0, tables.indexOf("const COUNTING"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @return the codes of all outcomes, then of all counters, in the core's order */
    public static List<String> codes() {
        return List.copyOf(TEXTS.keySet());
    }

    /** @return the line of the report's account; null for an unknown code */
    public static String textOf(String code) {
        return TEXTS.get(code);
    }

    /** @return the sum over all outcomes of these kinds: walked, idle, recovered, failed, skipped */
    public static long sum(Map<String, Long> outcomes, String... kinds) {
        return outcomes.entrySet().stream()
                .filter(entry -> Arrays.asList(kinds).contains(KINDS.get(entry.getKey())))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }
}
