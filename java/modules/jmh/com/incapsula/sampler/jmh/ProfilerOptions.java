// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import com.incapsula.sampler.ReportFormat;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.ProfilerException;

/**
 * The options after the colon of {@code -prof}.
 *
 * @param interval milliseconds
 * @param lines the number of lines in the text
 * @param format of the file; null: no file
 * @param folder of the file
 */
record ProfilerOptions(int interval, int lines, @Nullable ReportFormat format, String folder) {

    private static final int MAX_INTERVAL = 3_600_000;
    private static final ProfilerOptions DEFAULTS = new ProfilerOptions(10, 20, ReportFormat.HTML, "");
    private static final String NO_FILE = "NONE";

    private static final String HELP = """
            Options, separated by semicolons:
              interval=MILLISECONDS  the mean time between two ticks, 1 to 3600000; default 10
              lines=NUMBER           how many of the hottest lines are printed, 1 or more; default 20
              format=NAME            the form of the file: FORMATS, or none; default html
              folder=FOLDER          where the file goes; default the working folder
              help                   this text
            """;

    /** @throws ProfilerException if a key is not known or a value is out of range; also after printing help */
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
        if (option.equals("help")) {
            System.out.print(HELP.replace("FORMATS", String.join(", ", formats())));
            throw new ProfilerException("Help requested.");
        }
        return switch (key) {
            case "interval" -> new ProfilerOptions(number(key, value, MAX_INTERVAL), lines, format, folder);
            case "lines" -> new ProfilerOptions(interval, number(key, value, Integer.MAX_VALUE), format, folder);
            case "format" -> new ProfilerOptions(interval, lines, format(value), folder);
            case "folder" -> new ProfilerOptions(interval, lines, format, folder(value));
            default ->
                throw new ProfilerException(
                        "option " + key
                                + " is not known; the options are interval, lines, format, folder and help, separated by semicolons");
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
        for (ReportFormat each : ReportFormat.values()) {
            if (each.name().equals(name)) {
                return each;
            }
        }
        throw new ProfilerException(
                "format must be one of " + String.join(", ", formats()) + ", none, got \"" + value + "\"");
    }

    private static List<String> formats() {
        return Arrays.stream(ReportFormat.values())
                .map(each -> each.name().toLowerCase(Locale.ROOT))
                .toList();
    }

    private static String folder(String value) throws ProfilerException {
        if (value.isEmpty()) {
            throw new ProfilerException("folder must not be empty");
        }
        return value;
    }
}
