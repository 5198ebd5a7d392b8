// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingRow;
import com.incapsula.sampler.internal.report.PlainText;
import java.util.List;

/** Frames and names as models read them: short, on one line, and all that a search in sources needs. */
final class Frames {

    private static final int MAX_NAME = 160;

    private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.", "com.sun.");

    private Frames() {}

    /** @return whether a row is a method, and not one of the JDK */
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
        String name = row.getClassName();
        int dot = name.lastIndexOf('.');
        return dot < 0 ? "" : name.substring(0, dot);
    }

    /** @return the first two parts of {@link #packageOf}; a frame without one is of {@code [no package]} */
    static String rootPackageOf(SamplingRow row) {
        String name = packageOf(row);
        int dot = name.indexOf('.');
        int second = dot < 0 ? -1 : name.indexOf('.', dot + 1);
        return name.isEmpty() ? "[no package]" : clean(second < 0 ? name : name.substring(0, second));
    }

    /** @return {@code com.acme.Foo.bar}; a frame in brackets as it is */
    static String method(SamplingRow row) {
        return clean(row.isPseudo() ? row.getMethodName() : row.getClassName() + "." + row.getMethodName());
    }

    /** @return {@code com.acme.Foo.bar:12}; without a line where it is not known */
    static String line(SamplingRow row) {
        return method(row) + (row.getLine() > 0 ? ":" + row.getLine() : "");
    }

    /** @return as {@link #line}; {@code .Foo.bar:12} where the package is the one before */
    static String line(SamplingRow row, String packageBefore) {
        String text = line(row);
        return !packageBefore.isEmpty() && packageOf(row).equals(packageBefore)
                ? text.substring(Math.min(packageBefore.length(), text.length()))
                : text;
    }

    /** @return a thread group's name in quotes, clean, so that it is seen where it ends */
    static String quoted(String name) {
        return '"' + clean(name).replace('"', '\'') + '"';
    }

    /** @return a name of the application's without control and format characters, its middle left out where it is long */
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
            head--; // half a character is none
        }
        if (Character.isLowSurrogate(line.charAt(tail))) {
            tail++;
        }
        return line.substring(0, head) + "..." + line.substring(tail);
    }
}
