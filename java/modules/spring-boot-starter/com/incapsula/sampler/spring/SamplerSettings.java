// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ThreadsSampler;
import java.beans.PropertyDescriptor;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeanUtils;
import org.springframework.beans.BeanWrapper;
import org.springframework.beans.InvalidPropertyException;
import org.springframework.beans.MethodInvocationException;
import org.springframework.beans.PropertyAccessException;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.util.ClassUtils;

/**
 * The properties of a sampler that text can set, by their names in the class: those that take objects are left out. The
 * sampler's setters check the values.
 *
 * <p>Threads: any.
 */
final class SamplerSettings {

    private static final Set<String> NAMES = names();

    private final BeanWrapper properties;

    SamplerSettings(ThreadsSampler sampler) {
        properties = PropertyAccessorFactory.forBeanPropertyAccess(sampler);
        properties.setConversionService(ApplicationConversionService.getSharedInstance());
    }

    private static Set<String> names() {
        Set<String> found = new TreeSet<>();
        for (PropertyDescriptor property : BeanUtils.getPropertyDescriptors(ThreadsSampler.class)) {
            if (property.getWriteMethod() != null && isText(property.getPropertyType())) {
                found.add(property.getName());
            }
        }
        return Collections.unmodifiableSet(found);
    }

    private static boolean isText(Class<?> type) {
        return ClassUtils.isPrimitiveOrWrapper(type) || type.isEnum() || type == String.class;
    }

    /** @return each property with its value, in the order of names */
    Map<String, @Nullable Object> values() {
        Map<String, @Nullable Object> values = new TreeMap<>();
        NAMES.forEach(name -> values.put(name, properties.getPropertyValue(name)));
        return values;
    }

    /**
     * Sets a property of a sampler, which may run.
     *
     * @param name as in the class, or as in a file of properties: {@code reportCpuTime}, {@code report-cpu-time}
     * @throws IllegalArgumentException if there is no such property, or the value is no such value or out of range
     * @throws IllegalStateException if it is fixed while the sampler runs
     */
    void set(String name, String value) {
        String found = NAMES.stream()
                .filter(each -> plain(each).equals(plain(name)))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "there is no property " + name + "; there are " + String.join(", ", NAMES)));
        try {
            properties.setPropertyValue(found, value);
        } catch (PropertyAccessException e) {
            if (e.getCause() instanceof IllegalStateException fixed) {
                throw new IllegalStateException(fixed.getMessage(), e);
            }
            throw new IllegalArgumentException(reason(found, value, e), e);
        } catch (InvalidPropertyException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /* What the setter says; text that cannot be converted did not get that far. */
    private String reason(String name, String value, PropertyAccessException e) {
        if (e instanceof MethodInvocationException && e.getCause() != null) {
            return String.valueOf(e.getCause().getMessage());
        }
        Class<?> type = properties.getPropertyType(name);
        String allowed = type != null && type.isEnum()
                ? "one of " + Arrays.toString(type.getEnumConstants())
                : "a value of type " + (type == null ? "text" : type.getSimpleName());
        return name + " must be " + allowed + ", got " + value;
    }

    private static String plain(String name) {
        return name.replace("-", "").toLowerCase(Locale.ROOT);
    }
}
