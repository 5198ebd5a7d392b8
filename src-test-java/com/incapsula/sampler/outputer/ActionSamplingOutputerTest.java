// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ActionSamplingOutputerTest {

    @AfterEach
    void forgetTheInterrupt() {
        Thread.interrupted();
    }

    private static void report(ReportAction action) {
        try (SamplingReport report = Fakes.report(new FakeSnapshot())) {
            SamplingOutputer.of(action).report(report);
        }
    }

    @Test
    void anInterruptOfAnActionIsKept() {
        InterruptedException interrupt = new InterruptedException("late");
        assertThatThrownBy(() -> report(any -> {
                    throw interrupt;
                }))
                .isInstanceOf(IllegalStateException.class)
                .hasCause(interrupt);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void otherFailuresAreNoInterrupt() {
        assertThatThrownBy(() -> report(any -> {
                    throw new IOException("full");
                }))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessage("full");
        assertThat(Thread.interrupted()).isFalse();
    }
}
