// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;

/**
 * A logger of SLF4J where that is on the class path, else one of {@link System.Logger}: for reports that are logged and
 * for the library's own messages, so that both stand in one place. Standard error while {@link ApplicationStart} is
 * pending.
 *
 * <p>Threads: any.
 */
public interface LogTarget {

    /**
     * Logs. Braces in the message are left alone.
     *
     * @param level the level
     * @param message the text
     * @param cause what happened, or null
     */
    void log(System.Logger.Level level, String message, @Nullable Throwable cause);

    /**
     * The logger of this name. If SLF4J has no provider and would drop all messages, it is one of the platform.
     *
     * @param name the logger's name
     * @return the logger
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
            // SLF4J lacks its provider's classes, or the provider fails: the platform's log gets the messages
        }
        return platform(name);
    }

    /**
     * The logger of this name where this library does not see SLF4J: of the SLF4J that the thread's context class loader
     * sees, if it has a provider. So it is where the library was loaded for an agent, and the application's own classes
     * by a class loader below.
     *
     * @param name the logger's name
     * @return the logger; one of the platform where there is no such SLF4J
     */
    static LogTarget ofContext(String name) {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        LogTarget found = loader == null ? null : ContextSlf4jTarget.find(loader, name);
        return found == null ? platform(name) : found;
    }

    /**
     * Whether SLF4J is on the class path.
     *
     * @return true if it is, with or without a provider
     */
    static boolean hasSlf4j() {
        try {
            Class.forName("org.slf4j.LoggerFactory", false, LogTarget.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError absent) {
            return false;
        }
    }

    /**
     * A logger of the platform.
     *
     * @param name its name
     * @return the logger
     */
    static LogTarget platform(String name) {
        return PlatformTarget.isOfJavaLogging() ? new JavaLoggingTarget(name) : new PlatformTarget(name);
    }
}
