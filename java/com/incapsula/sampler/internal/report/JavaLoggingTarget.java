// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A logger of {@code java.util.logging}. Its records have the logger's name as their source: {@link System.Logger}
 * would look for a caller on the stack and find a class of this package. Loaded only if the module {@code java.logging}
 * is present.
 */
final class JavaLoggingTarget implements LogTarget {

    private final Logger logger;

    JavaLoggingTarget(String name) {
        logger = Logger.getLogger(name);
    }

    @Override
    public void log(System.Logger.Level level, String message, @Nullable Throwable cause) {
        LogRecord event = new LogRecord(of(level), message);
        event.setLoggerName(logger.getName());
        event.setSourceClassName(logger.getName());
        event.setSourceMethodName(null);
        event.setThrown(cause);
        logger.log(event);
    }

    /* The level of System.Logger. */
    private static Level of(System.Logger.Level level) {
        return switch (level) {
            case ALL -> Level.ALL;
            case TRACE -> Level.FINER;
            case DEBUG -> Level.FINE;
            case INFO -> Level.INFO;
            case WARNING -> Level.WARNING;
            case ERROR -> Level.SEVERE;
            case OFF -> Level.OFF;
        };
    }
}
