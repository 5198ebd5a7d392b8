// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.PlainText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Checks the options that are lists of names: {@code monitoredPackages}, {@code ioMethods}, {@code idleMethods},
 * {@code rootMethods} and {@code instrumentationFilter}. The core reads the last two without a check of its own:
 * {@code native/src/counting/root_rules.h} and {@code call_filter.h}.
 */
final class NameLists {

    private static final int MAX_PARTS = 1000;
    private static final int MAX_PART_BYTES = 1000;
    private static final int MAX_DIMENSIONS = 255;
    private static final int DELETE = 0x7f;
    private static final String NO_NAME = "/;:#[]@\\\"'=&|!?%^~+";
    private static final String NO_PACKAGE = "/;:#()<>[]-@\\\"'=&|!?%^~+";
    private static final String DOTS = "two dots in a row, or one at an end";

    private NameLists() {}

    /**
     * Checks a list of prefixes.
     *
     * @param option the option's name, for messages
     * @param items the kind of the prefixes, for messages
     * @return the same prefixes, without white space around them and empty parts
     * @throws IllegalArgumentException naming option, value and what is allowed
     */
    static String checkPrefixes(String option, String items, String list) {
        List<String> prefixes = new ArrayList<>();
        for (String part : list.split(",")) {
            String prefix = part.strip();
            if (!prefix.isEmpty()) {
                checkPrefix(option, items, prefix);
                prefixes.add(prefix);
            }
        }
        if (prefixes.size() > MAX_PARTS) {
            throw new IllegalArgumentException(
                    option + " must have at most " + MAX_PARTS + " parts, got " + prefixes.size());
        }
        return String.join(",", prefixes);
    }

    private static void checkPrefix(String option, String items, String prefix) {
        if (hasSpaceOrControl(prefix)) {
            throw new IllegalArgumentException(option + " must be " + items + " separated by commas, without white"
                    + " space or control characters inside, got \"" + visible(prefix) + "\"");
        }
        String problem = complainOfSyntax(prefix);
        if (problem != null) {
            throw new IllegalArgumentException(option + " must be " + items + " separated by commas, such as"
                    + " com.acme,org.example.app: " + problem + ", got \"" + visible(prefix) + "\"");
        }
        int bytes = prefix.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_PART_BYTES) {
            throw new IllegalArgumentException(option + " must have parts of at most " + MAX_PART_BYTES
                    + " bytes, got one of " + bytes + " bytes");
        }
    }

    private static boolean hasSpaceOrControl(String prefix) {
        for (int i = 0; i < prefix.length(); i++) {
            if (Character.isWhitespace(prefix.charAt(i)) || Character.isISOControl(prefix.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    /* A prefix that no class name begins with would match nothing, and each stack would be reduced to its root. */
    private static @Nullable String complainOfSyntax(String prefix) {
        if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
            return "this is a placeholder that was not replaced";
        }
        if (prefix.indexOf(';') >= 0) {
            return "parts are separated by commas, not by semicolons";
        }
        if (prefix.indexOf('/') >= 0) {
            return "parts of a name are separated by dots, not by slashes";
        }
        int star = prefix.indexOf('*');
        return star >= 0 && star != prefix.length() - 1 ? "an asterisk may only be the last character" : null;
    }

    /* Limits a part to what a message can show, and escapes characters that cannot be seen. */
    private static String visible(String part) {
        StringBuilder shown = new StringBuilder();
        part.codePoints().limit(100).forEach(c -> {
            if (PlainText.isHidden(c)) {
                PlainText.escape(shown, c);
            } else {
                shown.appendCodePoint(c);
            }
        });
        return shown.toString();
    }

    /**
     * Checks a list of methods.
     *
     * @return the same methods, without white space around them and empty parts
     * @throws IllegalArgumentException naming option, value and what is allowed
     */
    static String checkRoots(String list) {
        return check(
                rootsOf(list),
                true,
                "rootMethods must be methods separated by commas,"
                        + " as com.acme.OrderHandler.handle, com.acme.jobs.*.run, com.acme.batch.**, com.acme.Order.<init> or"
                        + " com.acme.Order.add(int, String)");
    }

    /**
     * Checks a list of prefixes, some of them with a minus.
     *
     * @return the same prefixes, without white space around them and empty parts
     * @throws IllegalArgumentException naming option, value and what is allowed
     */
    static String checkFilter(String list) {
        return check(
                List.of(list.split(",", -1)),
                false,
                "instrumentationFilter must be"
                        + " package prefixes separated by commas, with a minus before those to leave out, as in com.acme,"
                        + " -com.acme.util");
    }

    private static String check(List<String> parts, boolean areRoots, String allowed) {
        List<String> kept = new ArrayList<>();
        for (String text : parts) {
            String part = text.trim();
            if (part.isEmpty()) {
                continue;
            }
            String problem = areRoots ? complainOfRoot(part) : complainOfPrefix(part);
            if (kept.size() == MAX_PARTS) {
                problem = "more than 1,000 parts";
            }
            if (problem != null) {
                throw new IllegalArgumentException(allowed + "; got \"" + visible(part) + "\": " + problem);
            }
            kept.add(part);
        }
        return String.join(",", kept);
    }

    /* Splits at commas, except between parentheses. */
    private static List<String> rootsOf(String list) {
        List<String> roots = new ArrayList<>();
        boolean inParameters = false;
        int begin = 0;
        for (int i = 0; i < list.length(); i++) {
            char c = list.charAt(i);
            if (c == '(' || c == ')') {
                inParameters = c == '(';
            } else if (c == ',' && !inParameters) {
                roots.add(list.substring(begin, i));
                begin = i + 1;
            }
        }
        roots.add(list.substring(begin));
        return roots;
    }

    private static @Nullable String complainOfRoot(String root) {
        if (root.getBytes(StandardCharsets.UTF_8).length > MAX_PART_BYTES) {
            return "more than 1,000 bytes";
        }
        int open = root.indexOf('(');
        int close = root.indexOf(')');
        if (open < 0 && close < 0) {
            return complainOfName(root);
        }
        if (open < 0 || close != root.length() - 1 || root.indexOf('(', open + 1) >= 0) {
            return "parentheses that do not match, or text behind them";
        }
        String types = root.substring(open + 1, close).trim();
        if (!types.isEmpty()) {
            for (String type : types.split(",", -1)) {
                String complaint = complainOfType(type.trim());
                if (complaint != null) {
                    return complaint;
                }
            }
        }
        return complainOfName(root.substring(0, open).trim());
    }

    private static @Nullable String complainOfName(String name) {
        String[] levels = name.split("\\.", -1);
        for (int i = 0; i < levels.length; i++) {
            String complaint = complainOfLevel(levels[i], i == levels.length - 1);
            if (complaint != null) {
                return complaint;
            }
        }
        return levels.length == 1 && !name.equals("**")
                ? "no class before the method; for a class write CLASS.*"
                : null;
    }

    private static @Nullable String complainOfLevel(String level, boolean isLast) {
        if (level.isEmpty()) {
            return DOTS;
        }
        if (level.equals("**") || (isLast && (level.equals("<init>") || level.equals("<clinit>")))) {
            return null;
        }
        for (int i = 0; i < level.length(); i++) {
            if (level.startsWith("**", i)) {
                return "** beside other text: it stands for whole levels";
            }
            if (level.charAt(i) == '<' || level.charAt(i) == '>') {
                return "of names with < only <init> and <clinit>, after the class";
            }
        }
        return complainOfCharacters(level, NO_NAME, "a name", "name");
    }

    private static @Nullable String complainOfCharacters(String text, String refused, String where, String kind) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c <= ' ' || c == DELETE) {
                return "white space inside " + where;
            }
            if (c == '{' || c == '}') {
                return "a placeholder that was not replaced";
            }
            if (refused.indexOf(c) >= 0) {
                return "a character that no " + kind + " in Java source has";
            }
        }
        return null;
    }

    private static @Nullable String complainOfType(String given) {
        String type = given;
        int dimensions = 0;
        while (type.endsWith("[]") || (dimensions == 0 && type.endsWith("..."))) {
            type = type.substring(0, type.length() - (type.endsWith("[]") ? 2 : 3))
                    .trim();
            dimensions++;
        }
        if (type.isEmpty()) {
            return "a parameter without a type";
        }
        if (type.equals("void")) {
            return "void as the type of a parameter";
        }
        if (dimensions > MAX_DIMENSIONS) {
            return "more than 255 dimensions";
        }
        for (String level : type.split("\\.", -1)) {
            String complaint = complainOfTypeLevel(level);
            if (complaint != null) {
                return complaint;
            }
        }
        return null;
    }

    private static @Nullable String complainOfTypeLevel(String level) {
        if (level.isEmpty()) {
            return DOTS;
        }
        if (level.indexOf('<') >= 0 || level.indexOf('>') >= 0) {
            return "type arguments: write the parameter's class alone";
        }
        if (level.indexOf('*') >= 0) {
            return "a star among the parameters";
        }
        return complainOfCharacters(level, NO_NAME, "a name", "name");
    }

    private static @Nullable String complainOfPrefix(String part) {
        String prefix = part.startsWith("-") ? part.substring(1) : part;
        int end = prefix.length();
        while (end > 0 && prefix.charAt(end - 1) == '*') {
            end--;
        }
        if (prefix.isEmpty()) {
            return "a minus without a prefix";
        }
        if (prefix.getBytes(StandardCharsets.UTF_8).length > MAX_PART_BYTES) {
            return "more than 1,000 bytes";
        }
        String text = prefix.substring(0, end);
        int star = text.indexOf('*');
        String before = star < 0 ? text : text.substring(0, star);
        String complaint = complainOfCharacters(before, NO_PACKAGE, "a prefix", "package");
        if (complaint != null) {
            return complaint;
        }
        if (star >= 0) {
            return "a star that is not at its end";
        }
        return prefix.startsWith(".") || prefix.contains("..") ? "two dots in a row, or one at its begin" : null;
    }
}
