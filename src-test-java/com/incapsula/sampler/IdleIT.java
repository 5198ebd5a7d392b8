// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.time.Duration;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Ticks that the sampler skips while all threads wait; nothing is missed because of them. */
@ExtendWith(NothingLeft.class)
class IdleIT {

    private static final String LEFT_OUT = "IDLE_TICKS";
    private static final Duration SELDOM = Duration.ofMillis(500);

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    /**
     * Polls the condition rarely and in the test's own thread, because a thread that polls often is at work, and a
     * polling thread would be new.
     */
    private static ConditionFactory seldom() {
        return await().pollInSameThread()
                .atMost(Samplers.LONG)
                .pollDelay(SELDOM)
                .pollInterval(SELDOM);
    }

    private long leftOut() {
        return sampler.getStatistics().getCounters().get(LEFT_OUT);
    }

    @Test
    void timeIsWholeWhereTicksAreSkipped() throws Exception {
        try (Worker worker = Worker.waiting("waits")) {
            sampler.setThreadToBeSampled(worker.thread());
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            seldom().until(() -> leftOut() > 200);
            long least = System.nanoTime() - inner;
            sampler.printReport();
            assertThat(recorder.only().group("waits").cumulativeMillis())
                    .isBetween(least / 1_000_000 - 1, (System.nanoTime() - outer) / 1_000_000);
        }
    }
}
