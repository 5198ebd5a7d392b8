// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.json.Json;
import com.incapsula.sampler.internal.report.PlainText;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Converts frames between text, {@code com.acme.Shop.sell(Shop.java:12)} or {@code [text]}, and the JSON form. */
final class Frames {

    private static final Pattern TYPE = Pattern.compile("_\\[[a-z0-9]]$"); // other tools add this suffix
    private static final Pattern LINE = Pattern.compile("(?s)(?<file>.+):(?<line>\\d{1,9})");

    private Frames() {}

    /** @return the text escaped for a line of COLLAPSED, as in native/src/export/line_texts.h */
    static String part(String text) {
        if (text.isEmpty()) {
            return "[unnamed]";
        }
        StringBuilder part = new StringBuilder(text.length());
        text.codePoints().forEach(c -> append(part, c));
        return part.toString();
    }

    private static void append(StringBuilder part, int c) {
        switch (c) {
            case '\n' -> part.append("\\n");
            case '\r' -> part.append("\\r");
            case '\t' -> part.append("\\t");
            default -> {
                if (c == ';' || PlainText.isHidden(c)) {
                    PlainText.escape(part, c);
                } else {
                    part.appendCodePoint(c);
                }
            }
        }
    }

    /** @return the text of the root frame for a group of the JSON form */
    static String ofGroup(Map<?, ?> group) {
        return part(String.valueOf(group.get("name")));
    }

    /** @return the text of a frame of the JSON form */
    static String text(Map<String, Object> frame) {
        Object pseudo = Json.get(frame, "pseudo");
        if (pseudo != null) {
            return part(pseudo.toString());
        }
        Object file = Json.get(frame, "file");
        Object line = Json.get(frame, "line");
        String place = file == null ? "Unknown Source" : file + (line == null ? "" : ":" + line);
        if (Boolean.TRUE.equals(frame.get("native"))) {
            place = "Native Method";
        }
        return part(frame.get("class") + "." + frame.get("method") + "(" + place + ")");
    }

    /** @return the text without its file and line */
    static String withoutPlace(String text) {
        Parts parts = Parts.of(text);
        return parts.isJava() ? parts.name() : text;
    }

    /** @return the frame for the JSON form */
    static Map<String, Object> json(String text) {
        Map<String, Object> frame = new LinkedHashMap<>();
        Parts parts = Parts.of(text);
        if (!parts.isJava()) {
            frame.put("pseudo", text);
            return frame;
        }
        int dot = parts.name().lastIndexOf('.');
        String className = parts.name().substring(0, dot);
        frame.put("class", className.indexOf('.') < 0 ? className.replace('/', '.') : className);
        frame.put("method", parts.name().substring(dot + 1));
        Matcher line = LINE.matcher(parts.place());
        if (line.matches()) {
            frame.put("file", line.group("file"));
            frame.put("line", Long.valueOf(line.group("line")));
        } else if (parts.place().equals("Native Method")) {
            frame.put("native", true);
        } else if (!parts.place().isEmpty() && !parts.place().equals("Unknown Source")) {
            frame.put("file", parts.place());
        }
        return frame;
    }

    /* The parts of CLASS.METHOD(PLACE). */
    private record Parts(String name, String place) {

        static Parts of(String text) {
            String plain = TYPE.matcher(text).replaceFirst("");
            int open = plain.endsWith(")") ? plain.lastIndexOf('(') : -1;
            return open < 0
                    ? new Parts(plain, "")
                    : new Parts(plain.substring(0, open), plain.substring(open + 1, plain.length() - 1));
        }

        boolean isJava() {
            int dot = name.lastIndexOf('.');
            return !name.startsWith("[") && dot > 0 && dot < name.length() - 1;
        }
    }
}
