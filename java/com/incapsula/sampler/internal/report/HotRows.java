// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The lines with the most wall time of their own, for people. A line of the JDK alone says little, so it stands with the
 * nearest line above it that is not the JDK's: {@code java.lang.Thread.sleep(Native Method) <- com.acme.A.b(A.java:7)}.
 *
 * <p>Threads: any.
 */
public final class HotRows {

    private static final Pattern JDK = Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\..*");
    private static final String CALLED_BY = " <- ";
    private static final double NANOS_PER_MILLI = 1e6;

    private HotRows() {}

    /** A row, and the nearest line at it or above it that is not the JDK's. */
    private record Step(
            Iterator<SamplingRow> rows, @Nullable String caller) {}

    /**
     * Adds up own wall time by line.
     *
     * @param report an open report
     * @param groups of which groups
     * @return nanoseconds by line, the caller's own
     */
    public static Map<String, Long> of(SamplingReport report, Predicate<SamplingGroup> groups) {
        Map<String, Long> nanos = new HashMap<>();
        report.getGroups().stream().filter(groups).forEach(group -> add(report.rows(group), nanos));
        return nanos;
    }

    private static void add(List<SamplingRow> roots, Map<String, Long> nanos) {
        Deque<Step> path = new ArrayDeque<>();
        path.push(new Step(roots.iterator(), null));
        while (!path.isEmpty()) {
            Step step = path.peek();
            if (!step.rows().hasNext()) {
                path.pop();
                continue;
            }
            SamplingRow row = step.rows().next();
            boolean isOthers = row.isPseudo() || JDK.matcher(row.getClassName()).matches();
            String caller = isOthers ? step.caller() : row.toString();
            if (row.getOwnWallNanos() > 0) {
                nanos.merge(
                        isOthers && caller != null ? row + CALLED_BY + caller : row.toString(),
                        row.getOwnWallNanos(),
                        Long::sum);
            }
            path.push(new Step(row.children().iterator(), caller));
        }
    }

    /**
     * Prints the first of them.
     *
     * @param nanos as {@link #of} gives them
     * @param lines how many at most
     * @return a line each, with share and milliseconds, each ended by {@code \n}; empty where there is no time
     */
    public static String table(Map<String, Long> nanos, int lines) {
        double all = nanos.values().stream().mapToDouble(Long::doubleValue).sum();
        StringBuilder table = new StringBuilder();
        nanos.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey()))
                .limit(lines)
                .forEach(line -> table.append(String.format(
                        Locale.ROOT,
                        "%5.1f %% %10.1f ms  %s\n",
                        100 * line.getValue() / all,
                        line.getValue() / NANOS_PER_MILLI,
                        line.getKey())));
        return table.toString();
    }
}
