// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.model.ModelClient;
import com.example.model.SourceLines;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A reader that knows nothing of this service finds all of its faults in two answers, by the Model Context Protocol. */
class ModelClientTest {

    private static final int MOST_CHARACTERS = 3_000;
    private static final Path SOURCES = Path.of("src/main/java/com/example/bookings");

    @Test
    void aReaderFindsAllFaultsInTwoAnswers() throws Exception {
        ModelClient.Findings found = ModelClient.readUntil(
                BookingService::run, findings -> missing(findings).isEmpty());
        assertThat(missing(found)).as(found.texts()).isEmpty();
        assertThat(found.calls()).isEqualTo(2);
        assertThat(found.texts().strip()).hasSizeLessThanOrEqualTo(MOST_CHARACTERS);
    }

    private static List<Fault> missing(ModelClient.Findings found) throws IOException {
        List<Fault> missing = new ArrayList<>();
        for (Fault fault : Fault.values()) {
            boolean isHeld = fault.holdingFile() != null;
            if (!found.has(
                    SourceLines.find(SOURCES, fault.file(), fault.code()),
                    fault.state(),
                    isHeld ? SourceLines.find(SOURCES, fault.holdingFile(), fault.holdingCode()) : null,
                    isHeld ? Fault.HOLDERS : null)) {
                missing.add(fault);
            }
        }
        return missing;
    }
}
