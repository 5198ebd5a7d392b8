// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.options.BeanProperties;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;

/**
 * The properties of a sampler that can be set from text, by their names in the class or in application properties.
 *
 * <p>Threads: any.
 */
final class SamplerSettings {

    private static final String PREFIX = ThreadsSamplerProperties.PREFIX + ".";

    /* The sampler's names by those in application properties. */
    private static final Map<String, String> OF_FILE = ofFile();

    private final ThreadsSampler sampler;
    private final BeanWrapper properties;

    SamplerSettings(ThreadsSampler sampler) {
        this.sampler = sampler;
        properties = PropertyAccessorFactory.forBeanPropertyAccess(sampler);
    }

    private static Map<String, String> ofFile() {
        Map<String, String> names = new TreeMap<>();
        for (String name : UnknownSettings.known()) {
            String option = option(name);
            if (option != null) {
                names.put(name, option);
            }
        }
        return Collections.unmodifiableMap(names);
    }

    /* Application properties have a group before some names, and no unit at the end. */
    private static @Nullable String option(String ofFile) {
        if (ofFile.startsWith("output.") || ofFile.startsWith("server.")) {
            return null;
        }
        String bare = ofFile.substring(ofFile.indexOf('.') + 1);
        for (String stem : new String[] {ofFile.replace('.', '-'), bare}) {
            for (String unit : new String[] {"", "-millis", "-seconds", "-bytes"}) {
                String found = BeanProperties.find(stem + unit);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    /** @return each property with its value, in the order of names */
    Map<String, @Nullable Object> values() {
        Map<String, @Nullable Object> values = new TreeMap<>();
        BeanProperties.names().forEach(name -> values.put(name, properties.getPropertyValue(name)));
        return values;
    }

    /**
     * Sets a property of a sampler, which may run.
     *
     * @param name as in the class, {@code reportCpuTime} or {@code report-cpu-time}, or as in application properties,
     *     {@code report.cpu-time} or {@code threads-sampler.report.cpu-time}
     * @param value see {@link BeanProperties}
     * @throws IllegalArgumentException if there is no such property, or the value is malformed or out of range
     * @throws IllegalStateException if it is fixed while the sampler runs
     */
    void set(String name, String value) {
        String bare = name.startsWith(PREFIX) ? name.substring(PREFIX.length()) : name;
        BeanProperties.set(sampler, OF_FILE.getOrDefault(bare, name), value);
    }
}
