// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.model.ModelClient;
import com.example.model.SourceLines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A reader that knows nothing of this service finds all of its faults in two answers, by the Model Context Protocol. */
class ModelClientTest {

    private static final int MOST_CHARACTERS = 3_000;

    /** A fault of the service: the line, its state, and who holds the lock. */
    record Fault(String name, String line, String state, String holder) {}

    private static final Path SOURCES = Path.of("src/main/java/com/example/orders");

    private static final List<Fault> FAULTS = List.of(
            new Fault("lock", line("PriceBook.java", "return discounted(order)"), "blocked", "http-nio--exec-"),
            new Fault("slow query", line("OrderRepository.java", "select.executeQuery()"), "running", null),
            new Fault("small pool", line("Database.java", "pool.getConnection()"), "waiting", null));

    private static String line(String file, String code) {
        try {
            return SourceLines.find(SOURCES, file, code);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aReaderFindsAllFaultsInTwoAnswers() throws Exception {
        ModelClient.Findings found = ModelClient.readUntil(
                seconds -> OrderService.run(OrderService.IN_MEMORY, seconds),
                findings -> missing(findings).isEmpty());
        assertThat(missing(found)).as(found.texts()).isEmpty();
        assertThat(found.calls()).isEqualTo(2);
        assertThat(found.texts().strip()).hasSizeLessThanOrEqualTo(MOST_CHARACTERS);
    }

    private static List<Fault> missing(ModelClient.Findings found) throws IOException {
        List<Fault> missing = new ArrayList<>();
        for (Fault fault : FAULTS) {
            boolean isFound = found.spots().stream()
                    .anyMatch(spot -> fault.line().equals(spot.line())
                            && fault.state().equals(spot.state())
                            && (fault.holder() == null
                                    || (fault.holder().equals(spot.holder())
                                            && spot.holdingLine().startsWith("PriceBook.java:"))));
            if (!isFound) {
                missing.add(fault);
            }
        }
        return missing;
    }
}
