// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that meet while the engine is at work for another one: which of them wait, and for how long. */
@Timeout(value = Samplers.HANG_SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ConcurrentCallsTest {

    private static final long SHORT_MILLIS = 50; // for a thread that must still wait

    private final FakeEngine.FakeSource source = new FakeEngine.FakeSource();
    private final Lifecycle lifecycle = new Lifecycle(source);
    private final SamplerProperties properties = lifecycle.properties();
    private final SnapshotReaders readers = lifecycle.readers();
    private final RecordingOutputer outputer = new RecordingOutputer();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);
    private FakeEngine engine;

    @BeforeEach
    void start() {
        properties.setOutputer(outputer);
        lifecycle.init();
        engine = source.last();
    }

    @AfterEach
    void close() throws IOException {
        release.countDown();
        lifecycle.close();
    }

    private void block() {
        entered.countDown();
        await().pollInterval(5, TimeUnit.MILLISECONDS).until(() -> release.getCount() == 0);
    }

    private interface Work {
        void run() throws Exception;
    }

    private static CompletableFuture<Void> run(Work work) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                work.run();
                done.complete(null);
            } catch (Throwable t) {
                done.completeExceptionally(t);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    private static void assertWaits(CompletableFuture<Void> call) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(SHORT_MILLIS);
        assertThat(call).isNotDone();
    }

    // ---- properties ----

    @Test
    void closeWaitsForAnUpdateUnderWay() throws Exception {
        engine.onConfigure = this::block;
        CompletableFuture<Void> set = run(() -> properties.set(Property.ACTIVE, false));
        entered.await();
        CompletableFuture<Void> close = run(lifecycle::close);
        assertWaits(close);
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
        CompletableFuture<Void> first = run(() -> properties.set(Property.ACTIVE, false));
        entered.await();
        CompletableFuture<Void> second = run(() -> properties.set(Property.SAMPLING_FREQUENCY_MILLIS, 7L));
        assertWaits(second);
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
        assertThatIllegalArgumentException().isThrownBy(() -> properties.set(Property.ACTIVE, false));
        properties.set(Property.ACTIVE, false);
        assertThat(engine.options).contains("active=false\n");
    }

    @Test
    void aRefusalDoesNotUndoWhatAnotherThreadHasSetSince() throws Exception {
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            block();
            throw new IllegalArgumentException("refused");
        };
        CompletableFuture<Void> refused = run(() -> properties.set(Property.ACTIVE, false));
        entered.await();
        CompletableFuture<Void> other = run(() -> properties.set(Property.SAMPLING_FREQUENCY_MILLIS, 7L));
        await().until(() -> properties.get(Property.SAMPLING_FREQUENCY_MILLIS).equals(7L));
        release.countDown();
        other.get();
        assertThat(refused).failsWithin(Samplers.LONG);
        assertThat(properties.get(Property.SAMPLING_FREQUENCY_MILLIS)).isEqualTo(7L);
        assertThat(engine.options).contains("samplingFrequencyMillis=7\n");
    }

    @Test
    void everyChangeFromACallbackIsAppliedAndNotOnlyTheFirst() {
        for (long millis = 7; millis < 10; millis++) {
            long next = millis;
            properties.setOutputer(new RecordingOutputer() {
                @Override
                public void flush() {
                    properties.set(Property.SAMPLING_FREQUENCY_MILLIS, next);
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
        CompletableFuture<Void> first = run(() -> readers.snapshot().release());
        entered.await();
        CompletableFuture<Void> second = run(() -> readers.snapshot().release());
        assertWaits(second);
        release.countDown();
        first.get();
        second.get();
        assertThat(most).hasValue(1);
    }

    @Test
    void aCursorThatIsClosedMeanwhileSaysSo() {
        Cursor cursor = readers.openCursor();
        engine.onInterval = () -> {
            run(cursor::close).join();
            throw new IllegalArgumentException("no such reader");
        };
        assertThatIllegalStateException().isThrownBy(cursor::next).withMessage("the cursor is closed");
    }

    // ---- the exit of the JVM ----

    @Test
    void aSnapshotAtTheExitWaitsForTheEndOfTheEngine() throws Exception {
        engine.onStop = this::block;
        CompletableFuture<Void> exit = run(lifecycle::finishAtExit);
        entered.await();
        CompletableFuture<Void> snapshot = run(() -> readers.snapshot().release());
        assertWaits(snapshot);
        release.countDown();
        snapshot.get();
        exit.get();
        assertThat(engine.calls).containsExactly("start", "stop", "takeInterval 1");
    }

    @Test
    void anotherShutdownHookDoesNotWaitForAStuckOutputerForGood() throws Exception {
        engine.onStop = this::block;
        CompletableFuture<Void> exit = run(lifecycle::finishAtExit);
        entered.await();
        lifecycle.close();
        assertThat(exit).isNotDone();
        assertThat(Collections.frequency(engine.calls, "stop")).isEqualTo(1);
        release.countDown();
        exit.get();
        assertThat(engine.calls).containsExactly("start", "stop");
    }
}
