// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;

/**
 * The library's own messages, under the sampler's name: they stand beside the reports of a LoggerSamplingOutputer.
 *
 * <p>Threads: any.
 */
public final class LibraryLog {

    private static final String LOGGER_NAME = "com.incapsula.sampler.ThreadsSampler";

    private LibraryLog() {}

    /**
     * Logs. Never fails.
     *
     * @param level the level
     * @param text one line
     * @param cause what happened, or null
     */
    public static void log(System.Logger.Level level, String text, @Nullable Throwable cause) {
        try {
            LogTarget.of(LOGGER_NAME).log(level, text, cause);
        } catch (Throwable ignored) {
            // there is no other place to report to, and logging must not stop the application
        }
    }
}
