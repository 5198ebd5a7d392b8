// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.report.PlainText;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The properties of the native core, with their names, defaults and ranges: the Java side of
 * {@code native/src/model/options.h}, in its order. {@code PropertyIT} compares the two.
 */
public enum Property {

    /** Mean time between two samples of a thread. */
    SAMPLING_FREQUENCY_MILLIS("samplingFrequencyMillis", 50L, 1L, 3_600_000L, false),
    /** Time between two reports; 0: one report, at the end. */
    REPORT_FREQUENCY_SECONDS("reportFrequencySeconds", 900L, 0L, 31_536_000L, false),
    /** All memory the core may use. */
    MEMORY_LIMIT_BYTES("memoryLimitBytes", 64L << 20, 4L << 20, 1L << 40, true),
    /** Frames reported of one stack. */
    MAX_DEPTH_FRAMES("maxDepthFrames", 1024L, 16L, 65_536L, true),
    /** The longest time between two polls of an idle thread. */
    IDLE_LOOKBACK_MILLIS("idleLookbackMillis", 1000L, 1L, 60_000L, false),
    /** CPU time the sampler may use, in thousandths of one core. */
    OVERHEAD_LIMIT_PER_MILLE("overheadLimitPerMille", 10L, 1L, 1000L, false),
    /** Number of the real-time signal that makes a running thread walk its stack. */
    SAMPLING_SIGNAL("samplingSignal", 38L, 34L, 64L, true),
    /** Methods that get a number. */
    MAX_COUNTED_METHODS("maxCountedMethods", 32_768L, 1L, 1L << 20, true),
    /** Nodes of one thread's tree of calls. */
    MAX_CALL_NODES("maxCallNodes", 100_000L, 64L, 100_000_000L, true),
    /** Depth of one thread's tree of calls. */
    MAX_CALL_DEPTH("maxCallDepth", 1000L, 1L, 1_000_000L, true),
    /** Thread groups of a report; the others are one. */
    MAX_GROUPS("maxGroups", 500L, 1L, 20_000L, false),
    /** Rows of less than so many thousandths of their group's active time are one; 0: all are shown. */
    REPORT_MIN_PER_MILLE("reportMinPerMille", 5L, 0L, 1000L, false),
    /** Whether samples are taken. */
    ACTIVE("active", true),
    /** Whether daemon threads are not sampled. */
    SKIP_DAEMON_THREADS("skipDaemonThreads", false),
    /** Whether rows without own time are printed where the package changes. */
    REPORT_ZERO_TIME_PACKAGES("reportZeroTimePackages", false),
    /** Whether rows have a column with their share of the group. */
    REPORT_PERCENT("reportPercent", false),
    /** Whether a report begins with a summary. */
    REPORT_SUMMARY("reportSummary", true),
    /** Whether a recursion is one row. */
    FOLD_RECURSION("foldRecursion", true),
    /** Whether group names are made in C; follows from the manipulator. */
    DEFAULT_THREAD_NAME_RULE("defaultThreadNameRule", true),
    /** Whether rows have a column with CPU time. */
    REPORT_CPU_TIME("reportCpuTime", false),
    /** Whether rows have their time by state. */
    REPORT_STATES("reportStates", false),
    /** Whether the JVM's own threads are reported. */
    REPORT_JVM_THREADS("reportJvmThreads", true),
    /** Whether virtual threads that are not mounted are drawn at random and walked. */
    SAMPLE_UNMOUNTED_VIRTUAL_THREADS("sampleUnmountedVirtualThreads", false),
    /** Whether it is measured how far chance may have moved each figure. */
    ERROR_BARS("errorBars", true),
    /** Whether counts begin at zero once no new method is instrumented any more. */
    DISCARD_WARM_UP("discardWarmUp", false),
    /** How stacks are walked: AUTO or JVMTI. */
    ENGINE("engine", true, "AUTO", "JVMTI"),
    /** Which time is sampled: WALL or CPU. */
    CLOCK("clock", true, "WALL", "CPU"),
    /** Order of siblings: BY_NAME or BY_TIME. */
    REPORT_ORDER("reportOrder", false, "BY_NAME", "BY_TIME"),
    /** How much of the sampler's account a report has: SHORT or FULL. */
    REPORT_ACCOUNT("reportAccount", false, "SHORT", "FULL"),
    /** Which methods below the roots are instrumented, and when. */
    INSTRUMENTATION("instrumentation", true, "AUTO", "LAZY", "EAGER", "TOTAL"),
    /** Where the times of counted calls come from. */
    METHOD_TIMING("methodTiming", true, "SAMPLED", "EXACT", "NONE"),
    /** Comma-separated prefixes, normalised. */
    MONITORED_PACKAGES("monitoredPackages", "", false),
    /** From which methods down calls are counted, normalised. */
    ROOT_METHODS("rootMethods", "", true),
    /** Prefixes of the classes with methods that are counted below the roots, normalised. */
    INSTRUMENTATION_FILTER("instrumentationFilter", "", true),
    /** Methods in which a thread that waits does I/O, normalised. */
    IO_METHODS("ioMethods", "", false),
    /** Methods in which a thread that waits is idle, normalised. */
    IDLE_METHODS("idleMethods", "", false),
    /** The packages of the main class; follows from the process. */
    MAIN_PACKAGES("mainPackages", "", true);

    private static final int MAX_PREFIXES = 1000;
    private static final int MAX_PREFIX_BYTES = 1000;

    private final String text;

    @SuppressWarnings("ImmutableEnumChecker") // a String, a Boolean or a number
    private final Object standard;

    private final long min;
    private final long max;
    private final boolean fixed;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final String[] choices; // none where it is no choice

    Property(String text, Object standard, long min, long max, boolean fixed, String... choices) {
        this.text = text;
        this.standard = standard;
        this.min = min;
        this.max = max;
        this.fixed = fixed;
        this.choices = choices;
    }

    /* A number. */
    Property(String text, long standard, long min, long max, boolean fixed) {
        this(text, (Object) standard, min, max, fixed);
    }

    /* A flag. */
    Property(String text, boolean standard) {
        this(text, standard, 0, 1, false);
    }

    /* A text. */
    Property(String text, String standard, boolean fixed) {
        this(text, standard, 0, 0, fixed);
    }

    /* A choice, the default first. */
    Property(String text, boolean fixed, String... choices) {
        this(text, choices[0], 0, choices.length - 1, fixed, choices);
    }

    /** @return the name as the setter of ThreadsSampler spells it */
    String text() {
        return text;
    }

    Object standard() {
        return standard;
    }

    long min() {
        return min;
    }

    long max() {
        return max;
    }

    boolean isText() {
        return standard instanceof String && choices.length == 0;
    }

    /** @return the row of {@link NativeBridge#optionTable()} that this property must be */
    String row() {
        if (isText()) {
            return text + " TEXT " + fixed;
        }
        if (choices.length > 0) {
            return text + " CHOICE " + String.join(" ", choices) + " " + fixed;
        }
        return standard instanceof Boolean
                ? text + " FLAG " + standard + " " + fixed
                : text + " NUMBER " + standard + " " + min + " " + max + " " + fixed;
    }

    /** @return a checked value of a property that is no text, as the core takes it */
    long toInteger(Object value) {
        if (value instanceof Long number) {
            return number;
        }
        if (value instanceof Boolean flag) {
            return flag ? 1 : 0;
        }
        return List.of(choices).indexOf(value);
    }

    /** @return the value that {@link #toInteger} made this of */
    Object ofInteger(long value) {
        if (choices.length > 0) {
            return choices[(int) value];
        }
        if (standard instanceof Boolean) {
            return value != 0;
        }
        return value;
    }

    /** @return true if it cannot change while the sampler runs */
    boolean fixed() {
        return fixed;
    }

    /**
     * Checks a value and normalises it.
     *
     * @throws IllegalArgumentException naming property, value and range
     */
    Object check(@Nullable Object value) {
        if (value == null) {
            throw new IllegalArgumentException(text + " must not be null");
        }
        if (value instanceof Long number && (number < min || number > max)) {
            throw new IllegalArgumentException(text + " must be between " + min + " and " + max + ", got " + number);
        }
        if (choices.length > 0 && !List.of(choices).contains(value)) {
            int last = choices.length - 1;
            throw new IllegalArgumentException(text + " must be "
                    + String.join(", ", List.of(choices).subList(0, last)) + " or " + choices[last] + ", got " + value);
        }
        return isText() ? normalise((String) value) : value;
    }

    private String normalise(String list) {
        if (this == ROOT_METHODS) {
            return CountingLists.checkRoots(list);
        }
        return this == INSTRUMENTATION_FILTER ? CountingLists.checkFilter(list) : normalisePrefixes(list);
    }

    private String normalisePrefixes(String list) {
        List<String> prefixes = new ArrayList<>();
        for (String part : list.split(",")) {
            String prefix = part.strip();
            if (!prefix.isEmpty()) {
                prefixes.add(checkPrefix(prefix));
            }
        }
        if (prefixes.size() > MAX_PREFIXES) {
            throw new IllegalArgumentException(
                    text + " must have at most " + MAX_PREFIXES + " parts, got " + prefixes.size());
        }
        return String.join(",", prefixes);
    }

    private String checkPrefix(String prefix) {
        if (hasSpaceOrControl(prefix)) {
            throw new IllegalArgumentException(text + " must be " + items() + " separated by commas, without white"
                    + " space or control characters inside, got \"" + visible(prefix) + "\"");
        }
        checkSyntax(prefix);
        int bytes = prefix.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_PREFIX_BYTES) {
            throw new IllegalArgumentException(text + " must have parts of at most " + MAX_PREFIX_BYTES
                    + " bytes, got one of " + bytes + " bytes");
        }
        return prefix;
    }

    private String items() {
        return this == IO_METHODS || this == IDLE_METHODS ? "methods" : "package prefixes";
    }

    private static boolean hasSpaceOrControl(String prefix) {
        for (int i = 0; i < prefix.length(); i++) {
            if (Character.isWhitespace(prefix.charAt(i)) || Character.isISOControl(prefix.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    /* Refuses what no class name begins with: it would match nothing, and each stack would be its root alone. */
    private void checkSyntax(String prefix) {
        String problem = null;
        if (prefix.indexOf('{') >= 0 || prefix.indexOf('}') >= 0) {
            problem = "this is a placeholder that was not replaced";
        } else if (prefix.indexOf(';') >= 0) {
            problem = "parts are separated by commas, not by semicolons";
        } else if (prefix.indexOf('/') >= 0) {
            problem = "parts of a name are separated by dots, not by slashes";
        } else if (prefix.indexOf('*') >= 0 && prefix.indexOf('*') != prefix.length() - 1) {
            problem = "an asterisk may only be the last character";
        }
        if (problem != null) {
            throw new IllegalArgumentException(text + " must be " + items() + " separated by commas, such as"
                    + " com.acme,org.example.app: " + problem + ", got \"" + visible(prefix) + "\"");
        }
    }

    /* As it is shown in a message. */
    static String visible(String prefix) {
        StringBuilder shown = new StringBuilder();
        prefix.codePoints().limit(100).forEach(c -> {
            if (PlainText.isHidden(c)) {
                PlainText.escape(shown, c);
            } else {
                shown.appendCodePoint(c);
            }
        });
        return shown.toString();
    }
}
