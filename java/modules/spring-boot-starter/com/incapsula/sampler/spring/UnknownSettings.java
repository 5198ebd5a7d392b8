// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import java.beans.PropertyDescriptor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.springframework.beans.BeanUtils;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;

/**
 * Properties below {@code threads-sampler.} that nothing reads: their names are misspelt.
 *
 * <p>Threads: any.
 */
final class UnknownSettings {

    private static final ConfigurationPropertyName PREFIX =
            ConfigurationPropertyName.of(ThreadsSamplerProperties.PREFIX);

    /* The names that there are, as files have them, by their form without hyphens. */
    private static final Map<String, String> KNOWN = known();

    private UnknownSettings() {}

    private static Map<String, String> known() {
        Map<String, String> known = new TreeMap<>();
        new SamplerSettings(new ThreadsSampler()).values().keySet().forEach(name -> add(known, "", name));
        addAll(known, "", ThreadsSamplerProperties.class);
        addAll(known, "output.", ThreadsSamplerProperties.Output.class);
        return known;
    }

    private static void addAll(Map<String, String> known, String parent, Class<?> type) {
        for (PropertyDescriptor property : BeanUtils.getPropertyDescriptors(type)) {
            if (property.getWriteMethod() != null) {
                add(known, parent, property.getName());
            }
        }
    }

    private static void add(Map<String, String> known, String parent, String name) {
        String dashed = parent + DataObjectPropertyName.toDashedForm(name);
        known.put(dashed.replace("-", ""), dashed);
    }

    /** @return a sentence on each unknown property, with the nearest name there is */
    static List<String> in(Iterable<ConfigurationPropertySource> sources) {
        TreeSet<String> unknown = new TreeSet<>();
        for (ConfigurationPropertySource source : sources) {
            if (source instanceof IterableConfigurationPropertySource names) {
                names.stream()
                        .filter(PREFIX::isAncestorOf)
                        .filter(name -> !KNOWN.containsKey(plain(name)))
                        .forEach(name -> unknown.add(name.toString()));
            }
        }
        List<String> sentences = new ArrayList<>();
        for (String each : unknown) {
            sentences.add("there is no property " + each + "; did you mean " + PREFIX + "."
                    + nearest(plain(ConfigurationPropertyName.of(each))) + "?");
        }
        return sentences;
    }

    /* Without the prefix, and without the index of a list. */
    private static String plain(ConfigurationPropertyName name) {
        List<String> parts = new ArrayList<>();
        for (int i = PREFIX.getNumberOfElements(); i < name.getNumberOfElements(); i++) {
            if (!name.isNumericIndex(i)) {
                parts.add(name.getElement(i, Form.UNIFORM));
            }
        }
        return String.join(".", parts);
    }

    private static String nearest(String name) {
        Comparator<String> isNoBeginning = Comparator.comparing(known -> !known.startsWith(name));
        String nearest =
                Collections.min(KNOWN.keySet(), isNoBeginning.thenComparingInt(known -> distance(name, known)));
        return String.valueOf(KNOWN.get(nearest));
    }

    /* How many characters have to be put in, taken out or replaced. */
    private static int distance(String a, String b) {
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[b.length()];
    }
}
