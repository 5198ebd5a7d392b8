// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.testing.Call;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that come while the engine serves another call: which of them wait, and for how long. */
@Timeout(value = Samplers.HANG_SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConcurrentCallsTest {

    private final FakeEngine.FakeSource source = new FakeEngine.FakeSource();
    private final Lifecycle lifecycle = new Lifecycle(source);
    private final Options options = lifecycle.options();
    private final SnapshotReaders readers = lifecycle.readers();
    private final RecordingOutputer outputer = new RecordingOutputer();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private final long longestMillis = ExitReport.longestMillis();
    private FakeEngine engine;

    @BeforeEach
    void start() {
        options.setOutputer(outputer);
        lifecycle.init();
        engine = source.last();
    }

    @AfterEach
    void close() throws IOException {
        release.countDown();
        lifecycle.close();
        ExitReport.setLongestMillis(longestMillis);
    }

    private void block() {
        entered.countDown();
        await().pollInterval(5, TimeUnit.MILLISECONDS).until(() -> release.getCount() == 0);
    }

    // ---- properties ----

    @Test
    void closeWaitsForAnUpdateUnderWay() throws Exception {
        engine.onConfigure = this::block;
        Call set = Call.of(() -> options.set(Option.ACTIVE, false));
        entered.await();
        Call close = Call.of(lifecycle::close);
        close.assertWaits();
        release.countDown();
        set.get();
        close.get();
        assertThat(engine.calls).containsExactly("start", "configure", "stop", "destroy");
    }

    @Test
    void updatesReachTheEngineOneAfterTheOther() throws Exception {
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            block();
        };
        Call first = Call.of(() -> options.set(Option.ACTIVE, false));
        entered.await();
        Call second = Call.of(() -> options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L));
        second.assertWaits();
        assertThat(engine.calls).containsExactly("start", "configure");
        release.countDown();
        first.get();
        second.get();
        assertThat(engine.calls).containsExactly("start", "configure", "configure");
        assertThat(engine.options).contains("active=false\n", "samplingFrequencyMillis=7\n");
    }

    @Test
    void aRefusedValueReachesTheEngineWhenItIsSetAgain() {
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            throw new IllegalArgumentException("refused");
        };
        assertThatIllegalArgumentException().isThrownBy(() -> options.set(Option.ACTIVE, false));
        options.set(Option.ACTIVE, false);
        assertThat(engine.options).contains("active=false\n");
    }

    @Test
    void aRefusalDoesNotUndoWhatAnotherThreadHasSetSince() throws Exception {
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            block();
            throw new IllegalArgumentException("refused");
        };
        Call refused = Call.of(() -> options.set(Option.ACTIVE, false));
        entered.await();
        Call other = Call.of(() -> options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L));
        await().until(() -> options.get(Option.SAMPLING_FREQUENCY_MILLIS).equals(7L));
        release.countDown();
        other.get();
        assertThatThrownBy(refused::get).hasRootCauseMessage("refused");
        assertThat(options.get(Option.SAMPLING_FREQUENCY_MILLIS)).isEqualTo(7L);
        assertThat(engine.options).contains("samplingFrequencyMillis=7\n");
    }

    @Test
    void aRefusalDoesNotUndoANewerValueOfTheSameProperty() throws Exception {
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            block();
            throw new IllegalArgumentException("refused");
        };
        Call refused = Call.of(() -> options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L));
        entered.await();
        Call other = Call.of(() -> options.set(Option.SAMPLING_FREQUENCY_MILLIS, 9L));
        await().until(() -> options.get(Option.SAMPLING_FREQUENCY_MILLIS).equals(9L));
        release.countDown();
        other.get();
        assertThatThrownBy(refused::get).hasRootCauseMessage("refused");
        assertThat(options.get(Option.SAMPLING_FREQUENCY_MILLIS)).isEqualTo(9L);
        assertThat(engine.options).contains("samplingFrequencyMillis=9\n");
    }

    @Test
    void aRefusalDoesNotUndoAChoiceOfThreadsThatAnotherThreadHasMadeSince() throws Exception {
        engine.onFilter = () -> {
            engine.onFilter = () -> {};
            block();
            throw new IllegalArgumentException("refused");
        };
        Thread chosen = Thread.currentThread();
        Call refused = Call.of(() -> options.choose("p", List.of(chosen)));
        entered.await();
        Thread second = new Thread(() -> {}, "not started");
        Call other = Call.of(() -> options.choose("p", List.of(second)));
        await().until(() -> options.chosen().contains(second));
        release.countDown();
        other.get();
        assertThatThrownBy(refused::get).hasRootCauseMessage("refused");
        assertThat(options.chosen()).containsExactly(chosen, second);
        assertThat(engine.selected).containsExactly(chosen, second);
    }

    @Test
    void aRefusalDoesNotUndoARuleForNamesThatAnotherThreadHasSetSince() throws Exception {
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            block();
            throw new IllegalArgumentException("refused");
        };
        Call refused = Call.of(() -> options.setManipulator(Thread::getName));
        entered.await();
        ThreadNameManipulator rule = thread -> "group";
        Call other = Call.of(() -> options.setManipulator(rule));
        await().until(() -> options.manipulator() == rule);
        release.countDown();
        other.get();
        assertThatThrownBy(refused::get).hasRootCauseMessage("refused");
        assertThat(options.manipulator()).isSameAs(rule);
        assertThat(engine.options).contains("defaultThreadNameRule=false\n");
    }

    @Test
    void everyChangeFromACallbackIsAppliedAndNotOnlyTheFirst() {
        for (long millis = 7; millis < 10; millis++) {
            long next = millis;
            options.setOutputer(new RecordingOutputer() {
                @Override
                public void flush() {
                    options.set(Option.SAMPLING_FREQUENCY_MILLIS, next);
                }
            });
            engine.writeReport();
            await().until(() -> engine.options.startsWith("samplingFrequencyMillis=" + next + "\n"));
        }
    }

    // ---- intervals ----

    @Test
    void oneSnapshotIsTakenAtATime() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        engine.onInterval = () -> {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            block();
            inside.decrementAndGet();
        };
        Call first = Call.of(() -> readers.snapshot(taken -> taken).release());
        entered.await();
        Call second = Call.of(() -> readers.snapshot(taken -> taken).release());
        second.assertWaits();
        release.countDown();
        first.get();
        second.get();
        assertThat(most).hasValue(1);
    }

    @Test
    void aCursorThatIsClosedMeanwhileSaysSo() {
        SnapshotReaders.Cursor cursor = readers.openCursor();
        engine.onInterval = () -> {
            CompletableFuture.runAsync(cursor::close).join();
            throw new IllegalArgumentException("no such reader");
        };
        assertThatIllegalStateException()
                .isThrownBy(() -> cursor.next(taken -> taken))
                .withMessage("the cursor is closed");
    }

    // ---- the exit of the JVM ----

    @Test
    void aSnapshotAtTheExitWaitsForTheEndOfTheEngine() throws Exception {
        // this thread may take a while to observe that the call waits
        ExitReport.setLongestMillis(Samplers.LONG.toMillis());
        engine.onStop = this::block;
        Call exit = Call.of(lifecycle::finishAtExit);
        entered.await();
        Call snapshot = Call.of(() -> readers.snapshot(taken -> taken).release());
        snapshot.assertWaits();
        release.countDown();
        snapshot.get();
        exit.get();
        assertThat(engine.calls).containsExactly("start", "stop", "takeInterval 1");
    }

    @Test
    void anotherShutdownHookDoesNotWaitForAStuckOutputerForGood() throws Exception {
        engine.onStop = this::block;
        Call exit = Call.of(lifecycle::finishAtExit);
        entered.await();
        lifecycle.close();
        exit.assertWaits();
        assertThat(Collections.frequency(engine.calls, "stop")).isEqualTo(1);
        release.countDown();
        exit.get();
        assertThat(engine.calls).containsExactly("start", "stop");
    }
}
