// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An interval on a fake core, each of whose snapshots is a minute long, nearly. */
class RunningIntervalTest {

    private static final long SECONDS = 59;

    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
    private final AtomicInteger taken = new AtomicInteger();
    private final int liveBefore = FakeSnapshot.LIVE.get();
    private final RunningInterval interval = new RunningInterval(sampler, () -> 900);
    private volatile int failing; // the number of the snapshot that cannot be added

    @BeforeEach
    void start() {
        fake.setInterval(() -> {
            FakeSnapshot made = new FakeSnapshot();
            made.failsToMergeOnce = taken.incrementAndGet() == failing;
            return made;
        });
        sampler.init();
        interval.begin();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        interval.close();
        sampler.close();
        assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore);
    }

    @Test
    void aPartIsAPartOfTheWhole() {
        interval.next().close();
        interval.next().close();
        assertThat(interval.report().getElapsed()).hasSeconds(SECONDS * taken.get());
    }

    @Test
    void withoutMemoryNothingIsLost() {
        interval.next().close();
        failing = taken.get() + 1;
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(interval::next);
        interval.next().close();
        assertThat(interval.report().getElapsed()).hasSeconds(SECONDS * taken.get());
    }

    @Test
    void withoutMemoryAtTheBeginNothingIsLost() {
        failing = 1;
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(interval::next);
        interval.next().close();
        assertThat(interval.report().getElapsed()).hasSeconds(SECONDS * taken.get());
    }
}
