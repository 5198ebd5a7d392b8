// SPDX-License-Identifier: Apache-2.0
package com.example.shop;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ShopTest {

    @Test
    void theLogShowsTheTillsAsOneGroupThatMostlyWaits() throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        Logger logger = (Logger) LoggerFactory.getLogger(LoggerSamplingOutputer.class.getName());
        logger.addAppender(log);

        Shop.main(new String[] {"5"});

        List<String> titles = log.list.stream().map(ILoggingEvent::getFormattedMessage)
                .filter(text -> text.startsWith("Report interval: from ")).toList();
        assertThat(titles).as("every 2 s and at the end").hasSize(3);
        String tills = log.list.stream().map(ILoggingEvent::getFormattedMessage)
                .filter(text -> text.startsWith("Aggregated thread: till-.")).findFirst().orElseThrow();
        assertThat(tills).contains("Distinct threads: 3 [", "till-1", "till-2", "till-3");
        long waiting = millis(tills, "java.util.concurrent.TimeUnit.sleep(");
        long working = millis(tills, "com.example.shop.Shop.addUp(");
        assertThat(waiting).isGreaterThan(5 * working);
        assertThat(working).isPositive();
        assertThat(log.list).allSatisfy(event -> assertThat(event.getLevel()).isEqualTo(Level.INFO));
    }

    private static long millis(String record, String frame) {
        return record.lines().filter(line -> line.contains(frame))
                .mapToLong(line -> Long.parseLong(
                        line.replaceFirst(".*Cumulative time\\(ms\\): (\\d+),.*", "$1"))).sum();
    }
}
