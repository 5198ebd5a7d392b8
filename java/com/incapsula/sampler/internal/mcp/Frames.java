// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingRow;
import com.incapsula.sampler.internal.report.PlainText;
import java.util.List;

/** Frames and names for models: short, on one line, with all that a search in sources needs. */
final class Frames {

    private static final int MAX_NAME = 160;

    private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");

    private Frames() {}

    /** @return true if a row is a method outside the JDK */
    static boolean isOfUsers(SamplingRow row) {
        if (row.isPseudo()) {
            return false;
        }
        for (String prefix : JDK) {
            if (row.getClassName().startsWith(prefix)) {
                return false;
            }
        }
        return true;
    }

    /** @return the package of a row's class, or empty */
    static String packageOf(SamplingRow row) {
        return packageOf(row.getClassName());
    }

    /** @return the package of a class, or empty */
    static String packageOf(String className) {
        return className.substring(0, Math.max(className.lastIndexOf('.'), 0));
    }

    /** @return the first two parts of {@link #packageOf}; {@code [no package]} for a frame without a package */
    static String rootPackageOf(SamplingRow row) {
        String name = packageOf(row);
        int dot = name.indexOf('.');
        int second = dot < 0 ? -1 : name.indexOf('.', dot + 1);
        return name.isEmpty() ? "[no package]" : clean(second < 0 ? name : name.substring(0, second));
    }

    /** @return {@code com.acme.Foo.bar}; a frame in brackets unchanged */
    static String method(SamplingRow row) {
        return clean(row.isPseudo() ? row.getMethodName() : row.getClassName() + "." + row.getMethodName());
    }

    /** @return {@code com.acme.Foo.bar:12}; without the line if it is not known */
    static String line(SamplingRow row) {
        return method(row) + (row.getLine() > 0 ? ":" + row.getLine() : "");
    }

    /** @return as {@link #line}; {@code .Foo.bar:12} if the package is the same as the previous one */
    static String line(SamplingRow row, String packageBefore) {
        String text = line(row);
        return !packageBefore.isEmpty() && packageOf(row).equals(packageBefore)
                ? text.substring(Math.min(packageBefore.length(), text.length()))
                : text;
    }

    /** @return a thread group's name, cleaned, in quotes that show where it ends */
    static String quoted(String name) {
        return '"' + clean(name).replace('"', '\'') + '"';
    }

    /** @return a name without control and format characters; the middle of a long name is left out */
    static String clean(String name) {
        String line = name.codePoints()
                .map(c -> PlainText.isHidden(c) ? '?' : c)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        if (line.length() <= MAX_NAME) {
            return line;
        }
        int head = MAX_NAME / 2;
        int tail = line.length() - MAX_NAME / 2;
        if (Character.isHighSurrogate(line.charAt(head - 1))) {
            head--; // keeps the surrogate pair together
        }
        if (Character.isLowSurrogate(line.charAt(tail))) {
            tail++;
        }
        return line.substring(0, head) + "..." + line.substring(tail);
    }
}
