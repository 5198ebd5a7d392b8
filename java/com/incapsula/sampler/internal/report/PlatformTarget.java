// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;

/** A logger of {@link System.Logger}, with whatever implementation the application has chosen. */
final class PlatformTarget implements LogTarget {

    private final System.Logger logger;

    PlatformTarget(String name) {
        logger = System.getLogger(name);
    }

    /** @return true if {@code java.util.logging} is its implementation, and this library's module reads that module */
    static boolean isOfJavaLogging() {
        try {
            Module module = System.LoggerFinder.getLoggerFinder().getClass().getModule();
            return "java.logging".equals(module.getName())
                    && PlatformTarget.class.getModule().canRead(module);
        } catch (SecurityException refused) {
            return false; // a security manager of JDK 17
        }
    }

    @Override
    public void log(System.Logger.Level level, String message, @Nullable Throwable cause) {
        logger.log(level, message, cause);
    }
}
