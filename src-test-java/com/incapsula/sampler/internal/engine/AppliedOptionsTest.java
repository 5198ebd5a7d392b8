// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The configuration of an engine after a change of options and threads together, accepted or refused. */
class AppliedOptionsTest {

    private final OptionValues had = config(7, ThreadFilter.ALL);
    private final OptionValues wanted = config(9, ThreadFilter.ALL.and(List.of(Thread.currentThread())));
    private final FakeEngine engine = engine();

    private static OptionValues config(long intervalMillis, ThreadFilter threads) {
        return new OptionValues()
                .with(Option.SAMPLING_FREQUENCY_MILLIS, intervalMillis)
                .with(threads);
    }

    private FakeEngine engine() {
        FakeEngine.FakeSource source = new FakeEngine.FakeSource();
        source.create(had, null);
        return source.last();
    }

    @Test
    void bothAreTaken() {
        wanted.applyTo(engine, had);
        assertThat(engine.calls).containsExactly("configure", "filterThreads 1 true");
        assertThat(engine.options).isEqualTo(wanted.toString());
    }

    @Test
    void valuesThatDoNotDifferAreNotHandedOver() {
        config(9, ThreadFilter.ALL).applyTo(engine, had);
        had.with(wanted.threads()).applyTo(engine, had);
        had.applyTo(engine, had);
        assertThat(engine.calls).containsExactly("configure", "filterThreads 1 true");
    }

    @Test
    void threadsThatAreRefusedTakeTheOptionsBack() {
        engine.onFilter = () -> {
            throw new OutOfMemoryError("threads");
        };
        assertThatThrownBy(() -> wanted.applyTo(engine, had))
                .hasMessage("threads")
                .hasNoSuppressedExceptions();
        assertThat(engine.calls).containsExactly("configure", "filterThreads 1 true", "configure");
        assertThat(engine.options).isEqualTo(had.toString());
    }

    @Test
    void refusedThreadsAloneLeaveTheOptionsAlone() {
        engine.onFilter = () -> {
            throw new IllegalStateException("threads");
        };
        OptionValues threadsOnly = had.with(wanted.threads());
        assertThatThrownBy(() -> threadsOnly.applyTo(engine, had)).hasMessage("threads");
        assertThat(engine.calls).containsExactly("filterThreads 1 true");
    }

    @Test
    void refusedOptionsLeaveTheThreadsAlone() {
        engine.onConfigure = () -> {
            throw new IllegalArgumentException("options");
        };
        assertThatThrownBy(() -> wanted.applyTo(engine, had)).hasMessage("options");
        assertThat(engine.calls).containsExactly("configure");
    }

    @Test
    void aFailureOnTheWayBackIsShownBesideTheCause() {
        engine.onFilter = () -> {
            engine.onConfigure = () -> {
                throw new IllegalStateException("options");
            };
            throw new OutOfMemoryError("threads");
        };
        assertThatThrownBy(() -> wanted.applyTo(engine, had))
                .hasMessage("threads")
                .satisfies(thrown -> assertThat(thrown.getSuppressed())
                        .singleElement()
                        .satisfies(also -> assertThat(also).hasMessage("options")));
    }
}
