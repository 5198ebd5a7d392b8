// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import com.incapsula.sampler.RecentWindow;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportOptions;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a request for a report. A bad value is refused, and so is a parameter that does not apply to the
 * path. Parameters of other names are ignored: tools and proxies add some.
 */
final class Query {

    private static final RecentWindow.Length STANDARD_WINDOW = RecentWindow.Length.LAST_5_MINUTES;
    private static final int STANDARD_SECONDS = 30; // as go tool pprof expects
    private static final int BAD_REQUEST = 400;

    private static final String WINDOW = "window";
    private static final String SECONDS = "seconds";
    private static final String MEASURE = "measure";
    private static final String BY = "by"; // the same as measure
    private static final List<String> OF_CALLS = List.of("per", "focus");
    private static final Set<ReportFormat> WITH_MEASURE =
            EnumSet.of(ReportFormat.COLLAPSED, ReportFormat.SPEEDSCOPE, ReportFormat.TOP, ReportFormat.CALLS);

    private final Map<String, String> values = new HashMap<>();
    private final boolean waits;

    /**
     * Reads a query.
     *
     * @param path the request's, for messages
     * @param waits whether the path takes a profile of the next seconds
     * @param format the format of the path
     * @param text the part of the address after the question mark, or null; of two parameters of one name the last one
     *     counts
     * @throws Refusal if a parameter does not apply to the path
     */
    Query(String path, boolean waits, ReportFormat format, @Nullable String text) throws Refusal {
        this.waits = waits;
        for (String part : text == null ? new String[0] : text.split("&")) {
            int end = part.indexOf('=');
            if (end > 0) {
                values.put(part.substring(0, end), part.substring(end + 1));
            }
        }
        require(SECONDS, waits, path, LiveServer.PROFILE_PATH);
        require(WINDOW, !waits, path, "all paths but " + LiveServer.PROFILE_PATH);
        require(MEASURE, WITH_MEASURE.contains(format), path, paths(WITH_MEASURE));
        require(BY, WITH_MEASURE.contains(format), path, paths(WITH_MEASURE));
        for (String name : OF_CALLS) {
            require(name, format == ReportFormat.CALLS, path, paths(EnumSet.of(ReportFormat.CALLS)));
        }
    }

    private void require(String name, boolean applies, String path, String applicable) throws Refusal {
        String value = values.get(name);
        if (value != null && !applies) {
            throw new Refusal(
                    BAD_REQUEST,
                    name + " does not apply to " + path + ", got \"" + value + "\"; it applies to " + applicable);
        }
    }

    private static String paths(Set<ReportFormat> formats) {
        return LiveServer.PATHS.entrySet().stream()
                .filter(each -> formats.contains(each.getValue()))
                .map(Map.Entry::getKey)
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /** @return the window of the report */
    RecentWindow.Length window() throws Refusal {
        String value = values.get(WINDOW);
        try {
            return value == null ? STANDARD_WINDOW : RecentWindow.Length.of(value);
        } catch (IllegalArgumentException e) {
            throw new Refusal(BAD_REQUEST, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Determines how the report is written.
     *
     * @param own the options of the sampler's own reports
     * @return these, with what the request changes
     * @throws Refusal if a value is wrong, which does not depend on own
     */
    ReportOptions applyTo(ReportOptions own) throws Refusal {
        String focus = values.get("focus");
        try {
            return own.changedBy(
                    values.getOrDefault(MEASURE, values.get(BY)),
                    values.get("per"),
                    focus == null ? null : URLDecoder.decode(focus, StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw new Refusal(BAD_REQUEST, String.valueOf(e.getMessage()));
        }
    }

    /**
     * The length of a profile.
     *
     * @param max the longest one that the server takes, seconds
     * @return seconds; 0 for a path that does not wait
     */
    int seconds(int max) throws Refusal {
        if (!waits) {
            return 0;
        }
        String value = values.get(SECONDS);
        if (value == null) {
            return Math.min(STANDARD_SECONDS, max);
        }
        int seconds = value.matches("\\d{1,9}") ? Integer.parseInt(value) : 0;
        if (seconds < 1 || seconds > max) {
            throw new Refusal(BAD_REQUEST, "seconds must be between 1 and " + max + ", got \"" + value + "\"");
        }
        return seconds;
    }
}
