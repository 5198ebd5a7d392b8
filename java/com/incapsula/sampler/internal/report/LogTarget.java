// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;

/**
 * A logger for reports and for the library's own messages, so that both go to the same place: a logger of SLF4J if it
 * is on the class path, else of {@link System.Logger}; standard error while {@link ApplicationStart} is pending.
 *
 * <p>Threads: any.
 */
public interface LogTarget {

    /** Logs a message, with its cause if there is one. Braces in it have no meaning. */
    void log(System.Logger.Level level, String message, @Nullable Throwable cause);

    /**
     * Finds a logger by its name. If SLF4J has no provider, and so would drop all messages, the platform's logger is
     * used.
     */
    static LogTarget of(String name) {
        if (ApplicationStart.isPending()) {
            return new StandardErrorTarget();
        }
        try {
            if (!hasSlf4j()) {
                return ofContext(name);
            }
            Slf4jTarget target = new Slf4jTarget(name);
            if (!target.dropsAll()) {
                return target;
            }
        } catch (RuntimeException | LinkageError partial) {
            // SLF4J lacks its provider's classes, or the provider fails: use the platform's logger
        }
        return platform(name);
    }

    /**
     * Finds a logger by its name if this library does not see SLF4J, as when an agent has loaded it: a logger of the
     * SLF4J that the thread's context class loader sees, if it has a provider.
     *
     * @return the logger; the platform's if there is no such SLF4J
     */
    static LogTarget ofContext(String name) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        LogTarget found = loader == null ? null : ContextSlf4jTarget.find(loader, name);
        return found == null ? platform(name) : found;
    }

    /** {@return true if SLF4J is on the class path, with or without a provider} */
    static boolean hasSlf4j() {
        try {
            Class.forName("org.slf4j.LoggerFactory", false, LogTarget.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /** {@return a logger of the platform} */
    static LogTarget platform(String name) {
        return PlatformTarget.isOfJavaLogging() ? new JavaLoggingTarget(name) : new PlatformTarget(name);
    }
}
