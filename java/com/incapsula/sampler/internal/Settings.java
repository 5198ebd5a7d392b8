// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal;

import java.util.EnumMap;
import java.util.Map;

/** Checked values of all properties. Immutable. */
final class Settings {

    private final EnumMap<Property, Object> values;

    Settings() {
        values = new EnumMap<>(Property.class);
        for (Property property : Property.values()) {
            values.put(property, property.standard());
        }
    }

    private Settings(EnumMap<Property, Object> values) {
        this.values = values;
    }

    /** @return these settings with one value changed */
    Settings with(Property property, Object value) {
        EnumMap<Property, Object> changed = new EnumMap<>(values);
        changed.put(property, property.check(value));
        return new Settings(changed);
    }

    Object get(Property property) {
        return values.get(property);
    }

    boolean is(Property property) {
        return (Boolean) get(property);
    }

    /**
     * Checks what a setter cannot see because it looks at one property only.
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
    }

    /** @return lines {@code name=value}, as native/src/model/options.h reads them */
    String toOptionsText() {
        StringBuilder lines = new StringBuilder();
        for (Map.Entry<Property, Object> entry : values.entrySet()) {
            lines.append(entry.getKey().text()).append('=').append(entry.getValue()).append('\n');
        }
        return lines.toString();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Settings settings && values.equals(settings.values);
    }

    @Override
    public int hashCode() {
        return values.hashCode();
    }
}
