// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.ApplicationStart;
import com.incapsula.sampler.internal.report.LogTarget;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Logs reports, by SLF4J if it is on the class path with a provider, such as Logback, else by {@link System.Logger}.
 * The title, the sampler's account and each thread group are one event each, the last two with several lines. With
 * {@link #setPerGroup setPerGroup(false)} the whole report is one event.
 *
 * <pre>{@code
 * LoggerSamplingOutputer log = new LoggerSamplingOutputer();
 * log.setLoggerName("sampler");
 * log.setLevel("DEBUG");
 * sampler.setSamplingOutputer(log);
 * }</pre>
 *
 * <p>Appenders that drop events drop parts of a report. By default, Logback's {@code AsyncAppender} drops events
 * of level INFO while less than a fifth of its queue of 256 is free, so a report of hundreds of groups loses most of
 * them. Set {@code perGroup} to false, or the appender's {@code discardingThreshold} to 0.
 *
 * <p>An agent's class loader may not see the application's SLF4J. Then the SLF4J of the thread's context class loader
 * is used, if that has a provider.
 *
 * <p>The logger has the name of this class and the level is INFO; both can be set. {@link #printError} logs at ERROR,
 * with the cause. The library's own messages are logged in the same way, to the logger
 * {@code com.incapsula.sampler.ThreadsSampler}. {@link #close()} does nothing.
 *
 * <p>Threads: any.
 *
 * @since 1.0
 */
public class LoggerSamplingOutputer implements SamplingOutputer {

    enum Level {
        TRACE(System.Logger.Level.TRACE),
        DEBUG(System.Logger.Level.DEBUG),
        INFO(System.Logger.Level.INFO),
        WARN(System.Logger.Level.WARNING),
        ERROR(System.Logger.Level.ERROR);

        private final System.Logger.Level ofPlatform;

        Level(System.Logger.Level ofPlatform) {
            this.ofPlatform = ofPlatform;
        }
    }

    private final boolean slf4j = LogTarget.hasSlf4j(); // which does not change
    private volatile String loggerName = LoggerSamplingOutputer.class.getName();
    private volatile Level level = Level.INFO;
    private @Nullable LogTarget log;
    private volatile boolean perGroup = true;
    /* The report so far, with perGroup false; null: no report has begun. */
    private @Nullable StringBuilder whole;

    /** Creates an outputer with the default logger name and level. */
    public LoggerSamplingOutputer() {}

    /**
     * Sets the name of the logger. Default: the full name of this class. Takes effect with the next event.
     *
     * @param loggerName the name
     * @throws IllegalArgumentException if it is null or blank
     */
    public void setLoggerName(String loggerName) {
        String name = Values.notBlank("loggerName", loggerName);
        synchronized (this) {
            this.loggerName = name;
            log = null;
        }
    }

    /** {@return the logger's name} */
    public String getLoggerName() {
        return loggerName;
    }

    /**
     * Sets the level of titles and thread groups. Default: INFO.
     *
     * @param level TRACE, DEBUG, INFO, WARN (or WARNING) or ERROR, in any case
     * @throws IllegalArgumentException if it is anything else
     */
    public void setLevel(String level) {
        this.level = parse(level);
    }

    /** {@return the level of titles and thread groups: TRACE, DEBUG, INFO, WARN or ERROR} */
    public String getLevel() {
        return level.name();
    }

    /**
     * Sets whether each thread group is an event of its own. Default: true. With false, {@link #flush()} logs the whole
     * report as one event with the same text, so no appender can drop a part of it. Takes effect with the next report.
     *
     * @param perGroup false: one event for the report
     */
    public void setPerGroup(boolean perGroup) {
        this.perGroup = perGroup;
    }

    /** {@return whether each thread group is an event of its own; if not, the report is one event} */
    public boolean isPerGroup() {
        return perGroup;
    }

    @Override
    public void printIntervalTitle(String title) {
        if (!slf4j) {
            lookAgain();
        }
        print(title, true);
    }

    @Override
    public void printThreadRecord(String threadTitle, String record) {
        print(threadTitle + "\n" + record, false);
    }

    private void print(String text, boolean begins) {
        synchronized (this) {
            if (begins) {
                whole = perGroup ? null : new StringBuilder();
            }
            if (whole != null) {
                whole.append(text).append('\n');
                return;
            }
        }
        log().log(level.ofPlatform, text, null);
    }

    /** Logs the deadlock as a warning, whatever the level of reports is. */
    @Override
    public void printDeadlock(String title, String record) {
        if (!slf4j) {
            lookAgain();
        }
        log().log(System.Logger.Level.WARNING, title + "\n" + record, null);
    }

    /** @return true */
    @Override
    public boolean logsErrors() {
        return true;
    }

    @Override
    public void printError(String message, @Nullable Throwable cause) {
        log().log(System.Logger.Level.ERROR, message, cause);
    }

    /** Logs the report if {@code perGroup} is false, else does nothing. */
    @Override
    public void flush() {
        String text;
        synchronized (this) {
            if (whole == null) {
                return;
            }
            text = whole.toString();
            whole = null;
        }
        log().log(level.ofPlatform, text, null);
    }

    @Override
    public void close() {
        // loggers belong to the application
    }

    private synchronized LogTarget log() {
        LogTarget used = log;
        if (used == null) {
            used = LogTarget.of(loggerName);
            log = ApplicationStart.isPending() ? null : used;
        }
        return used;
    }

    /* Repeated for each report: the application may have been loaded after the agent's last report. */
    private synchronized void lookAgain() {
        log = null;
    }

    private static Level parse(String text) {
        String name = text == null ? "" : text.strip().toUpperCase(Locale.ROOT);
        if (name.equals("WARNING")) {
            return Level.WARN;
        }
        for (Level level : Level.values()) {
            if (level.name().equals(name)) {
                return level;
            }
        }
        throw new IllegalArgumentException("level must be TRACE, DEBUG, INFO, WARN or ERROR, got " + text);
    }
}
