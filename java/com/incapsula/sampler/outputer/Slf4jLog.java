// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** SLF4J. The only class that names it, loaded only where it is present. */
final class Slf4jLog implements LoggerSamplingOutputer.Log {

    private final Logger logger;

    Slf4jLog(String name) {
        logger = LoggerFactory.getLogger(name);
    }

    @Override
    public void log(LoggerSamplingOutputer.Level level, String message) {
        switch (level) {
            case TRACE -> logger.trace(message);
            case DEBUG -> logger.debug(message);
            case INFO -> logger.info(message);
            case WARN -> logger.warn(message);
            case ERROR -> logger.error(message);
        }
    }

    @Override
    public void error(String message, Throwable cause) {
        logger.error(message, cause);
    }
}
