// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.StartStopProgram;
import com.incapsula.sampler.testing.StormProgram;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Many events at once. The process must not crash, nothing may leak, each poll has an outcome, and no time is lost.
 * With {@code -Dsampler.test.long=true} a hundred times as many cycles, and storms of a minute each.
 */
@ExtendWith(NothingLeft.class)
class StormIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int CYCLES = LONG ? 10_000 : 100;
    private static final Duration STORM = Duration.ofSeconds(LONG ? 60 : 1);

    // ---- start and stop ----

    /*
     * Runs in a new JVM, because each start receives events for all compiled methods, and the JVM of the tests has
     * many.
     */
    @Test
    void startAndStopUnderLoadLeavesNothing() throws Exception {
        assertThat(child(StartStopProgram.class)
                        .longer(STORM.multipliedBy(20))
                        .run(String.valueOf(CYCLES))
                        .assertFine()
                        .output())
                .isEqualTo(CYCLES + " times\n");
    }

    @Test
    void severalThreadsStartAndStopSamplersAtOnce() throws Exception {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Thread> cyclists = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random random = new Random(i);
            cyclists.add(new Thread(
                    () -> {
                        try {
                            for (int j = 0; j < CYCLES / 20; j++) {
                                StartStopProgram.cycle(random);
                            }
                        } catch (IOException | RuntimeException | Error e) {
                            failure.set(e);
                        }
                    },
                    "cyclist-" + i));
        }
        cyclists.forEach(Thread::start);
        for (Thread cyclist : cyclists) {
            cyclist.join();
        }
        assertThat(failure).hasValue(null);
    }

    // ---- several samplers ----

    @Test
    void severalSamplersDoNotDisturbEachOther() throws IOException {
        try (Worker one = Worker.waiting("one-1");
                Worker two = Worker.daemon("two-2")) {
            Recorder first = new Recorder();
            Recorder second = new Recorder();
            Recorder third = new Recorder();
            ThreadsSampler all = quick(first);
            ThreadsSampler chosen = quick(second);
            chosen.setSamplingFrequencyMillis(1);
            chosen.setThreadToBeSampled(two.thread());
            ThreadsSampler own = quick(third);
            own.setThreadNameManipulator(Thread::getName);
            own.setSkipDaemonThreads(true);
            own.setMonitoredPackages("com.incapsula.sampler.testing.work");
            long outer = System.nanoTime();
            all.init();
            chosen.init();
            own.init();
            long inner = System.nanoTime();
            awaitTicks(all, 50);
            awaitTicks(chosen, 50);
            chosen.close();
            awaitTicks(own, 50);
            own.close();
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            awaitTicks(all, 5);
            all.close();
            long atMost = (System.nanoTime() - outer) / 1_000_000;
            assertThat(second.only().names()).containsExactly("two-");
            assertThat(third.only().names()).contains("one-1").doesNotContain("two-2");
            assertThat(first.only().names()).contains("one-", "two-");
            assertThat(first.only().group("one-").cumulativeMillis()).isBetween(atLeast - 1, atMost + 1);
            for (Recorder recorder : List.of(first, second, third)) {
                assertThat(recorder.only().names()).noneMatch(name -> name.startsWith("threads-sampler"));
            }
            assertThat(one.thread().isAlive()).isTrue();
        }
    }

    // ---- storms ----

    /* Each storm has a JVM of its own. They run at the same time, which is faster and makes the machine busy. */
    @TestFactory
    Stream<DynamicTest> storms() {
        ExecutorService atOnce = Executors.newCachedThreadPool();
        List<DynamicTest> tests = new ArrayList<>();
        for (StormProgram.Storm storm : StormProgram.Storm.values()) {
            Future<ChildJvm.Result> result = atOnce.submit(() -> child(StormProgram.class)
                    .longer(STORM.multipliedBy(3))
                    .run(storm.name(), String.valueOf(STORM.toSeconds())));
            tests.add(DynamicTest.dynamicTest(
                    storm.name(),
                    () -> assertThat(result.get().assertFine().output())
                            .as("%s", storm)
                            .endsWith("over\n")
                            .satisfies(System.out::print)));
        }
        atOnce.shutdown();
        return tests.stream();
    }

    private static ChildJvm child(Class<?> program) {
        return ChildJvm.of(program).likeAServer().withTestLibraries();
    }
}
