// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Objects;
import org.slf4j.LoggerFactory;

/** Collects what a logger gets while it is open; nothing of it is printed. */
public final class Logged implements AutoCloseable {

    private final Logger logger;
    private final ListAppender<ILoggingEvent> events = new ListAppender<>();

    /** Of the library's own messages. */
    public Logged() {
        this("com.incapsula.sampler.ThreadsSampler");
    }

    /** Of the logger with this name. */
    public Logged(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        events.start();
        logger.setAdditive(false);
        logger.addAppender(events);
    }

    /* The appender adds under its lock, on any thread. */
    private List<ILoggingEvent> events() {
        synchronized (events) {
            return List.copyOf(events.list);
        }
    }

    /** @return level and message of each event, in their order */
    public List<String> messages() {
        return events().stream()
                .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                .toList();
    }

    /** @return the messages alone */
    public List<String> texts() {
        return events().stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    /** @return the stacks of the exceptions that were logged */
    public List<String> stacks() {
        return events().stream()
                .map(ILoggingEvent::getThrowableProxy)
                .filter(Objects::nonNull)
                .map(ThrowableProxyUtil::asString)
                .toList();
    }

    @Override
    public void close() {
        logger.detachAppender(events);
        logger.setAdditive(true);
    }
}
