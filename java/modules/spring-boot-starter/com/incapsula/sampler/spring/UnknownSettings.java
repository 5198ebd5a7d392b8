// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;

/**
 * Finds properties below {@code threads-sampler.} that are not read, because their names are misspelt.
 *
 * <p>Threads: any.
 */
final class UnknownSettings {

    private static final ConfigurationPropertyName PREFIX =
            ConfigurationPropertyName.of(ThreadsSamplerProperties.PREFIX);

    private static final List<String> UNITS = List.of("millis", "seconds", "bytes");

    /* All names in the form of files, by their form without hyphens. */
    private static final Map<String, String> KNOWN = new TreeMap<>();

    /* Names that may have any names below them, without hyphens. */
    private static final Set<String> MAPS = new TreeSet<>();

    static {
        addAll("", ThreadsSamplerProperties.class);
    }

    private UnknownSettings() {}

    private static void addAll(String parent, Class<?> type) {
        for (RecordComponent component : type.getRecordComponents()) {
            String name = parent + DataObjectPropertyName.toDashedForm(component.getName());
            if (component.getType().isRecord()) {
                addAll(name + ".", component.getType());
            } else if (component.getType() == Map.class) {
                MAPS.add(name.replace("-", "") + ".");
                KNOWN.put(name.replace("-", ""), name);
            } else {
                KNOWN.put(name.replace("-", ""), name);
            }
        }
    }

    /** @return the names of all properties, without the prefix */
    static Collection<String> known() {
        return Collections.unmodifiableCollection(KNOWN.values());
    }

    private static boolean isKnown(String name) {
        return KNOWN.containsKey(name) || MAPS.stream().anyMatch(name::startsWith);
    }

    /** @return a sentence about each unknown property, with the nearest known name */
    static List<String> in(Iterable<ConfigurationPropertySource> sources) {
        TreeSet<String> unknown = new TreeSet<>();
        for (ConfigurationPropertySource source : sources) {
            if (source instanceof IterableConfigurationPropertySource names) {
                names.stream()
                        .filter(PREFIX::isAncestorOf)
                        .filter(name -> !isKnown(plain(name)))
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

    /* Removes the prefix and the index of a list. */
    private static String plain(ConfigurationPropertyName name) {
        List<String> parts = new ArrayList<>();
        for (int i = PREFIX.getNumberOfElements(); i < name.getNumberOfElements(); i++) {
            if (!name.isNumericIndex(i)) {
                parts.add(name.getElement(i, Form.UNIFORM));
            }
        }
        return String.join(".", parts);
    }

    /* The name in the class, with its unit and without its group, counts as near, and so does a longer name. */
    private static String nearest(String name) {
        String bare = withoutUnit(name);
        String last = bare.substring(bare.lastIndexOf('.') + 1);
        Comparator<String> order =
                Comparator.comparing((String known) -> !known.replace(".", "").equals(bare.replace(".", "")));
        return String.valueOf(KNOWN.get(Collections.min(
                KNOWN.keySet(),
                order.thenComparing(known -> !known.startsWith(bare))
                        .thenComparing(known -> !known.endsWith("." + last))
                        .thenComparingInt(known -> distance(bare, known)))));
    }

    private static String withoutUnit(String name) {
        for (String unit : UNITS) {
            if (name.endsWith(unit) && name.length() > unit.length()) {
                return name.substring(0, name.length() - unit.length());
            }
        }
        return name;
    }

    /* The number of characters to insert, remove or replace (edit distance). */
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
