// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import com.incapsula.sampler.ReportFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * What stands behind the colon of {@code -prof}.
 *
 * @param interval milliseconds
 * @param lines of the text
 * @param format of the file; null: no file
 * @param folder of the file
 */
record ProfilerOptions(int interval, int lines, @Nullable ReportFormat format, String folder) {

    private static final int MAX_INTERVAL = 3_600_000;
    private static final ProfilerOptions DEFAULTS = new ProfilerOptions(10, 20, ReportFormat.HTML, "");
    private static final String NO_FILE = "NONE";

    /** @throws ProfilerException if a key is not known, or a value is out of range */
    static ProfilerOptions parse(String text) throws ProfilerException {
        ProfilerOptions options = DEFAULTS;
        for (String each : text.split(";", -1)) {
            if (!each.isBlank()) {
                options = options.with(each.strip());
            }
        }
        return options;
    }

    private ProfilerOptions with(String option) throws ProfilerException {
        int at = option.indexOf('=');
        String key = at < 0 ? option : option.substring(0, at).strip();
        String value = at < 0 ? "" : option.substring(at + 1).strip();
        return switch (key) {
            case "interval" -> new ProfilerOptions(number(key, value, MAX_INTERVAL), lines, format, folder);
            case "lines" -> new ProfilerOptions(interval, number(key, value, Integer.MAX_VALUE), format, folder);
            case "format" -> new ProfilerOptions(interval, lines, format(value), folder);
            case "folder" -> new ProfilerOptions(interval, lines, format, folder(value));
            default ->
                throw new ProfilerException("option " + key
                        + " is not known; the options are interval, lines, format and folder, separated by semicolons");
        };
    }

    private static int number(String key, String value, int highest) throws ProfilerException {
        int number;
        try {
            number = Integer.parseInt(value);
        } catch (NumberFormatException e) {
            number = 0;
        }
        if (number < 1 || number > highest) {
            throw new ProfilerException(key + " must be a number between 1 and " + highest + ", got \"" + value + "\"");
        }
        return number;
    }

    private static @Nullable ReportFormat format(String value) throws ProfilerException {
        String name = value.toUpperCase(Locale.ROOT);
        if (name.equals(NO_FILE)) {
            return null;
        }
        StringBuilder names = new StringBuilder();
        for (ReportFormat each : ReportFormat.values()) {
            if (each.name().equals(name)) {
                return each;
            }
            names.append(each.name().toLowerCase(Locale.ROOT)).append(", ");
        }
        throw new ProfilerException("format must be one of " + names + "none, got \"" + value + "\"");
    }

    private static String folder(String value) throws ProfilerException {
        if (value.isEmpty()) {
            throw new ProfilerException("folder must not be empty");
        }
        return value;
    }
}
