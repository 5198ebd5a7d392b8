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
 * The lines with the most wall time of their own, as text. A line of the JDK is shown with its nearest caller outside
 * the JDK: {@code java.lang.Thread.sleep(Native Method) <- com.acme.A.b(A.java:7)}.
 *
 * <p>Threads: any.
 */
public final class HotRows {

    private static final Pattern JDK = Pattern.compile("(java|javax|jdk|sun|com\\.sun)\\..*");
    private static final String CALLED_BY = " <- ";
    private static final double NANOS_PER_MILLI = 1e6;

    private HotRows() {}

    /** A row, and the nearest line outside the JDK at or above it. */
    private record Step(
            Iterator<SamplingRow> rows, @Nullable String caller) {}

    /**
     * Adds up own wall time by line.
     *
     * @param report an open report
     * @param groups the groups to read
     * @return nanoseconds by line; the map belongs to the caller
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
     * Formats the lines with the most time.
     *
     * @param nanos a result of {@link #of}
     * @param lines limit of lines
     * @return lines with share and milliseconds, each ended by {@code \n}; empty if there is no time
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
