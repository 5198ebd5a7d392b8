// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.PlaceholdersResolver;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.unit.DataSize;

/**
 * A source of properties whose values are as the setters of a sampler take them: the parts of a list are one text with
 * commas, a time such as {@code 10m} is a number of seconds or milliseconds, and a size such as {@code 64MB} one of bytes,
 * as the property's name says. What is no such value is left as it is, and binding it fails.
 *
 * <p>Threads: those of the source below.
 */
final class SettingSource implements ConfigurationPropertySource {

    private final ConfigurationPropertySource source;
    private final ConfigurationPropertyName prefix;
    private final PlaceholdersResolver placeholders;

    SettingSource(ConfigurationPropertySource source, String prefix, PlaceholdersResolver placeholders) {
        this.source = source;
        this.prefix = ConfigurationPropertyName.of(prefix);
        this.placeholders = placeholders;
    }

    @Override
    public @Nullable ConfigurationProperty getConfigurationProperty(ConfigurationPropertyName name) {
        ConfigurationProperty found = source.getConfigurationProperty(name);
        if (!prefix.isParentOf(name)) {
            return found;
        }
        return found == null ? joined(name) : converted(found);
    }

    private @Nullable ConfigurationProperty joined(ConfigurationPropertyName name) {
        List<String> parts = new ArrayList<>();
        ConfigurationProperty first = source.getConfigurationProperty(name.append("[0]"));
        for (ConfigurationProperty each = first; each != null; ) {
            parts.add(text(each));
            each = source.getConfigurationProperty(name.append("[" + parts.size() + "]"));
        }
        return first == null ? null : new ConfigurationProperty(name, String.join(",", parts), first.getOrigin());
    }

    private String text(ConfigurationProperty property) {
        return String.valueOf(placeholders.resolvePlaceholders(property.getValue()));
    }

    private ConfigurationProperty converted(ConfigurationProperty property) {
        String name = property.getName().getLastElement(Form.UNIFORM);
        Object value = property.getValue();
        try {
            if (name.endsWith("seconds")) {
                Duration time = DurationStyle.detectAndParse(text(property), ChronoUnit.SECONDS);
                value = time.getNano() == 0 ? time.getSeconds() : value;
            } else if (name.endsWith("millis")) {
                value = DurationStyle.detectAndParse(text(property), ChronoUnit.MILLIS)
                        .toMillis();
            } else if (name.endsWith("bytes")) {
                value = DataSize.parse(text(property)).toBytes();
            }
        } catch (IllegalArgumentException | ArithmeticException noSuchValue) {
            return property;
        }
        return value == property.getValue()
                ? property
                : new ConfigurationProperty(property.getName(), value, property.getOrigin());
    }

    @Override
    public ConfigurationPropertyState containsDescendantOf(ConfigurationPropertyName name) {
        return source.containsDescendantOf(name);
    }
}
