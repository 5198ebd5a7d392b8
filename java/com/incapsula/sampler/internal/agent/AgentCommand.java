// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The text of an agent's options: {@code [VERB][,KEY[(=|:)VALUE]]...}. A flag needs no value. A colon may replace an
 * equals sign, because jcmd cuts its argument at equals signs. In a value, a comma is written {@code \,}, and a
 * backslash before a comma, before another backslash or at the end of a value is written {@code \\}; other backslashes
 * need no escape. Keys of lists may occur several times.
 *
 * @param verb the command
 * @param settings values by canonical key, see {@link Keys}; a list has its parts separated by commas
 * @param answer the id of the command line that waits for an answer, or null
 * @param copies files that the command line has copied for the target, which removes them when it ends
 */
record AgentCommand(
        Verb verb, Map<String, String> settings, @Nullable String answer, List<String> copies) {

    /** Keys that only the command line writes. */
    static final String ANSWER = "answer";

    /** The file of the native library that the command line has attached with. */
    static final String LIBRARY = "library";

    static final String COPY = "copy";

    /** {@code false}: the answer has no summary, because the command line shows a report that begins with one. */
    static final String SUMMARY = "summary";

    /** The id of a command whose answer has been read. */
    static final String FORGET = "forget";

    /** The jar in which the native library finds the agent's classes. */
    static final String JAR = "jar";

    /** A command. */
    enum Verb {
        START,
        RUN,
        DUMP,
        STATUS,
        SET,
        STOP,
        MCP;

        /** @return the word that users write */
        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** @return the verb of this name, or null */
        static @Nullable Verb of(String text) {
            for (Verb verb : values()) {
                if (verb.text().equals(text)) {
                    return verb;
                }
            }
            return null;
        }

        static String all() {
            return Arrays.stream(values()).map(Verb::text).collect(Collectors.joining(", "));
        }
    }

    /** Reads options. @throws Refusal naming the error and all keys */
    static AgentCommand parse(String options) {
        Verb verb = Verb.START;
        Map<String, List<String>> settings = new LinkedHashMap<>();
        String answer = null;
        List<String> copies = new ArrayList<>();
        List<String> parts = split(options);
        for (int i = 0; i < parts.size(); i++) {
            String part = parts.get(i);
            int at = separator(part);
            String key = at < 0 ? part : part.substring(0, at).strip();
            String value = at < 0 ? "" : part.substring(at + 1).strip();
            if (at < 0 && (i > 0 || Verb.of(part) == null) && Keys.isFlag(part)) { // mcp is a verb and a flag
                Keys.add(settings, part, "true");
            } else if (at < 0) {
                verb = verb(part, i == 0);
            } else if (key.equals(ANSWER)) {
                answer = value;
            } else if (key.equals(COPY)) {
                copies.add(value);
            } else if (!key.equals(JAR) && !key.equals(LIBRARY) && !key.equals(SUMMARY)) {
                Keys.add(settings, key, value);
            }
        }
        return new AgentCommand(verb, Keys.joined(settings), answer, List.copyOf(copies));
    }

    /**
     * {@return the value of a key that the command line writes, or null if the key is missing; the other options may be
     * wrong}
     */
    static @Nullable String written(String options, String key) {
        for (String part : split(options)) {
            if (part.startsWith(key + "=")) {
                return part.substring(key.length() + 1);
            }
        }
        return null;
    }

    private static Verb verb(String word, boolean first) {
        Verb verb = first ? Verb.of(word) : null;
        if (verb != null) {
            return verb;
        }
        if (Keys.canonical(word) != null) {
            throw new Refusal(word + " has no value: write " + word + "=VALUE, or " + word
                    + ":VALUE for jcmd, which cuts options at an equals sign");
        }
        throw new Refusal(
                first
                        ? "\"" + word + "\" is neither one of " + Verb.all() + " nor KEY=VALUE; " + Keys.help()
                        : "\"" + word + "\" is not KEY=VALUE; a list repeats its key, as in"
                                + " packages=com.acme,packages=org.example, or has \\, between its parts");
    }

    /** @return the parts between commas, without escapes and without blank parts */
    @SuppressWarnings("IncrementInForLoopAndHeader") // an escape includes the next character
    static List<String> split(String options) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        for (int i = 0; i < options.length(); i++) {
            char c = options.charAt(i);
            if (c == '\\' && isEscapable(options, i + 1)) {
                i++;
                part.append(options.charAt(i));
            } else if (c == ',') {
                addUnlessBlank(parts, part);
                part.setLength(0);
            } else {
                part.append(c);
            }
        }
        addUnlessBlank(parts, part);
        return parts;
    }

    private static void addUnlessBlank(List<String> parts, StringBuilder part) {
        String text = part.toString().strip();
        if (!text.isEmpty()) {
            parts.add(text);
        }
    }

    private static boolean isEscapable(String options, int at) {
        return at < options.length() && (options.charAt(at) == ',' || options.charAt(at) == '\\');
    }

    /** @return a value with its commas and backslashes escaped, for {@link #split} */
    static String escape(String value) {
        return value.replace("\\", "\\\\").replace(",", "\\,");
    }

    /* Returns the first of the two, or -1. */
    private static int separator(String part) {
        int equals = part.indexOf('=');
        int colon = part.indexOf(':');
        return equals < 0 || (colon >= 0 && colon < equals) ? colon : equals;
    }
}
