// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A logger of an SLF4J that another class loader sees and this library does not. It is called by reflection.
 *
 * <p>Threads: any.
 */
public final class ContextSlf4jTarget implements LogTarget {

    private static final String DROPS_ALL = "org.slf4j.helpers.NOPLogger";

    private final Object logger;
    private final Map<System.Logger.Level, Method> methods;

    private ContextSlf4jTarget(Object logger, Map<System.Logger.Level, Method> methods) {
        this.logger = logger;
        this.methods = methods;
    }

    /**
     * Whether a class loader sees SLF4J.
     *
     * @param loader the class loader
     * @return true if it does, with or without a provider
     */
    public static boolean isIn(ClassLoader loader) {
        try {
            Class.forName("org.slf4j.LoggerFactory", false, loader);
            return true;
        } catch (ClassNotFoundException | LinkageError | RuntimeException absent) {
            return false;
        }
    }

    /** @return null if the class loader sees no SLF4J, or one without a provider, which would drop all messages */
    static @Nullable LogTarget find(ClassLoader loader, String name) {
        try {
            Object logger = Class.forName("org.slf4j.LoggerFactory", true, loader)
                    .getMethod("getLogger", String.class)
                    .invoke(null, name);
            if (logger == null || logger.getClass().getName().equals(DROPS_ALL)) {
                return null;
            }
            Class<?> type = Class.forName("org.slf4j.Logger", false, loader);
            return new ContextSlf4jTarget(
                    logger,
                    Map.of(
                            System.Logger.Level.TRACE, method(type, "trace"),
                            System.Logger.Level.DEBUG, method(type, "debug"),
                            System.Logger.Level.INFO, method(type, "info"),
                            System.Logger.Level.WARNING, method(type, "warn"),
                            System.Logger.Level.ERROR, method(type, "error")));
        } catch (ReflectiveOperationException | LinkageError | RuntimeException absent) {
            return null;
        }
    }

    private static Method method(Class<?> type, String name) throws NoSuchMethodException {
        return type.getMethod(name, String.class, Throwable.class);
    }

    @Override
    public void log(System.Logger.Level level, String message, @Nullable Throwable cause) {
        Method method = methods.get(level == System.Logger.Level.ALL ? System.Logger.Level.TRACE : level);
        if (method == null) {
            return; // OFF
        }
        try {
            method.invoke(logger, message, cause);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException("the application's logger failed: " + e.getCause(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("the application's logger cannot be called: " + e, e);
        }
    }
}
