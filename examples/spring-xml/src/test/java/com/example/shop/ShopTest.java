// SPDX-License-Identifier: Apache-2.0
package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.context.support.ClassPathXmlApplicationContext;

class ShopTest {

    private static final String SLEEP = "java.util.concurrent.TimeUnit.sleep(";
    private static final String ADD_UP = "com.example.shop.Shop.addUp(";
    private static final long HANG_NANOS = TimeUnit.MINUTES.toNanos(2);

    private interface Day {
        void pass(List<String> log) throws Exception;
    }

    /* Collects what is logged on such a day; the log may be read meanwhile. */
    private static List<String> logOf(Day day) throws Exception {
        List<String> log = new CopyOnWriteArrayList<>();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                log.add(event.getLevel() == Level.INFO ? event.getFormattedMessage() : "not INFO: " + event);
            }
        };
        appender.start();
        Logger logger = (Logger) LoggerFactory.getLogger(LoggerSamplingOutputer.class.getName());
        logger.addAppender(appender);
        try {
            day.pass(log);
        } finally {
            logger.detachAppender(appender);
        }
        assertThat(log).noneMatch(text -> text.startsWith("not INFO"));
        return log;
    }

    /* Repeated, because on a busy machine the tills and the sampler may have to wait for a CPU. */
    private static void untilTheTillsWereSeen(List<String> log) throws InterruptedException {
        try (var context = new ClassPathXmlApplicationContext("sampler.xml")) {
            long start = System.nanoTime();
            while (!tillsWereSeen(log) && System.nanoTime() - start < HANG_NANOS) {
                TimeUnit.MILLISECONDS.sleep(50);
            }
            assertThat(context.getBean(Shop.class).customers()).isPositive();
        }
    }

    private static boolean tillsWereSeen(List<String> log) {
        List<String> tills = tills(log);
        return tills.stream().anyMatch(text -> text.contains("Distinct threads: 3 ["))
                && millis(tills, SLEEP) > 0
                && millis(tills, ADD_UP) > 0;
    }

    private static List<String> titles(List<String> log) {
        return log.stream()
                .filter(text -> text.startsWith("Report interval: from "))
                .toList();
    }

    private static List<String> tills(List<String> log) {
        return log.stream()
                .filter(text -> text.startsWith("Aggregated thread: till-."))
                .toList();
    }

    @Test
    void theLogShowsTheTillsAsOneGroupThatWaitsAndWorks() throws Exception {
        List<String> log = logOf(ShopTest::untilTheTillsWereSeen);
        assertThat(titles(log)).as("every 2 s and at the end").hasSizeGreaterThanOrEqualTo(2);
        assertThat(tills(log))
                .anySatisfy(text -> assertThat(text).contains("Distinct threads: 3 [", "till-1", "till-2", "till-3"));
        assertThat(millis(tills(log), SLEEP)).isPositive();
        assertThat(millis(tills(log), ADD_UP)).isPositive();
    }

    @Test
    @Tag("truth")
    void theTillsMostlyWait() throws Exception {
        List<String> log = logOf(ignored -> Shop.main(new String[] {"5"}));
        assertThat(titles(log)).as("every 2 s and at the end").hasSizeBetween(2, 3);
        long waiting = millis(tills(log), SLEEP);
        long working = millis(tills(log), ADD_UP);
        assertThat(waiting).isGreaterThan(5 * working);
        assertThat(working).isPositive();
    }

    private static long millis(List<String> records, String frame) {
        return records.stream()
                .flatMap(String::lines)
                .filter(line -> line.contains(frame))
                .mapToLong(line -> Long.parseLong(line.replaceFirst(".*Cumulative time\\(ms\\): (\\d+),.*", "$1")))
                .sum();
    }
}
