// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A checked value of each {@link Option}, and the threads that the user chose: everything an engine is configured with.
 * Immutable.
 */
final class OptionValues {

    private static final Option[] OPTIONS = Option.values();

    /* Indexed by ordinal: the first EnumMap of a JVM costs 2 ms, for reflection. Loops instead of streams save as
     * much. */
    private final Object[] values;
    private final ThreadFilter threads;

    /** The defaults, and all threads. */
    OptionValues() {
        values = new Object[OPTIONS.length];
        for (Option option : OPTIONS) {
            values[option.ordinal()] = option.standard();
        }
        threads = ThreadFilter.ALL;
    }

    private OptionValues(Object[] values, ThreadFilter threads) {
        this.values = values;
        this.threads = threads;
    }

    /** Changes one value in a copy. @throws IllegalArgumentException naming option, value and range */
    OptionValues with(Option option, @Nullable Object value) {
        Object[] changed = values.clone();
        changed[option.ordinal()] = option.check(value);
        return new OptionValues(changed, threads);
    }

    /** Changes the chosen threads in a copy. */
    OptionValues with(ThreadFilter chosen) {
        return new OptionValues(values, chosen);
    }

    Object get(Option option) {
        return values[option.ordinal()];
    }

    ThreadFilter threads() {
        return threads;
    }

    /**
     * Checks combinations, which the setter of a single option cannot check.
     *
     * @throws IllegalArgumentException naming the options and their values
     */
    void checkTogether() {
        long reportSeconds = (Long) get(Option.REPORT_FREQUENCY_SECONDS);
        long samplingMillis = (Long) get(Option.SAMPLING_FREQUENCY_MILLIS);
        if (reportSeconds != 0 && reportSeconds * 1000 < samplingMillis) {
            throw new IllegalArgumentException("reportFrequencySeconds must be 0 or not shorter than"
                    + " samplingFrequencyMillis, got " + reportSeconds + " s and " + samplingMillis + " ms");
        }
        if (get(Option.CLOCK).equals("CPU") && !get(Option.ENGINE).equals("AUTO")) {
            throw new IllegalArgumentException("clock CPU needs engine AUTO, got " + get(Option.ENGINE));
        }
        if (get(Option.CLOCK).equals("CPU") && get(Option.METHOD_TIMING).equals("EXACT") && countsCalls()) {
            throw new IllegalArgumentException("clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read a"
                    + " thread's CPU clock at each call takes longer than most calls");
        }
    }

    /* TOTAL needs no roots. */
    private boolean countsCalls() {
        return !get(Option.ROOT_METHODS).equals("")
                || get(Option.INSTRUMENTATION).equals("TOTAL");
    }

    /** @return numbers, flags and choices in the order of {@link Option}, as {@link Option#toInteger} makes them */
    long[] integers() {
        long[] integers = new long[OPTIONS.length];
        int count = 0;
        for (Option option : OPTIONS) {
            if (!option.isText()) {
                integers[count++] = option.toInteger(get(option));
            }
        }
        return Arrays.copyOf(integers, count);
    }

    /** @return the texts in the order of {@link Option} */
    String[] texts() {
        String[] texts = new String[OPTIONS.length];
        int count = 0;
        for (Option option : OPTIONS) {
            if (option.isText()) {
                texts[count++] = (String) get(option);
            }
        }
        return Arrays.copyOf(texts, count);
    }

    /** Compares everything. */
    boolean isSameAs(OptionValues other) {
        return threads == other.threads && hasSameOptions(other);
    }

    private boolean hasSameOptions(OptionValues other) {
        return Arrays.equals(values, other.values);
    }

    /**
     * Hands the differences to an engine. If the engine refuses one, it keeps its configuration.
     *
     * @param had the engine's configuration
     */
    void applyTo(Engine engine, OptionValues had) {
        boolean configures = !hasSameOptions(had);
        if (configures) {
            engine.configure(this);
        }
        if (threads == had.threads) {
            return;
        }
        try {
            applyThreadsTo(engine);
        } catch (RuntimeException | Error e) {
            if (configures) {
                had.restore(engine, e);
            }
            throw e;
        }
    }

    private void restore(Engine engine, Throwable cause) {
        try {
            engine.configure(this);
        } catch (RuntimeException | Error e) {
            cause.addSuppressed(e);
        }
    }

    void applyThreadsTo(Engine engine) {
        engine.filterThreads(threads.alive().toArray(new Thread[0]), threads.only());
    }

    /** Lines {@code name=value}. */
    @Override
    public String toString() {
        StringBuilder lines = new StringBuilder();
        for (Option option : OPTIONS) {
            lines.append(option.text()).append('=').append(get(option)).append('\n');
        }
        return lines.toString();
    }
}
