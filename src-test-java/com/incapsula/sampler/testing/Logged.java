// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import java.util.Objects;
import org.slf4j.LoggerFactory;

/** Collects the events of a logger while it is open. They are not printed. */
public final class Logged implements AutoCloseable {

    private final Logger logger;
    private final ListAppender<ILoggingEvent> events = new ListAppender<>();

    /** Collects the library's own messages. */
    public Logged() {
        this("com.incapsula.sampler.ThreadsSampler");
    }

    /** Collects the events of the logger with this name. */
    public Logged(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        events.start();
        logger.setAdditive(false);
        logger.addAppender(events);
    }

    /* A copy: the appender may add events on any thread, under this lock. */
    private List<ILoggingEvent> events() {
        synchronized (events) {
            return List.copyOf(events.list);
        }
    }

    /** @return level and message of each event, in order */
    public List<String> messages() {
        return events().stream()
                .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                .toList();
    }

    /** @return the message of each event, in order */
    public List<String> texts() {
        return events().stream().map(ILoggingEvent::getFormattedMessage).toList();
    }

    /** @return the stack traces of logged exceptions */
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
