// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;

class LoggerSamplingOutputerTest {

    private static final String NAME = "com.incapsula.sampler.outputer.LoggerSamplingOutputer";

    private static List<ILoggingEvent> logged(String loggerName, Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(loggerName);
        ListAppender<ILoggingEvent> events = new ListAppender<>();
        Level before = logger.getLevel();
        events.start();
        logger.setLevel(Level.TRACE);
        logger.setAdditive(false);
        logger.addAppender(events);
        try {
            work.run();
        } finally {
            logger.detachAppender(events);
            logger.setAdditive(true);
            logger.setLevel(before);
        }
        return events.list;
    }

    @Test
    void oneEventPerThreadGroup() {
        List<ILoggingEvent> events = logged(NAME, () -> {
            LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
            outputer.printIntervalTitle("title {}");
            outputer.printThreadRecord("thread {}", "row it's {}\n");
            outputer.flush();
            outputer.close();
        });
        assertThat(events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("title {}", "thread {}\nrow it's {}\n");
        assertThat(events).extracting(ILoggingEvent::getLevel).containsOnly(Level.INFO);
    }

    @Test
    void aDeadlockIsAWarning() {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        outputer.setPerGroup(false);
        List<ILoggingEvent> events = logged(NAME, () -> outputer.printDeadlock("Deadlock {}", "a waits\n"));
        assertThat(events).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage()).isEqualTo("Deadlock {}\na waits\n");
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
        });
    }

    @Test
    void oneEventForAll() {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        assertThat(outputer.isPerGroup()).isTrue();
        outputer.setPerGroup(false);
        assertThat(outputer.isPerGroup()).isFalse();
        List<ILoggingEvent> events = logged(NAME, () -> {
            outputer.printIntervalTitle("a report that fails");
            outputer.printIntervalTitle("title");
            outputer.printThreadRecord("thread", "row\n");
            outputer.setPerGroup(true); // takes effect with the next report
            outputer.printThreadRecord("other", "row\n");
            outputer.flush();
            outputer.flush();
            outputer.printIntervalTitle("next");
        });
        assertThat(events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("title\nthread\nrow\n\nother\nrow\n\n", "next");
    }

    /** An appender that is too slow drops the last groups, which have the least time. A single event is not dropped. */
    @Test
    void aFullAsyncAppenderDropsTheLastGroups() {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        List<String> arrived = arrivedBehindAsync(() -> print(outputer, 1200));
        // its thread may have emptied the queue of 256 once, and the queue was then filled again
        assertThat(arrived).hasSizeBetween(100, 513).startsWith("title", "Sampler account.\npolls: 1\n", "thread 0\n");
        outputer.setPerGroup(false);
        assertThat(arrivedBehindAsync(() -> print(outputer, 1200)))
                .singleElement()
                .asString()
                .startsWith("title\nSampler account.\npolls: 1\n\nthread 0\n")
                .endsWith("thread 1199\n\n");
    }

    private static void print(LoggerSamplingOutputer outputer, int groups) {
        outputer.printIntervalTitle("title");
        outputer.printThreadRecord("Sampler account.", "polls: 1\n");
        for (int i = 0; i < groups; i++) {
            outputer.printThreadRecord("thread " + i, "");
        }
        outputer.flush();
    }

    /** Logback's AsyncAppender with its defaults, in front of an appender that blocks until the work is done. */
    private static List<String> arrivedBehindAsync(Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(NAME);
        CountDownLatch done = new CountDownLatch(1);
        List<String> arrived = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> slow = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                boolean isDone = false;
                while (!isDone) {
                    try {
                        done.await();
                        isDone = true;
                    } catch (InterruptedException e) {
                        // interrupted by stop(), after done was released
                    }
                }
                arrived.add(event.getFormattedMessage());
            }
        };
        AsyncAppender async = new AsyncAppender();
        slow.setContext(logger.getLoggerContext());
        slow.start();
        async.setContext(logger.getLoggerContext());
        async.setMaxFlushTime(0); // stop() waits until all events have arrived
        async.addAppender(slow);
        async.start();
        logger.setAdditive(false);
        logger.addAppender(async);
        try {
            work.run();
        } finally {
            done.countDown();
            logger.detachAppender(async);
            async.stop();
            logger.setAdditive(true);
        }
        return arrived;
    }

    @Test
    void errorHasItsCause() {
        Exception cause = new Exception("cause");
        List<ILoggingEvent> events = logged(NAME, () -> new LoggerSamplingOutputer().printError("message", cause));
        assertThat(events).hasSize(1);
        assertThat(events.get(0).getLevel()).isEqualTo(Level.ERROR);
        assertThat(events.get(0).getFormattedMessage()).isEqualTo("message");
        assertThat(events.get(0).getThrowableProxy().getMessage()).isEqualTo("cause");
    }

    @ParameterizedTest
    @CsvSource({"TRACE, TRACE", "debug, DEBUG", "Info, INFO", "WARN, WARN", "warning, WARN", "' error ', ERROR"})
    void levelAndNameCanBeSetFromText(String text, String level) {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        outputer.printIntervalTitle("under the first name");
        outputer.setLoggerName("performance");
        outputer.setLevel(text);
        List<ILoggingEvent> events = logged("performance", () -> outputer.printIntervalTitle("title"));
        assertThat(events).extracting(event -> event.getLevel().toString()).containsExactly(level);
        assertThat(outputer.getLevel()).isEqualTo(level);
        assertThat(outputer.getLoggerName()).isEqualTo("performance");
    }

    @Test
    void defaults() {
        assertThat(new LoggerSamplingOutputer().getLevel()).isEqualTo("INFO");
        assertThat(new LoggerSamplingOutputer().getLoggerName()).isEqualTo(NAME);
    }

    @Test
    void wrongValuesAreNamed() {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setLevel("FINE"))
                .withMessage("level must be TRACE, DEBUG, INFO, WARN or ERROR, got FINE");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setLevel(null))
                .withMessage("level must be TRACE, DEBUG, INFO, WARN or ERROR, got null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setLoggerName(null))
                .withMessage("loggerName must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setLoggerName(""))
                .withMessage("loggerName must not be blank");
    }

    @Test
    void withoutSlf4jThePlatformLogs() {
        assertThePlatformLogs();
    }

    /** Many applications have SLF4J's interface from some library but log otherwise. SLF4J would drop every report. */
    @Test
    void withSlf4jThatHasNoProviderThePlatformLogs() {
        assertThePlatformLogs(place(LoggerFactory.class));
    }

    private static void assertThePlatformLogs(URL... more) {
        RecordingHandler records = new RecordingHandler();
        java.util.logging.Logger logger = java.util.logging.Logger.getLogger(NAME);
        logger.addHandler(records);
        logger.setUseParentHandlers(false);
        try {
            printFromAnotherLoader(null, more);
        } finally {
            logger.removeHandler(records);
            logger.setUseParentHandlers(true);
        }
        assertThat(records.texts).containsExactly("INFO it's {0}", "INFO thread\nrow\n", "SEVERE bad");
        assertThat(records.last.getThrown()).hasMessage("cause");
        assertThat(records.sources).containsOnly(NAME + " " + NAME + " null");
    }

    /** The program's log is in a class loader below the agent's. */
    @Test
    void slf4jIsFoundThroughTheContextClassLoader() {
        ClassLoader application = LoggerSamplingOutputerTest.class.getClassLoader();
        List<ILoggingEvent> events = logged(NAME, () -> printFromAnotherLoader(application));
        assertThat(events)
                .extracting(event -> event.getLevel() + " " + event.getFormattedMessage())
                .containsExactly("INFO it's {0}", "INFO thread\nrow\n", "ERROR bad");
        assertThat(events.get(2).getThrowableProxy().getMessage()).isEqualTo("cause");
    }

    private static URL place(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /*
     * Uses a class loader with our classes, the JDK's and those at the given places. context: the thread's context
     * class loader, or null.
     */
    private static void printFromAnotherLoader(ClassLoader context, URL... more) {
        URL[] classes = Stream.concat(Stream.of(place(LoggerSamplingOutputer.class)), Stream.of(more))
                .toArray(URL[]::new);
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader alone = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader())) {
            thread.setContextClassLoader(context == null ? alone : context);
            Object outputer = alone.loadClass(NAME).getConstructor().newInstance();
            assertThat(outputer.getClass()).isNotEqualTo(LoggerSamplingOutputer.class);
            outputer.getClass().getMethod("printIntervalTitle", String.class).invoke(outputer, "it's {0}");
            outputer.getClass()
                    .getMethod("printThreadRecord", String.class, String.class)
                    .invoke(outputer, "thread", "row\n");
            outputer.getClass()
                    .getMethod("printError", String.class, Throwable.class)
                    .invoke(outputer, "bad", new Exception("cause"));
        } catch (ReflectiveOperationException | IOException e) {
            throw new AssertionError(e);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static final class RecordingHandler extends Handler {

        private final List<String> texts = new ArrayList<>();
        private final List<String> sources = new ArrayList<>();
        private LogRecord last;

        @Override
        public void publish(LogRecord logged) {
            texts.add(logged.getLevel() + " " + new java.util.logging.SimpleFormatter().formatMessage(logged));
            sources.add(
                    logged.getLoggerName() + " " + logged.getSourceClassName() + " " + logged.getSourceMethodName());
            last = logged;
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }
}
