// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.manipulate.MapBasedThreadNameManipulator;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.testing.Call;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = Samplers.HANG_SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LifecycleTest {

    private final FakeEngine.FakeSource source = new FakeEngine.FakeSource();
    private final Lifecycle lifecycle = new Lifecycle(source);
    private final Options options = lifecycle.options();
    private final SnapshotReaders readers = lifecycle.readers();
    private final RecordingOutputer outputer = new RecordingOutputer();

    @BeforeEach
    void useOutputer() {
        options.setOutputer(outputer);
    }

    @AfterEach
    void closeAfterwards() throws IOException {
        source.prepare = engine -> {};
        lifecycle.close();
    }

    private FakeEngine start() {
        lifecycle.init();
        return source.last();
    }

    // ---- start and end ----

    @Test
    void dumpIsTheEnginesWhereOneRuns() throws IOException {
        assertThat(lifecycle.dump()).endsWith("state: not started, or closed\n");
        FakeEngine engine = start();
        assertThat(lifecycle.dump()).isEqualTo("fake dump\n");
        engine.destroyed = true;
        assertThat(lifecycle.dump()).endsWith("state: not started, or closed\n");
        engine.destroyed = false;
        lifecycle.close();
        assertThat(lifecycle.dump()).endsWith("state: not started, or closed\n");
    }

    @Test
    void initCreatesAndStarts() {
        FakeEngine engine = start();
        assertThat(engine.calls).containsExactly("start");
        OptionValues values = new OptionValues().with(Option.MAIN_PACKAGES, MainPackages.get());
        assertThat(engine.options).isEqualTo(values.toString());
    }

    @Test
    void closeStopsDestroysAndThenClosesTheOutputer() throws IOException {
        FakeEngine engine = start();
        engine.onStop = engine::writeReport;
        lifecycle.close();

        assertThat(engine.calls).containsExactly("start", "stop", "destroy");
        assertThat(outputer.calls)
                .hasSize(4)
                .startsWith(
                        "title Report interval: from " + new java.util.Date(0) + " till " + new java.util.Date(1000))
                .endsWith("flush", "close");
    }

    @Test
    void shutdownLeavesTheOutputerOpenForGood() throws IOException {
        FakeEngine engine = start();
        lifecycle.shutdown();
        lifecycle.close();

        assertThat(engine.calls).containsExactly("start", "stop", "destroy");
        assertThat(outputer.calls).isEmpty();
    }

    @Test
    void closeBeforeInitAndTwiceDoesNothing() throws IOException {
        lifecycle.close();
        lifecycle.shutdown();
        assertThat(outputer.calls).isEmpty();

        start();
        lifecycle.close();
        lifecycle.close();
        assertThat(outputer.calls).containsExactly("close");
    }

    @Test
    void initTwiceIsRefused() {
        start();
        assertThatIllegalStateException()
                .isThrownBy(lifecycle::init)
                .withMessage("init() was called already; close() has to come first");
        assertThat(source.made).hasSize(1);
    }

    @Test
    void initAfterCloseIsAFreshStart() throws IOException {
        start();
        lifecycle.close();
        FakeEngine second = start();

        assertThat(source.made).hasSize(2);
        assertThat(second.calls).containsExactly("start");
        lifecycle.close();
        assertThat(outputer.calls).containsExactly("close", "close");
    }

    @Test
    void defaultOutputerIsFreshAtEachStart() throws IOException {
        Lifecycle standard = new Lifecycle(source);
        standard.init();
        SamplingOutputer first = standard.options().outputer();
        standard.close();
        standard.init();
        assertThat(standard.options().outputer()).isNotSameAs(first);
        standard.close();
    }

    @Test
    void startWithoutMemoryOrThreadsIsInertUnlessRequired() {
        source.prepare = engine -> engine.onStart = () -> {
            throw new OutOfMemoryError("no thread");
        };
        lifecycle.init();
        assertThat(lifecycle.statistics().engine()).contains("NONE", "no thread");
    }

    @Test
    void failingStartLeavesNothingBehind() {
        options.setRequired(true);
        source.prepare = engine -> engine.onStart = () -> {
            throw new OutOfMemoryError("no thread");
        };
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(lifecycle::init);
        assertThat(source.last().calls).containsExactly("start", "destroy");

        source.prepare = engine -> {};
        assertThat(start().calls).containsExactly("start");
    }

    @Test
    void unavailableEngineIsThrownAndCreatesNothingWhereItIsRequired() {
        options.setRequired(true);
        source.unavailable = new UnsupportedOperationException("not here");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(lifecycle::init)
                .withMessage("not here");
        assertThat(source.made).isEmpty();
    }

    @Test
    void wrongCombinationIsRefusedBeforeAnyNativeWork() {
        source.unavailable = new UnsupportedOperationException("native work");
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, 2000L);
        options.set(Option.REPORT_FREQUENCY_SECONDS, 1L);
        assertThatIllegalArgumentException().isThrownBy(lifecycle::init);
    }

    @Test
    void interruptedThreadStartsAndEndsAndStaysInterrupted() throws IOException {
        boolean[] seen = new boolean[2];
        source.prepare = engine -> {
            engine.onStart = () -> seen[0] = Thread.currentThread().isInterrupted();
            engine.onStop = () -> seen[1] = Thread.currentThread().isInterrupted();
        };
        try {
            Thread.currentThread().interrupt();
            lifecycle.init();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            lifecycle.close();
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
        } finally {
            Thread.interrupted();
        }
        assertThat(seen).containsExactly(false, false);
        assertThat(outputer.calls).containsExactly("close");
    }

    @Test
    void interruptedThreadWaitsForAnotherThreadsClose() throws Exception {
        FakeEngine engine = start();
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch stopping = new CountDownLatch(1);
        engine.onStop = () -> {
            stopping.countDown();
            awaitLatch(release);
        };
        Call first = Call.of(lifecycle::close);
        stopping.await();
        Call second = Call.of(() -> {
            Thread.currentThread().interrupt();
            lifecycle.close();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(outputer.calls).contains("close");
        });
        second.assertWaits();
        release.countDown();

        second.get();
        first.get();
        assertThat(outputer.calls).containsExactly("close");
    }

    @Test
    void failingOutputerCloseIsAnIOExceptionAfterEverythingIsDone() throws IOException {
        UncheckedIOException cause = new UncheckedIOException("disk full", new IOException("disk full"));
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void close() {
                throw cause;
            }
        });
        FakeEngine engine = start();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(lifecycle::close)
                .withMessage("the outputer could not be closed: disk full")
                .withCause(cause);
        assertThat(engine.destroyed).isTrue();
        lifecycle.close();
    }

    @Test
    void failingStopStillFreesTheCoreAndClosesTheOutputer() throws IOException {
        FakeEngine engine = start();
        engine.onStop = () -> {
            throw new OutOfMemoryError("stop");
        };
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(lifecycle::close);
        assertThat(engine.destroyed).isTrue();
        assertThat(outputer.calls).containsExactly("close");
        lifecycle.close();
    }

    // ---- calls from callbacks ----

    @ParameterizedTest
    @ValueSource(strings = {"close", "shutdown", "printReport", "sampleOnceAndPrint", "pause", "resume"})
    void waitingCallsAreRefusedInTheOutputer(String call) throws IOException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void printThreadRecord(String threadTitle, String record) {
                failure.set(failureOf(call));
            }
        });
        FakeEngine engine = start();
        engine.onReport = engine::writeReport;
        lifecycle.printReport();

        assertThat(failure.get())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageEndingWith(
                        "would wait for itself: it was called from the sampler's own outputer or manipulator");
        assertThat(engine.calls).containsExactly("start", "report");
    }

    @Test
    void closeIsRefusedInTheManipulator() {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        options.setManipulator(thread -> {
            failure.set(failureOf("close"));
            return "group";
        });
        FakeEngine engine = start();
        String[] names = new String[1];
        engine.callbacks.groupNames(new Thread[] {Thread.currentThread()}, 1, names, new boolean[1]);

        assertThat(failure.get()).isInstanceOf(IllegalStateException.class);
        assertThat(names).containsExactly("group");
        assertThat(failureOf("printReport")).as("outside of the callback").isNull();
    }

    @Test
    void closeIsRefusedInTheManipulatorsInit() throws IOException {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        options.setManipulator(new ThreadNameManipulator() {
            @Override
            public String getManipulatedThreadName(Thread thread) {
                return "group";
            }

            @Override
            public void init() {
                failure.set(failureOf("close"));
            }
        });
        start();
        assertThat(failure.get()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void settersAndStatisticsWorkInTheOutputerWhileCloseWaitsForIt() throws IOException {
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void flush() {
                options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L);
                options.choose("threads", List.of(Thread.currentThread()));
                options.setManipulator(new MapBasedThreadNameManipulator());
                options.setOutputer(outputer);
                outputer.calls.add("engine " + lifecycle.statistics().engine() + " " + lifecycle.isPaused());
            }
        });
        FakeEngine engine = start();
        engine.onStop = engine::writeReport;
        lifecycle.close();

        assertThat(outputer.calls).containsExactly("engine fake false", "close");
        assertThat(engine.calls).containsExactly("start", "stop", "destroy");
        assertThat(options.get(Option.SAMPLING_FREQUENCY_MILLIS)).isEqualTo(7L);
    }

    @Test
    void settersInTheOutputerOfARunningSamplerReachTheCore() {
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void flush() {
                options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L);
                options.set(Option.SAMPLING_FREQUENCY_MILLIS, 8L);
                options.setManipulator(new MapBasedThreadNameManipulator());
                seen.add("done");
            }
        });
        FakeEngine engine = start();
        engine.onReport = engine::writeReport;
        engine.onConfigure = () -> seen.add(Thread.currentThread().getName());
        lifecycle.printReport();
        await().until(() -> engine.options.startsWith("samplingFrequencyMillis=8\n")
                && engine.options.contains("defaultThreadNameRule=false\n"));
        assertThat(seen).contains("done").doesNotContain("fake-reporter");
        assertThat(source.hidden).isPositive();
    }

    @Test
    void setterInTheManipulatorDoesNotWaitForASetterThatWaitsForTheTick() throws Exception {
        FakeEngine engine = start();
        options.setManipulator(thread -> {
            options.set(Option.REPORT_FREQUENCY_SECONDS, 77L);
            return "group";
        });
        AtomicReference<String> name = new AtomicReference<>();
        /* As in the core: options are applied after the current tick, which calls the manipulator. */
        engine.onConfigure = () -> {
            engine.onConfigure = () -> {};
            Thread sampler = new Thread(() -> {
                String[] names = new String[1];
                engine.callbacks.groupNames(new Thread[] {Thread.currentThread()}, 1, names, new boolean[1]);
                name.set(names[0]);
            });
            sampler.start();
            try {
                sampler.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        };
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L);

        assertThat(name.get()).isEqualTo("group");
        await().until(() -> engine.options.startsWith("samplingFrequencyMillis=7\nreportFrequencySeconds=77\n"));
    }

    private Throwable failureOf(String call) {
        try {
            switch (call) {
                case "close" -> lifecycle.close();
                case "shutdown" -> lifecycle.shutdown();
                case "printReport" -> lifecycle.printReport();
                case "sampleOnceAndPrint" -> lifecycle.sampleOnceAndPrint();
                case "pause" -> lifecycle.pause();
                case "resume" -> lifecycle.resume();
                default -> throw new AssertionError(call);
            }
            return null;
        } catch (IllegalStateException | IOException e) {
            return e;
        }
    }

    // ---- pausing and reporting ----

    @Test
    void pauseAndResume() {
        FakeEngine engine = start();
        assertThat(lifecycle.isPaused()).isFalse();
        lifecycle.resume();
        lifecycle.pause();
        lifecycle.pause();
        assertThat(lifecycle.isPaused()).isTrue();
        lifecycle.resume();
        assertThat(lifecycle.isPaused()).isFalse();
        assertThat(engine.calls).containsExactly("start", "pause", "resume");
    }

    @Test
    void pauseThatFailsChangesNothing() {
        FakeEngine engine = start();
        engine.onPause = () -> {
            throw new IllegalStateException("no");
        };
        assertThatIllegalStateException().isThrownBy(lifecycle::pause).withMessage("no");
        assertThat(lifecycle.isPaused()).isFalse();
    }

    @Test
    void startedAfreshItIsNotPaused() throws IOException {
        start();
        lifecycle.pause();
        lifecycle.close();
        assertThat(lifecycle.isPaused()).isFalse();
        start();
        assertThat(lifecycle.isPaused()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"printReport", "sampleOnceAndPrint", "pause", "resume"})
    void callsThatNeedARunningSamplerSaySo(String call) throws IOException {
        assertThat(failureOf(call))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageEndingWith(" needs a running sampler: init() comes first");
        start();
        lifecycle.close();
        assertThat(failureOf(call)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void sampleOnceNeedsAPausedOrInactiveSampler() {
        FakeEngine engine = start();
        assertThatIllegalStateException()
                .isThrownBy(lifecycle::sampleOnceAndPrint)
                .withMessage("sampleOnceAndPrint() needs a sampler that is paused or not active");
        lifecycle.pause();
        lifecycle.sampleOnceAndPrint();
        lifecycle.resume();
        options.set(Option.ACTIVE, false);
        lifecycle.sampleOnceAndPrint();
        assertThat(engine.calls).containsExactly("start", "pause", "sampleOnce", "resume", "configure", "sampleOnce");
    }

    @Test
    void closeWaitsForAPauseUnderWay() throws Exception {
        FakeEngine engine = start();
        CountDownLatch pausing = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        engine.onPause = () -> {
            pausing.countDown();
            awaitLatch(release);
        };
        Call pause = Call.of(lifecycle::pause);
        pausing.await();
        Call close = Call.of(lifecycle::close);
        close.assertWaits();
        release.countDown();
        pause.get();
        close.get();
        assertThat(engine.calls).containsExactly("start", "pause", "stop", "destroy");
    }

    // ---- properties ----

    @Test
    void settersReachTheRunningCore() {
        FakeEngine engine = start();
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L);
        assertThat(engine.options).startsWith("samplingFrequencyMillis=7\n");
        assertThat(options.get(Option.SAMPLING_FREQUENCY_MILLIS)).isEqualTo(7L);
    }

    @Test
    void fixedPropertiesAreRefusedWhileItRunsAndOnlyThen() throws IOException {
        start();
        assertThatIllegalStateException()
                .isThrownBy(() -> options.set(Option.MEMORY_LIMIT_BYTES, 8L << 20))
                .withMessage("memoryLimitBytes cannot be changed while the sampler runs");
        assertThatIllegalStateException()
                .isThrownBy(() -> options.set(Option.MAX_DEPTH_FRAMES, 1024L))
                .withMessage("maxDepthFrames cannot be changed while the sampler runs");
        lifecycle.close();
        options.set(Option.MEMORY_LIMIT_BYTES, 8L << 20);
        assertThat(options.get(Option.MEMORY_LIMIT_BYTES)).isEqualTo(8L << 20);
    }

    @Test
    void valueThatTheCoreRefusesIsNotKept() {
        FakeEngine engine = start();
        engine.onConfigure = () -> {
            throw new IllegalArgumentException("core");
        };
        ThreadNameManipulator before = options.manipulator();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.set(Option.ACTIVE, false))
                .withMessage("core");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.setManipulator(new MapBasedThreadNameManipulator()));
        assertThat(options.get(Option.ACTIVE)).isEqualTo(true);
        assertThat(options.manipulator()).isSameAs(before);
    }

    @Test
    void chosenThreadsThatTheCoreRefusesAreNotKept() {
        FakeEngine engine = start();
        engine.onFilter = () -> {
            throw new IllegalArgumentException("core");
        };
        List<Thread> chosen = List.of(Thread.currentThread());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.choose("p", chosen))
                .withMessage("core");
        assertThat(options.chosen()).isEmpty();
        engine.onFilter = () -> {};
        options.choose("p", chosen);
        assertThat(options.chosen()).isEqualTo(chosen);
        assertThat(engine.selected).containsExactly(Thread.currentThread());
    }

    /** A core that is still running is not just a core that has been closed meanwhile. */
    @Test
    void aStateInWhichTheCoreRefusesAChangeIsThrown() {
        FakeEngine engine = start();
        engine.onConfigure = () -> {
            throw new IllegalStateException("not now");
        };
        assertThatIllegalStateException()
                .isThrownBy(() -> options.set(Option.ACTIVE, false))
                .withMessage("not now");
        assertThat(options.get(Option.ACTIVE)).isEqualTo(true);
    }

    /** The setter in a callback cannot wait for the core, so nothing can be thrown there. */
    @Test
    void aChangeFromACallbackThatTheCoreRefusesIsLogged() {
        startWith(new RecordingOutputer() {
            @Override
            public void flush() {
                options.set(Option.SAMPLING_FREQUENCY_MILLIS, 7L);
            }
        });
        FakeEngine engine = source.last();
        engine.onConfigure = () -> {
            throw new IllegalArgumentException("core");
        };
        try (Logged log = new Logged()) {
            engine.writeReport();
            await().untilAsserted(() ->
                    assertThat(log.messages()).containsExactly("WARN changed properties could not be applied"));
            assertThat(log.stacks()).singleElement().asString().contains("IllegalArgumentException: core");
        }
    }

    @Test
    void anOutputerOfAnotherOwnerStaysOpen() throws IOException {
        options.setCloseOutputer(false);
        assertThat(options.isCloseOutputer()).isFalse();
        start();
        lifecycle.close();
        assertThat(outputer.calls).isEmpty();
        options.setCloseOutputer(true);
        start();
        lifecycle.close();
        assertThat(outputer.calls).containsExactly("close");
    }

    @Test
    void wrongCombinationIsRefusedByTheSetterOfARunningSampler() {
        start();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.set(Option.SAMPLING_FREQUENCY_MILLIS, 1_000_000L));
        assertThat(options.get(Option.SAMPLING_FREQUENCY_MILLIS)).isEqualTo(50L);
    }

    @Test
    void optionsThatAreSetDuringTheStartAreNotLost() {
        Thread chosen = Thread.currentThread();
        source.prepare = engine -> engine.onStart = () -> {
            options.set(Option.ACTIVE, false);
            options.choose("threads", List.of(chosen));
        };
        FakeEngine engine = start();
        assertThat(engine.calls).containsExactly("start", "configure", "filterThreads 1 true");
        assertThat(engine.options).contains("active=false\n");
    }

    @Test
    void nameRuleOfTheCoreIsUsedForExactlyTheDefault() {
        FakeEngine engine = start();
        assertThat(engine.options).contains("defaultThreadNameRule=true\n");

        RegexThreadNameManipulator other = new RegexThreadNameManipulator();
        other.setThreadNameRemovalPatterns(List.of("x"));
        options.setManipulator(other);
        assertThat(engine.options).contains("defaultThreadNameRule=false\n");

        options.setManipulator(new RegexThreadNameManipulator());
        assertThat(engine.options).contains("defaultThreadNameRule=true\n");

        options.setManipulator(new RegexThreadNameManipulator() {});
        assertThat(engine.options).contains("defaultThreadNameRule=false\n");
    }

    @Test
    void manipulatorIsInitialisedAtEachStartAndWhenSetWhileRunning() throws IOException {
        List<String> calls = new ArrayList<>();
        class Counting implements ThreadNameManipulator {
            @Override
            public String getManipulatedThreadName(Thread thread) {
                return null;
            }

            @Override
            public void init() {
                calls.add("init");
            }
        }

        options.setManipulator(new Counting());
        assertThat(calls).isEmpty();
        start();
        assertThat(calls).hasSize(1);
        options.setManipulator(new Counting());
        assertThat(calls).hasSize(2);
        lifecycle.close();
        start();
        assertThat(calls).hasSize(3);
    }

    @Test
    void manipulatorThatCannotBeInitialisedStopsTheStart() {
        options.setManipulator(new ThreadNameManipulator() {
            @Override
            public String getManipulatedThreadName(Thread thread) {
                return null;
            }

            @Override
            public void init() {
                throw new IllegalStateException("not ready");
            }
        });
        assertThatIllegalStateException().isThrownBy(lifecycle::init).withMessage("not ready");
        assertThat(source.made).isEmpty();
        options.setManipulator(new RegexThreadNameManipulator());
        start();
    }

    @Test
    void chosenThreadsReachTheCore() throws InterruptedException {
        Thread ended = new Thread(() -> {});
        ended.start();
        ended.join();
        Thread unstarted = new Thread(() -> {});
        options.choose("a", List.of(Thread.currentThread(), ended));
        options.choose("b", List.of(unstarted, Thread.currentThread()));
        FakeEngine engine = start();

        assertThat(engine.calls).containsExactly("filterThreads 2 true", "start");
        assertThat(engine.selected).containsExactly(Thread.currentThread(), unstarted);
        assertThat(options.chosen()).containsExactly(Thread.currentThread(), unstarted);

        options.choose("b", List.of());
        assertThat(engine.calls).endsWith("filterThreads 0 false");
        assertThat(options.chosen()).isEmpty();
    }

    @Test
    void whenAllChosenThreadsHaveEndedNothingIsSampled() throws InterruptedException {
        Thread ended = new Thread(() -> {});
        ended.start();
        options.choose("a", List.of(ended));
        ended.join();
        assertThat(start().calls).containsExactly("filterThreads 0 true", "start");
    }

    @Test
    void wrongThreadsAreNamedAndChangeNothing() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.choose("p", null))
                .withMessage("p must not be null");
        List<Thread> withNull = Arrays.asList(Thread.currentThread(), null);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.choose("p", withNull))
                .withMessage("p[1] must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.chooseOne("p", null))
                .withMessage("p must not be null");
        assertThat(options.chosen()).isEmpty();
    }

    @Test
    void nullsAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.setOutputer(null))
                .withMessage("samplingOutputer must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.setManipulator(null))
                .withMessage("threadNameManipulator must not be null");
    }

    @Test
    void replacedOutputerIsNotClosed() throws IOException {
        RecordingOutputer next = new RecordingOutputer();
        start();
        options.setOutputer(next);
        lifecycle.close();
        assertThat(outputer.calls).isEmpty();
        assertThat(next.calls).containsExactly("close");
    }

    // ---- statistics ----

    @Test
    void statisticsBeforeDuringAndAfter() throws IOException {
        assertThat(lifecycle.statistics()).isEqualTo(RawStatistics.NONE);
        FakeEngine engine = start();
        engine.polls = 5;
        assertThat(lifecycle.statistics().values()).containsExactly(5L, 1L);
        engine.polls = 6;
        engine.onStop = () -> engine.polls = 7;
        lifecycle.close();
        assertThat(lifecycle.statistics().values()).containsExactly(7L, 1L);
        assertThat(lifecycle.statistics().engine()).isEqualTo("fake");
    }

    // ---- what is left ----

    @Test
    void closedSamplerIsNotHeldByTheShutdownHook() throws IOException {
        WeakReference<Lifecycle> closed = new WeakReference<>(startAndClose());
        await().until(() -> {
            System.gc();
            return closed.get() == null;
        });
    }

    private Lifecycle startAndClose() throws IOException {
        Lifecycle other = new Lifecycle(source);
        other.init();
        other.close();
        return other;
    }

    // ---- many threads ----

    @Test
    void stormOfCallsEndsInAConsistentState() throws Exception {
        List<Throwable> unexpected = Collections.synchronizedList(new ArrayList<>());
        List<Consumer<Lifecycle>> calls = List.of(
                Lifecycle::init,
                Lifecycle::shutdown,
                Lifecycle::pause,
                Lifecycle::resume,
                it -> it.printReport(),
                it -> it.statistics(),
                LifecycleTest::readWindow,
                LifecycleTest::readWindow,
                it -> it.options().set(Option.SAMPLING_FREQUENCY_MILLIS, 20L),
                it -> it.options().choose("p", List.of()));
        List<Thread> threads = new ArrayList<>();
        for (Consumer<Lifecycle> call : calls) {
            threads.add(new Thread(() -> {
                for (int i = 0; i < 2000; i++) {
                    try {
                        call.accept(lifecycle);
                    } catch (IllegalStateException expected) {
                        // the call is not allowed in the current state
                    } catch (Throwable t) {
                        unexpected.add(t);
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        lifecycle.close();

        assertThat(unexpected).isEmpty();
        assertThat(source.made).isNotEmpty().allSatisfy(engine -> {
            assertThat(engine.destroyed).isTrue();
            assertThat(Collections.frequency(engine.calls, "stop")).isEqualTo(1);
        });
    }

    private static void readWindow(Lifecycle lifecycle) {
        SnapshotReaders readers = lifecycle.readers();
        readers.openWindow();
        try {
            readers.window(0, snapshot -> snapshot).release();
        } finally {
            readers.closeWindow();
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        await().pollInterval(5, TimeUnit.MILLISECONDS).until(() -> latch.getCount() == 0);
    }

    // ---- an end that takes too long ----

    /** Blocks in the method that its test names, until the test releases it. */
    private static final class Blocking extends RecordingOutputer {

        private final String where;
        private final CountDownLatch release = new CountDownLatch(1);

        Blocking(String where) {
            this.where = where;
        }

        private void blockIn(String method) {
            if (where.equals(method)) {
                awaitLatch(release);
            }
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            super.printThreadRecord(threadTitle, record);
            blockIn("record");
        }

        @Override
        public void close() {
            super.close();
            blockIn("close");
        }
    }

    private FakeEngine startWith(SamplingOutputer next) {
        options.setCloseTimeoutSeconds(1);
        options.setOutputer(next);
        FakeEngine engine = start();
        engine.onStop = engine::writeReport;
        engine.waiting = 2;
        return engine;
    }

    /* The outputer blocks already before close() is called, so the time limit has no part in that. */
    private FakeEngine startBlocked(Blocking blocking) {
        FakeEngine engine = startWith(blocking);
        engine.onStop = engine.beginReport();
        await().until(() -> blocking.calls.size() == 2);
        return engine;
    }

    private static void assertWarned(Logged log, String frame) {
        assertThat(log.messages())
                .containsExactly("WARN close() went on after closeTimeoutSeconds=1; reports that wait are lost");
        assertThat(log.stacks()).hasSize(1);
        assertThat(log.stacks().get(0)).contains("thread fake-reporter", frame);
    }

    @Test
    void closeGoesOnWithoutAnOutputerThatBlocks() throws IOException {
        Blocking blocking = new Blocking("record");
        FakeEngine engine = startBlocked(blocking);
        try (Logged log = new Logged()) {
            lifecycle.close();
            assertWarned(log, "Blocking.printThreadRecord");
        }
        await().until(() -> engine.calls.size() == 2);
        assertThat(engine.calls).containsExactly("start", "stop");
        assertThat(blocking.calls).hasSize(2);
        assertThat(lifecycle.isRunning()).isFalse();
        assertThat(lifecycle.statistics().values()).containsExactly(2L, 0L, 0L, 1L);
        lifecycle.close();

        options.setOutputer(outputer);
        FakeEngine second = start();
        blocking.release.countDown();
        await().until(() -> blocking.calls.size() == 3);
        assertThat(engine.calls).containsExactly("start", "stop", "destroy");
        assertThat(blocking.calls).endsWith("close");
        second.onStop = second::writeReport;
        lifecycle.close();
        assertThat(outputer.calls).hasSize(4).endsWith("flush", "close");
        assertThat(second.calls).containsExactly("start", "stop", "destroy");
    }

    /** The next run closes it. */
    @Test
    void anOutputerThatIsUsedAgainIsNotClosedByTheRunThatItHasBlocked() throws IOException {
        Blocking blocking = new Blocking("record");
        FakeEngine engine = startBlocked(blocking);
        lifecycle.close();
        start();
        blocking.release.countDown();
        await().until(() -> engine.destroyed);

        lifecycle.close();
        assertThat(blocking.calls).hasSize(3).endsWith("close");
    }

    @Test
    void closeGoesOnWithoutAnOutputerWhoseCloseBlocks() throws IOException {
        Blocking blocking = new Blocking("close");
        FakeEngine engine = startWith(blocking);
        options.setCloseTimeoutSeconds(5); // within this time the work must arrive in close()
        try (Logged log = new Logged()) {
            lifecycle.close();
            assertThat(log.stacks().get(0)).contains("thread threads-sampler-close", "Blocking.close");
        }
        assertThat(engine.destroyed).isTrue();
        FakeEngine second = start();
        blocking.release.countDown();
        lifecycle.close();
        assertThat(second.destroyed).isTrue();
        assertThat(Collections.frequency(blocking.calls, "close")).isEqualTo(2);
    }

    @Test
    void shutdownGoesOnAndNeverClosesTheOutputer() throws IOException {
        Blocking blocking = new Blocking("record");
        FakeEngine engine = startBlocked(blocking);
        lifecycle.shutdown();
        blocking.release.countDown();
        await().until(() -> engine.destroyed);
        assertThat(blocking.calls).hasSize(2);
    }

    @Test
    void closeGoesOnWithoutANameRuleThatBlocks() throws IOException {
        CountDownLatch release = new CountDownLatch(1);
        options.setManipulator(thread -> {
            awaitLatch(release);
            return "group";
        });
        FakeEngine engine = startWith(outputer);
        String[] names = new String[1];
        Thread sampler = new Thread(
                () -> engine.callbacks.groupNames(new Thread[] {Thread.currentThread()}, 1, names, new boolean[1]),
                "fake-sampler");
        engine.onStop = () -> awaitLatch(release);
        sampler.start();
        await().until(() -> sampler.getState() == Thread.State.TIMED_WAITING);
        try (Logged log = new Logged()) {
            lifecycle.close();
            assertThat(log.stacks().get(0)).contains("thread fake-sampler");
        }
        release.countDown();
        await().until(() -> engine.destroyed);
    }

    private static void assertEnds(Call call, FakeEngine engine) throws Exception {
        call.get();
        await().until(() -> engine.destroyed);
    }

    @Test
    void closeGoesOnWithoutAPauseThatBlocks() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        FakeEngine engine = startWith(outputer);
        engine.onPause = () -> awaitLatch(release);
        engine.onStop = engine.onPause;
        Call pause = Call.of(lifecycle::pause).assertWaits();
        try (Logged log = new Logged()) {
            lifecycle.close();
            assertThat(log.messages())
                    .containsExactly("WARN close() went on after closeTimeoutSeconds=1; reports that wait are lost");
        }
        FakeEngine second = start();
        release.countDown();
        assertEnds(pause, engine);
        assertThat(lifecycle.isPaused()).isFalse();
        lifecycle.pause();
        assertThat(second.calls).endsWith("pause");
    }

    @Test
    void closeGoesOnWithoutAChangeThatBlocks() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        FakeEngine engine = startWith(outputer);
        engine.onFilter = () -> awaitLatch(release);
        engine.onStop = engine.onFilter;
        Call change = Call.of(() -> options.choose("p", List.of(Thread.currentThread())))
                .assertWaits();
        lifecycle.close();
        FakeEngine second = start();
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, 30L);
        assertThat(second.calls).containsExactly("filterThreads 1 true", "start", "configure");
        release.countDown();
        assertEnds(change, engine);
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, 30L);
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, 40L);
        assertThat(second.calls).containsExactly("filterThreads 1 true", "start", "configure", "configure");
    }

    /** The sampler has stopped, so the property is only stored for the next run. */
    @Test
    void aChangeThatCloseHasNotWaitedForIsNotUndone() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        FakeEngine engine = startWith(outputer);
        engine.onFilter = () -> {
            awaitLatch(release);
            throw new IllegalStateException("stopped");
        };
        engine.onStop = () -> awaitLatch(release);
        Thread chosen = Thread.currentThread();
        Call change = Call.of(() -> options.choose("p", List.of(chosen))).assertWaits();
        lifecycle.close();
        release.countDown();
        assertEnds(change, engine);
        assertThat(options.current().threads().alive()).containsExactly(chosen);
    }

    @ParameterizedTest
    @ValueSource(strings = {"manipulator", "outputer", "engine"})
    void closeGoesOnWithoutAStartThatBlocks(String what) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        options.setCloseTimeoutSeconds(1);
        options.setManipulator(new RegexThreadNameManipulator() {
            @Override
            public void init() {
                super.init();
                if (what.equals("manipulator")) {
                    awaitLatch(release);
                }
            }
        });
        AtomicInteger closed = new AtomicInteger();
        AtomicInteger startings = new AtomicInteger();
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void starting() {
                startings.incrementAndGet();
                if (what.equals("outputer")) {
                    awaitLatch(release);
                }
            }

            @Override
            public void close() {
                closed.incrementAndGet();
            }
        });
        source.prepare = engine -> engine.onStart = () -> {
            if (what.equals("engine")) {
                awaitLatch(release);
            }
        };
        Call start = Call.of(lifecycle::init).assertWaits();
        try (Logged log = new Logged()) {
            lifecycle.close();
            assertThat(log.messages())
                    .containsExactly("WARN close() went on after closeTimeoutSeconds=1; init() has not ended, and will"
                            + " fail");
            assertThat(log.stacks().get(0)).contains("thread call", "LifecycleTest");
        }
        release.countDown();
        assertThatThrownBy(start::get).hasRootCauseMessage("close() was called before init() had ended");
        assertThat(closed).hasValue(1);
        assertThat(startings).hasValue(what.equals("manipulator") ? 0 : 1);
        assertThat(source.made).hasSize(what.equals("engine") ? 1 : 0).allMatch(engine -> engine.destroyed);
        assertThat(start().calls).containsExactly("start");
    }

    @Test
    void closeGoesOnWithoutAnotherThatHasNoLimit() throws Exception {
        Blocking blocking = new Blocking("close");
        startWith(blocking);
        options.setCloseTimeoutSeconds(0);
        Call other = Call.of(lifecycle::close).assertWaits();
        options.setCloseTimeoutSeconds(1);
        try (Logged log = new Logged()) {
            lifecycle.close();
            assertThat(log.messages())
                    .containsExactly("WARN close() went on after closeTimeoutSeconds=1; another call ends the sampler");
        }
        blocking.release.countDown();
        other.get();
    }

    @Test
    void withoutALimitCloseWaits() throws Exception {
        Blocking blocking = new Blocking("record");
        startWith(blocking);
        options.setCloseTimeoutSeconds(0);
        Call call = Call.of(lifecycle::close).assertWaits();
        blocking.release.countDown();
        call.get();
        assertThat(blocking.calls).endsWith("flush", "close");
    }

    @Test
    void anOutputerThatClosesTheSamplerInItsCloseIsRefused() throws IOException {
        AtomicReference<Throwable> refused = new AtomicReference<>();
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void close() {
                try {
                    lifecycle.close();
                } catch (IllegalStateException | IOException e) {
                    refused.set(e);
                }
            }
        });
        start();
        lifecycle.close();
        assertThat(refused.get()).hasMessageContaining("close() would wait for itself");
    }

    @Test
    void theOutputersCloseSeesTheContextClassLoaderOfItsCaller() throws IOException {
        ClassLoader loader = new ClassLoader() {};
        AtomicReference<ClassLoader> seen = new AtomicReference<>();
        options.setOutputer(new RecordingOutputer() {
            @Override
            public void close() {
                seen.set(Thread.currentThread().getContextClassLoader());
            }
        });
        start();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        Thread.currentThread().setContextClassLoader(loader);
        try {
            lifecycle.close();
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        assertThat(seen.get()).isSameAs(loader);
    }

    @Test
    void theLimitHasARange() {
        assertThat(options.closeTimeoutSeconds()).isEqualTo(60);
        options.setCloseTimeoutSeconds(86_400);
        for (long wrong : new long[] {-1, 86_401}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.setCloseTimeoutSeconds(wrong))
                    .withMessage("closeTimeoutSeconds must be between 0 and 86400, got " + wrong);
        }
    }

    // ---- the exit of the JVM ----

    @Test
    void afterTheExitOtherHooksGetTheLastSnapshotAndAllElseDoesNothing() throws IOException {
        FakeEngine engine = start();
        SnapshotReaders.Cursor cursor = readers.openCursor();
        lifecycle.finishAtExit();
        assertThat(engine.calls).containsExactly("start", "stop");
        assertThat(outputer.calls).containsExactly("close");

        readers.snapshot(taken -> taken).release();
        cursor.next(taken -> taken).release();
        assertThat(engine.calls).endsWith("takeInterval 1", "takeInterval 2");
        engine.onInterval = () -> {
            throw new IllegalStateException("nothing is waiting");
        };
        assertThat(readers.snapshot(taken -> taken).figures().groups().names()).isEmpty();
        assertThat(cursor.next(taken -> taken).figures().groups().names()).isEmpty();
        cursor.close();
        lifecycle.printReport();
        lifecycle.sampleOnceAndPrint();
        lifecycle.pause();
        lifecycle.resume();
        assertThat(readers.openCursor().next(taken -> taken).figures().groups().names())
                .isEmpty();
        lifecycle.close();
        lifecycle.shutdown();
        assertThat(engine.calls).doesNotContain("report", "sampleOnce", "pause", "resume", "destroy");
        assertThat(outputer.calls).containsExactly("close");
        assertThat(start()).isNotSameAs(engine);
        assertThatIllegalStateException().isThrownBy(() -> {
            lifecycle.close();
            readers.snapshot(taken -> taken);
        });
    }

    /** A stopped engine returns no further interval, but an interval that a caller failed to get is still there. */
    @Test
    void afterTheExitACallerGetsWhatCouldNotBeReadBefore() {
        FakeEngine engine = start();
        FakeSnapshot only = new FakeSnapshot();
        engine.interval = () -> only;
        assertThatThrownBy(() -> readers.snapshot(taken -> {
                    throw new StackOverflowError("full");
                }))
                .hasMessage("full");
        lifecycle.finishAtExit();
        engine.onInterval = () -> {
            throw new IllegalStateException("nothing is waiting");
        };
        Snapshot last = readers.snapshot(taken -> taken);
        assertThat(last).isSameAs(only);
        last.release();
        assertThat(readers.snapshot(taken -> taken).figures().groups().names()).isEmpty();
    }

    /** The engine is stopped between a caller's reading of the state and its call. */
    @Test
    void anExitInTheMiddleOfACallThrowsNothing() {
        FakeEngine engine = start();
        Runnable exit = () -> {
            CompletableFuture.runAsync(lifecycle::finishAtExit).join();
            throw new IllegalStateException("stopped");
        };
        engine.onReport = exit;
        lifecycle.printReport();
        FakeEngine second = start();
        second.onInterval = () -> {
            second.onInterval = () -> {};
            exit.run();
        };
        readers.snapshot(taken -> taken).release();
        assertThat(second.calls).containsExactly("start", "takeInterval 1", "stop", "takeInterval 1");
    }

    @Test
    void anotherFailureOfACallIsThrown() {
        FakeEngine engine = start();
        engine.onReport = () -> {
            throw new IllegalStateException("for another reason");
        };
        assertThatIllegalStateException().isThrownBy(lifecycle::printReport).withMessage("for another reason");
    }
}
