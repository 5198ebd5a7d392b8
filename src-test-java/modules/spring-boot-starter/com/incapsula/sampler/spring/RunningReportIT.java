// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static com.incapsula.sampler.spring.Patience.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which time an answer is of, by a clock that the test sets. */
class RunningReportIT {

    private static final long SECONDS = 100;

    private final ThreadsSampler sampler = new ThreadsSampler();
    private final AtomicLong nanos = new AtomicLong();
    private final RunningReport running = new RunningReport(sampler, nanos::get);

    RunningReportIT() {
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(SECONDS);
        sampler.setSamplingOutputer(SamplingOutputer.of(report -> {}));
    }

    @AfterEach
    void close() throws IOException {
        running.close();
        sampler.close();
    }

    private Instant from() throws IOException {
        return running.use(SamplingReport::getFrom);
    }

    private void pass(long seconds) {
        nanos.addAndGet(Duration.ofSeconds(seconds).toNanos());
    }

    /* So that a report that began later has another time. */
    private static void awaitNextMilli() {
        Instant now = Instant.now();
        patiently().until(() -> Instant.now().isAfter(now.plusMillis(1)));
    }

    @Test
    void anAnswerIsOfTheTimeOfAReportAtLeast() throws IOException {
        sampler.init();
        running.begin();
        Instant began = from();
        awaitNextMilli();
        pass(SECONDS - 1);
        assertThat(from()).isEqualTo(began);
        pass(1);
        assertThat(from()).as("the interval ends with this answer").isEqualTo(began);
        Instant second = Instant.now();
        pass(SECONDS - 1);
        assertThat(from()).as("the one before is still a part").isEqualTo(began);
        pass(1);
        assertThat(from()).isEqualTo(began);
        assertThat(from()).as("both have ended since").isAfter(began).isBeforeOrEqualTo(second.plusMillis(1));
    }

    @Test
    void anAnswerGrows() throws IOException {
        sampler.init();
        running.begin();
        Duration before = running.use(SamplingReport::getElapsed);
        patiently().until(() -> running.use(SamplingReport::getElapsed).compareTo(before) > 0);
        Duration own = running.use(SamplingReport::getElapsed);
        sampler.snapshot().close(); // of another reader
        assertThat(running.use(SamplingReport::getElapsed)).isGreaterThanOrEqualTo(own);
    }

    @Test
    void aSamplerThatIsStartedAgainBeginsAnew() throws IOException {
        assertThatIllegalStateException().isThrownBy(this::from);
        sampler.init();
        Instant first = from();
        sampler.close();
        assertThatIllegalStateException().isThrownBy(this::from);
        awaitNextMilli();
        sampler.init();
        assertThat(from()).isAfter(first);
    }
}
