// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What an engine has after a change of its options and threads at once, taken or refused. */
class EngineConfigTest {

    private final EngineConfig had = config(7, ThreadFilter.ALL);
    private final EngineConfig wanted = config(9, ThreadFilter.ALL.and(List.of(Thread.currentThread())));
    private final FakeEngine engine = engine();

    private static EngineConfig config(long intervalMillis, ThreadFilter threads) {
        Settings settings = new Settings().with(Property.SAMPLING_FREQUENCY_MILLIS, intervalMillis);
        return new EngineConfig(settings.toOptionValues(), threads);
    }

    private FakeEngine engine() {
        FakeEngine.FakeSource source = new FakeEngine.FakeSource();
        source.create(had.options(), null);
        return source.last();
    }

    @Test
    void bothAreTaken() {
        wanted.apply(engine, had);
        assertThat(engine.calls).containsExactly("configure", "filterThreads 1 true");
        assertThat(engine.options).isEqualTo(wanted.options().toString());
    }

    @Test
    void whatDoesNotDifferIsNotHandedOver() {
        config(9, ThreadFilter.ALL).apply(engine, had);
        new EngineConfig(had.options(), wanted.threads()).apply(engine, had);
        had.apply(engine, had);
        assertThat(engine.calls).containsExactly("configure", "filterThreads 1 true");
    }

    @Test
    void threadsThatAreRefusedTakeTheOptionsBack() {
        engine.onFilter = () -> {
            throw new OutOfMemoryError("threads");
        };
        assertThatThrownBy(() -> wanted.apply(engine, had))
                .hasMessage("threads")
                .hasNoSuppressedExceptions();
        assertThat(engine.calls).containsExactly("configure", "filterThreads 1 true", "configure");
        assertThat(engine.options).isEqualTo(had.options().toString());
    }

    @Test
    void refusedThreadsAloneLeaveTheOptionsAlone() {
        engine.onFilter = () -> {
            throw new IllegalStateException("threads");
        };
        EngineConfig threadsOnly = new EngineConfig(had.options(), wanted.threads());
        assertThatThrownBy(() -> threadsOnly.apply(engine, had)).hasMessage("threads");
        assertThat(engine.calls).containsExactly("filterThreads 1 true");
    }

    @Test
    void refusedOptionsLeaveTheThreadsAlone() {
        engine.onConfigure = () -> {
            throw new IllegalArgumentException("options");
        };
        assertThatThrownBy(() -> wanted.apply(engine, had)).hasMessage("options");
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
        assertThatThrownBy(() -> wanted.apply(engine, had))
                .hasMessage("threads")
                .satisfies(thrown -> assertThat(thrown.getSuppressed())
                        .singleElement()
                        .satisfies(also -> assertThat(also).hasMessage("options")));
    }
}
