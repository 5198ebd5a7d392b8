// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLogger;

/** A logger of SLF4J. No other class uses SLF4J's types; this class is loaded only if SLF4J is present. */
final class Slf4jTarget implements LogTarget {

    private final Logger logger;

    Slf4jTarget(String name) {
        logger = LoggerFactory.getLogger(name);
    }

    /** @return true if SLF4J has no provider and drops all messages */
    boolean dropsAll() {
        return logger instanceof NOPLogger;
    }

    @Override
    public void log(System.Logger.Level level, String message, @Nullable Throwable cause) {
        switch (level) {
            case TRACE, ALL -> logger.trace(message, cause);
            case DEBUG -> logger.debug(message, cause);
            case INFO -> logger.info(message, cause);
            case WARNING -> logger.warn(message, cause);
            case ERROR -> logger.error(message, cause);
            case OFF -> {}
        }
    }
}
