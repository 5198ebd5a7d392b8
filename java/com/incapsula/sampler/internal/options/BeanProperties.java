// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.options;

import com.incapsula.sampler.ThreadsSampler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The properties of {@link ThreadsSampler} that can be set from text. They are found by their setters, which check the
 * values, so there is no second table. Properties that are objects (outputer, manipulator, threads), and
 * {@code closeOutputer}, are excluded.
 *
 * <p>{@link Values} reads times, which may have a unit, and sizes. Choices may be written in lower case
 * and with hyphens.
 *
 * <p>Threads: any.
 */
public final class BeanProperties {

    /* Excluded: the caller that sets the outputer also decides whether the sampler closes it. */
    private static final String OF_OUTPUTER = "closeOutputer";

    private static final Map<String, Method> SETTERS = setters();

    private BeanProperties() {}

    private static Map<String, Method> setters() {
        Map<String, Method> setters = new TreeMap<>();
        for (Method method : ThreadsSampler.class.getMethods()) {
            String name = method.getName();
            if (name.startsWith("set") && method.getParameterCount() == 1 && isSimple(method.getParameterTypes()[0])) {
                setters.put(Character.toLowerCase(name.charAt(3)) + name.substring(4), method);
            }
        }
        setters.remove(OF_OUTPUTER);
        return Collections.unmodifiableMap(setters);
    }

    private static boolean isSimple(Class<?> type) {
        return type.isPrimitive() || type.isEnum() || type == String.class;
    }

    /** {@return the names of the properties that can be set, sorted} */
    public static Set<String> names() {
        return SETTERS.keySet();
    }

    /**
     * Whether there is such a property.
     *
     * @param name a name such as {@code reportCpuTime}
     * @return true if it can be set from text
     */
    public static boolean has(String name) {
        return SETTERS.containsKey(name);
    }

    /**
     * Finds a property.
     *
     * @param name a name such as {@code reportCpuTime} or {@code report-cpu-time}
     * @return its name, such as {@code reportCpuTime}; null if there is no such property
     */
    public static @Nullable String find(String name) {
        String camel = camelCase(name, '-');
        return has(camel) ? camel : null;
    }

    /**
     * Converts a name to Java's spelling.
     *
     * @param words words such as {@code report-cpu-time}
     * @param between the character between them
     * @return a name such as {@code reportCpuTime}
     */
    public static String camelCase(String words, char between) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < words.length(); i++) {
            char c = words.charAt(i);
            if (c != between) {
                boolean begins = i > 0 && words.charAt(i - 1) == between;
                name.append(begins ? Character.toUpperCase(c) : c);
            }
        }
        return name.toString();
    }

    /**
     * Whether a property is a list, whose parts may be set one by one.
     *
     * @return true for a text, except for the name in JMX
     */
    public static boolean isText(String name) {
        Method setter = SETTERS.get(name);
        return setter != null && setter.getParameterTypes()[0] == String.class && !name.equals("jmxName");
    }

    /** {@return whether a property is true or false} */
    public static boolean isFlag(String name) {
        Method setter = SETTERS.get(name);
        return setter != null && setter.getParameterTypes()[0] == boolean.class;
    }

    /**
     * Sets a property of a sampler, which may run.
     *
     * @param name a name, see {@link #find}
     * @throws IllegalArgumentException if there is no such property, or with property, value and range
     * @throws IllegalStateException if the property is fixed while the sampler runs, or the sampler cannot change it
     */
    public static void set(ThreadsSampler sampler, String name, String value) {
        String found = camelCase(name, '-');
        Method setter = SETTERS.get(found);
        if (setter == null) {
            throw new IllegalArgumentException(
                    "there is no property \"" + name + "\"; there are " + String.join(", ", names()));
        }
        set(sampler, found, setter, value);
    }

    private static void set(ThreadsSampler sampler, String name, Method setter, String value) {
        Object converted = convert(name, setter.getParameterTypes()[0], value);
        try {
            setter.invoke(sampler, converted);
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            if (cause instanceof IllegalArgumentException wrong) {
                throw wrong;
            }
            if (cause instanceof IllegalStateException fixed) {
                throw fixed;
            }
            throw new IllegalStateException(name + " cannot be set: " + cause, cause);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(name + " cannot be set: " + e, e);
        }
    }

    private static Object convert(String name, Class<?> type, String value) {
        if (type == String.class) {
            return value;
        }
        if (type == boolean.class) {
            return flag(name, value);
        }
        if (type.isEnum()) {
            return choice(name, type.getEnumConstants(), value);
        }
        if (type == double.class) {
            try {
                return Double.valueOf(value);
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException(name + " must be a number, got \"" + value + "\"", e);
            }
        }
        long number = number(name, value);
        if (type == int.class) {
            // a number too large for int is out of the property's range, too
            return (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, number));
        }
        return number;
    }

    private static boolean flag(String name, String value) {
        String word = value.toLowerCase(Locale.ROOT);
        if (!word.equals("true") && !word.equals("false")) {
            throw new IllegalArgumentException(name + " must be true or false, got \"" + value + "\"");
        }
        return word.equals("true");
    }

    private static Object choice(String name, @Nullable Object[] choices, String value) {
        for (Object choice : choices) {
            if (choice instanceof Enum<?> constant && constant.name().equalsIgnoreCase(value.replace('-', '_'))) {
                return constant;
            }
        }
        throw new IllegalArgumentException(name + " must be one of "
                + Arrays.stream(choices).map(String::valueOf).collect(Collectors.joining(", ")) + ", got \"" + value
                + "\"");
    }

    private static long number(String name, String value) {
        if (name.endsWith("Millis")) {
            return Values.millis(name, value, 1);
        }
        if (name.endsWith("Seconds")) {
            return Values.wholeSeconds(name, value);
        }
        if (name.endsWith("Bytes")) {
            return Values.bytes(name, value);
        }
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " must be a whole number, got \"" + value + "\"", e);
        }
    }
}
