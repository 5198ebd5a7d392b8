// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import com.incapsula.sampler.internal.report.PlainText;
import java.util.List;
import java.util.function.Predicate;

/** Finds the JVM that a user names by its process, its main class or its jar. */
final class JvmNames {

    private JvmNames() {}

    /**
     * Finds JVMs.
     *
     * @param all the visible JVMs
     * @param wanted a process id; or a main class with or without its package, or a jar with or without folder and
     *        extension; else a part of the command line
     * @return one JVM for a process id, visible or not; else the best matches
     */
    static List<Target.Listed> find(List<Target.Listed> all, String wanted) {
        if (isNumber(wanted)) {
            return List.of(all.stream()
                    .filter(each -> each.pid().equals(wanted))
                    .findFirst()
                    .orElse(new Target.Listed(wanted, "")));
        }
        for (Predicate<String> way : List.<Predicate<String>>of(
                name -> main(name).equals(wanted),
                name -> simple(main(name)).equals(wanted),
                name -> name.contains(wanted))) {
            List<Target.Listed> found =
                    all.stream().filter(each -> way.test(each.name())).toList();
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    private static boolean isNumber(String text) {
        return !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
    }

    /** @return the main class or the jar of a command line */
    static String main(String name) {
        return name.split(" ", 2)[0];
    }

    private static String simple(String main) {
        if (main.endsWith(".jar")) {
            return main.substring(main.lastIndexOf('/') + 1, main.length() - ".jar".length());
        }
        String last = main.substring(main.lastIndexOf('/') + 1); // the class may be written as module/class
        return last.substring(last.lastIndexOf('.') + 1);
    }

    /** @return the name for a list */
    static String shown(String name) {
        return name.isEmpty() ? "(unknown)" : PlainText.of(name).replace('\n', ' ');
    }
}
