// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.model.ModelClient;
import com.example.model.SourceLines;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.ThreadsSamplerServer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A reader that knows nothing of this service finds all of its faults in two answers, by the Model Context Protocol. */
class ModelClientTest {

    private static final long FEW_SECONDS = 4;
    private static final long HANG_SECONDS = 100;
    private static final int MOST_CHARACTERS = 3_000;
    private static final Path SOURCES = Path.of("src/main/java/com/example/bookings");

    @Test
    void aReaderFindsAllFaultsInTwoAnswers() throws Exception {
        List<Fault> missing = Arrays.asList(Fault.values());
        ModelClient.Findings found = null;
        /* On a busy machine a short run is mostly the service's start: longer ones, until it shows what the service does. */
        for (long seconds = FEW_SECONDS; seconds < HANG_SECONDS && !missing.isEmpty(); seconds *= 2) {
            found = findings(seconds);
            missing = missing(found);
        }
        assertThat(missing).as(found.texts()).isEmpty();
        assertThat(found.calls()).isEqualTo(2);
        assertThat(found.texts().strip()).hasSizeLessThanOrEqualTo(MOST_CHARACTERS);
    }

    private static ModelClient.Findings findings(long seconds) throws Exception {
        try (ThreadsSampler sampler = new ThreadsSampler();
                ThreadsSamplerServer server = new ThreadsSamplerServer()) {
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingOutputer(SamplingOutputer.of(report -> {}));
            sampler.init();
            server.setSampler(sampler);
            server.setMcp(true);
            server.init();
            assertThat(BookingService.run(seconds)).isPositive();
            return ModelClient.read(server.getUrl());
        }
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
