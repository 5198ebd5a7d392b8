// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;

/**
 * The log of the library's own messages, under the sampler's name, in the same place as the reports of a
 * LoggerSamplingOutputer.
 *
 * <p>Threads: any.
 */
public final class LibraryLog {

    private static final String LOGGER_NAME = "com.incapsula.sampler.ThreadsSampler";

    private LibraryLog() {}

    /**
     * Logs a message. Never fails.
     *
     * @param text one line
     * @param cause an exception, or null
     */
    public static void log(System.Logger.Level level, String text, @Nullable Throwable cause) {
        try {
            LogTarget.of(LOGGER_NAME).log(level, text, cause);
        } catch (Throwable ignored) {
            // no other place is left, and logging must not stop the application
        }
    }
}
