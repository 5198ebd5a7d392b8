// SPDX-License-Identifier: Apache-2.0
package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ShopTest {

    /* What is logged while the shop is open for so many seconds. */
    private static List<String> logOf(int seconds) throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(LoggerSamplingOutputer.class.getName());
        logger.addAppender(log);
        try {
            Shop.main(new String[] {String.valueOf(seconds)});
        } finally {
            logger.detachAppender(log);
        }
        assertThat(log.list).allSatisfy(event -> assertThat(event.getLevel()).isEqualTo(Level.INFO));
        return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
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
        List<String> log = logOf(3);
        assertThat(titles(log)).as("after 2 s and at the end").hasSizeGreaterThanOrEqualTo(2);
        assertThat(tills(log)).isNotEmpty();
        assertThat(tills(log).get(0)).contains("Distinct threads: 3 [", "till-1", "till-2", "till-3");
        assertThat(millis(tills(log), "java.util.concurrent.TimeUnit.sleep(")).isPositive();
        assertThat(millis(tills(log), "com.example.shop.Shop.addUp(")).isPositive();
    }

    @Test
    @Tag("truth")
    void theTillsMostlyWait() throws Exception {
        List<String> log = logOf(5);
        assertThat(titles(log)).as("every 2 s and at the end").hasSize(3);
        long waiting = millis(tills(log), "java.util.concurrent.TimeUnit.sleep(");
        long working = millis(tills(log), "com.example.shop.Shop.addUp(");
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
