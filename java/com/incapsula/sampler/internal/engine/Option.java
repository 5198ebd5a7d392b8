// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of the native core: name, type, default, range, and whether the option may change while the sampler runs.
 * The order is that of {@code native/src/model/options.h}; {@code OptionIT} compares the two tables.
 *
 * <p>The names are those of the properties of ThreadsSampler. An option's value is a Long (a number), a Boolean (a
 * flag) or a String (a choice, or a text).
 */
public enum Option {

    /** Mean time between two samples of a thread, milliseconds. */
    SAMPLING_FREQUENCY_MILLIS("samplingFrequencyMillis", 50L, 1L, 3_600_000L, false),
    /** Time between two reports, seconds; 0: one report, at the end. */
    REPORT_FREQUENCY_SECONDS("reportFrequencySeconds", 900L, 0L, 31_536_000L, false),
    /** Limit of the memory that the core uses, bytes. */
    MEMORY_LIMIT_BYTES("memoryLimitBytes", 64L << 20, 4L << 20, 1L << 40, true),
    /** Longest stack that is reported whole, frames. */
    MAX_DEPTH_FRAMES("maxDepthFrames", 1024L, 16L, 65_536L, true),
    /** Longest time between two polls of an idle thread, milliseconds. */
    IDLE_LOOKBACK_MILLIS("idleLookbackMillis", 1000L, 1L, 60_000L, false),
    /** Limit of the sampler's own CPU time, thousandths of one core. */
    OVERHEAD_LIMIT_PER_MILLE("overheadLimitPerMille", 10L, 1L, 1000L, false),
    /** Real-time signal whose handler walks the stack of a running thread, its number. */
    SAMPLING_SIGNAL("samplingSignal", 38L, 34L, 64L, true),
    /** Limit of methods whose calls are counted. */
    MAX_COUNTED_METHODS("maxCountedMethods", 32_768L, 1L, 1L << 20, true),
    /** Limit of nodes in the call tree of one thread. */
    MAX_CALL_NODES("maxCallNodes", 100_000L, 64L, 100_000_000L, true),
    /** Limit of depth in the call tree of one thread. */
    MAX_CALL_DEPTH("maxCallDepth", 1000L, 1L, 1_000_000L, true),
    /** Limit of thread groups in a report; further groups are shown as one. */
    MAX_GROUPS("maxGroups", 500L, 1L, 20_000L, false),
    /** Rows below this share of their group's active time are folded into one, thousandths; 0: all are shown. */
    REPORT_MIN_PER_MILLE("reportMinPerMille", 5L, 0L, 1000L, false),
    /** Whether samples are taken. */
    ACTIVE("active", true),
    /** Whether daemon threads are not sampled. */
    SKIP_DAEMON_THREADS("skipDaemonThreads", false),
    /** Whether rows without own time are printed where the package changes. */
    REPORT_ZERO_TIME_PACKAGES("reportZeroTimePackages", false),
    /** Whether rows have a column with their share of the group's time. */
    REPORT_PERCENT("reportPercent", false),
    /** Whether a report begins with a summary. */
    REPORT_SUMMARY("reportSummary", true),
    /** Whether a recursion is shown as one row. */
    FOLD_RECURSION("foldRecursion", true),
    /** Whether C code makes the group names; derived from the manipulator. */
    DEFAULT_THREAD_NAME_RULE("defaultThreadNameRule", true),
    /** Whether rows have a column with CPU time. */
    REPORT_CPU_TIME("reportCpuTime", false),
    /** Whether rows have columns with their time by state. */
    REPORT_STATES("reportStates", false),
    /** Whether the JVM's own threads are reported. */
    REPORT_JVM_THREADS("reportJvmThreads", true),
    /** Whether unmounted virtual threads are drawn at random and walked. */
    SAMPLE_UNMOUNTED_VIRTUAL_THREADS("sampleUnmountedVirtualThreads", false),
    /** Whether rows have a 95 % confidence interval. */
    ERROR_BARS("errorBars", true),
    /** Whether counts are reset once no more methods are being instrumented. */
    DISCARD_WARM_UP("discardWarmUp", false),
    /** How stacks are walked: AUTO or JVMTI. */
    ENGINE("engine", true, "AUTO", "JVMTI"),
    /** Which time is sampled: WALL or CPU. */
    CLOCK("clock", true, "WALL", "CPU"),
    /** Order of siblings: BY_NAME or BY_TIME. */
    REPORT_ORDER("reportOrder", false, "BY_NAME", "BY_TIME"),
    /** Length of the sampler's account in a report: SHORT or FULL. */
    REPORT_ACCOUNT("reportAccount", false, "SHORT", "FULL"),
    /** Which methods below the roots are instrumented, and when: a name of Instrumentation. */
    INSTRUMENTATION("instrumentation", true, "AUTO", "LAZY", "EAGER", "TOTAL"),
    /** The source of the times of counted calls: a name of MethodTiming. */
    METHOD_TIMING("methodTiming", true, "SAMPLED", "EXACT", "NONE"),
    /** Packages of the user's code: prefixes, separated by commas. */
    MONITORED_PACKAGES("monitoredPackages", "", false),
    /** Methods below which calls are counted, separated by commas. */
    ROOT_METHODS("rootMethods", "", true),
    /** Classes whose methods are counted below the roots: prefixes, separated by commas. */
    INSTRUMENTATION_FILTER("instrumentationFilter", "", true),
    /** Methods in which a waiting thread does I/O, separated by commas. */
    IO_METHODS("ioMethods", "", false),
    /** Methods in which a waiting thread is idle, separated by commas. */
    IDLE_METHODS("idleMethods", "", false),
    /** The package of the main class; derived from the command line. */
    MAIN_PACKAGES("mainPackages", "", true);

    private final String text;

    @SuppressWarnings("ImmutableEnumChecker") // a String, a Boolean or a Long
    private final Object standard;

    private final long min;
    private final long max;
    private final boolean fixed;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final String[] choices; // empty unless the option is a choice

    Option(String text, Object standard, long min, long max, boolean fixed, String... choices) {
        this.text = text;
        this.standard = standard;
        this.min = min;
        this.max = max;
        this.fixed = fixed;
        this.choices = choices;
    }

    /* A number. */
    Option(String text, long standard, long min, long max, boolean fixed) {
        this(text, (Object) standard, min, max, fixed);
    }

    /* A flag. */
    Option(String text, boolean standard) {
        this(text, standard, 0, 1, false);
    }

    /* A text. */
    Option(String text, String standard, boolean fixed) {
        this(text, standard, 0, 0, fixed);
    }

    /* A choice, the default first. */
    Option(String text, boolean fixed, String... choices) {
        this(text, choices[0], 0, choices.length - 1, fixed, choices);
    }

    /** @return the name, as in the setter of ThreadsSampler */
    String text() {
        return text;
    }

    Object standard() {
        return standard;
    }

    boolean isText() {
        return standard instanceof String && choices.length == 0;
    }

    /** @return true if the option cannot change while the sampler runs */
    boolean fixed() {
        return fixed;
    }

    /** @return this option's row of {@link NativeBridge#optionTable()}, if both sides agree */
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

    /**
     * Converts a checked value to the form in which the core takes it.
     *
     * @param value of an option that is no text
     * @return the number; 0 or 1 for a flag; the index of a choice
     */
    long toInteger(Object value) {
        if (value instanceof Long number) {
            return number;
        }
        if (value instanceof Boolean flag) {
            return flag ? 1 : 0;
        }
        return List.of(choices).indexOf(value);
    }

    /**
     * Checks a value.
     *
     * @return the value; of a text without white space around its parts, and without empty parts
     * @throws IllegalArgumentException naming option, value and range
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
        return isText() ? checkText((String) value) : value;
    }

    private String checkText(String list) {
        return switch (this) {
            case ROOT_METHODS -> NameLists.checkRoots(list);
            case INSTRUMENTATION_FILTER -> NameLists.checkFilter(list);
            case IO_METHODS, IDLE_METHODS -> NameLists.checkPrefixes(text, "methods", list);
            default -> NameLists.checkPrefixes(text, "package prefixes", list);
        };
    }
}
