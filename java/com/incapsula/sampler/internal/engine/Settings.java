// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Checked values of all properties. Immutable. */
final class Settings {

    /* By ordinal: the first EnumMap of a JVM costs it 2 ms, for reflection. */
    private final Object[] values;

    Settings() {
        Property[] properties = Property.values();
        values = new Object[properties.length];
        for (Property property : properties) {
            values[property.ordinal()] = property.standard();
        }
    }

    private Settings(Object... values) {
        this.values = values;
    }

    /** @return these settings with one value changed */
    Settings with(Property property, @Nullable Object value) {
        Object[] changed = values.clone();
        changed[property.ordinal()] = property.check(value);
        return new Settings(changed);
    }

    Object get(Property property) {
        return values[property.ordinal()];
    }

    boolean is(Property property) {
        return (Boolean) get(property);
    }

    /**
     * Checks what the setter of one property cannot check.
     *
     * @throws IllegalArgumentException naming the properties and their values
     */
    void checkTogether() {
        long reportSeconds = (Long) get(Property.REPORT_FREQUENCY_SECONDS);
        long samplingMillis = (Long) get(Property.SAMPLING_FREQUENCY_MILLIS);
        if (reportSeconds != 0 && reportSeconds * 1000 < samplingMillis) {
            throw new IllegalArgumentException("reportFrequencySeconds must be 0 or not shorter than"
                    + " samplingFrequencyMillis, got " + reportSeconds + " s and " + samplingMillis + " ms");
        }
        if (get(Property.CLOCK).equals("CPU") && !get(Property.ENGINE).equals("AUTO")) {
            throw new IllegalArgumentException("clock CPU needs engine AUTO, got " + get(Property.ENGINE));
        }
        if (get(Property.CLOCK).equals("CPU") && get(Property.METHOD_TIMING).equals("EXACT") && countsCalls()) {
            throw new IllegalArgumentException("clock CPU needs methodTiming SAMPLED or NONE, got EXACT: to read a"
                    + " thread's CPU clock at each call takes longer than most calls");
        }
    }

    /* TOTAL needs no roots. */
    private boolean countsCalls() {
        return !get(Property.ROOT_METHODS).equals("")
                || get(Property.INSTRUMENTATION).equals("TOTAL");
    }

    /** @return the values as the core takes them */
    OptionValues toOptionValues() {
        return new OptionValues(this);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Settings settings && Arrays.equals(values, settings.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }
}
