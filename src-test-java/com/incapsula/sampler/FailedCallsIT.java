// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static com.incapsula.sampler.testing.Samplers.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.testing.CountedEdges;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import counted.Edges;
import counted.Failures;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls that end with an exception, wherever it is thrown: each call is counted below the call that made it. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class FailedCallsIT {

    private static final Pattern TOO_DEEP = Pattern.compile("over the limit of depth \\(maxCallDepth\\): (\\d+)");
    private static final int TIMES = 200;
    private static final int ROUNDS = 12;
    private static final int STOPS = 300;
    private static final long STACK_BYTES = 320 << 10;

    private final ThreadsSampler sampler = quick(new Recorder());

    FailedCallsIT() {
        sampler.setOverheadLimitPercent(100); // no method loses its probes
        sampler.setRootMethods("counted.Failures.root");
        sampler.setInstrumentationFilter("counted.Failures*");
        sampler.setMaxCallNodes(1_000_000);
    }

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private static void run(long seed, boolean full) {
        Thread thread = new Thread(null, () -> Failures.run(seed, TIMES, full), "failures", STACK_BYTES);
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private Map<String, Long> take() {
        try (SamplingReport report = sampler.snapshot()) {
            return CountedEdges.of(report);
        }
    }

    /* Repeats runs until all methods have their probes; from then on each run is exact. */
    private void assertAllEdges(boolean full) {
        patiently().until(() -> {
            take();
            Edges.reset();
            run(1, full);
            return take().equals(Edges.counts());
        });
        for (int round = 0; round < ROUNDS; round++) {
            Edges.reset();
            run(round, full);
            assertThat(take()).isEqualTo(Edges.counts());
        }
    }

    @ParameterizedTest
    @CsvSource({"LAZY, SAMPLED", "LAZY, EXACT", "EAGER, SAMPLED", "EAGER, EXACT", "TOTAL, SAMPLED", "TOTAL, EXACT"})
    void eachCallIsBelowTheOneThatMadeIt(Instrumentation instrumentation, MethodTiming timing) {
        sampler.setInstrumentation(instrumentation);
        sampler.setMethodTiming(timing);
        sampler.init();
        assertAllEdges(false);
    }

    @ParameterizedTest
    @CsvSource({"LAZY, SAMPLED", "EAGER, EXACT", "TOTAL, SAMPLED"})
    void eachCallIsInItsPlaceWhereTheStackEnds(Instrumentation instrumentation, MethodTiming timing) {
        sampler.setInstrumentation(instrumentation);
        sampler.setMethodTiming(timing);
        sampler.setMaxCallDepth(100_000);
        sampler.init();
        assertAllEdges(true);
    }

    /**
     * Calls beyond the limit are one figure of the account; calls above it are exact. LAZY would instrument only
     * callees of calls with a node, so this uses TOTAL.
     */
    @Test
    void theLimitOfDepthIsNoPlaceWhereCallsAreLost() {
        sampler.setInstrumentation(Instrumentation.TOTAL);
        sampler.setMaxCallDepth(6);
        sampler.init();
        patiently().until(() -> {
            take();
            Edges.reset();
            run(1, true);
            return ofRoot(take()).equals(ofRoot(Edges.counts()));
        });
        for (int round = 0; round < ROUNDS; round++) {
            Edges.reset();
            run(round, true);
            try (SamplingReport report = sampler.snapshot()) {
                Map<String, Long> edges = CountedEdges.of(report);
                assertThat(ofRoot(edges)).isEqualTo(ofRoot(Edges.counts()));
                Matcher deep = TOO_DEEP.matcher(report.toString(ReportFormat.TEXT));
                assertThat(deep.find()).isTrue();
                assertThat(sum(edges) + Long.parseLong(deep.group(1))).isEqualTo(sum(Edges.counts()));
            }
        }
    }

    /** {@link Thread#stop}, which JDKs from 20 on no longer support, throws at any instruction, in a probe, too. */
    @ParameterizedTest
    @CsvSource({"LAZY, SAMPLED", "TOTAL, EXACT"})
    @EnabledForJreRange(max = JRE.JAVA_19)
    @SuppressWarnings("removal")
    void aThreadThatIsStoppedAnywhereLeavesNoCallOpen(Instrumentation instrumentation, MethodTiming timing)
            throws Exception {
        sampler.setInstrumentation(instrumentation);
        sampler.setMethodTiming(timing);
        sampler.init();
        assertAllEdges(false);
        ExecutorService one = Executors.newSingleThreadExecutor();
        try {
            Thread thread = one.submit(Thread::currentThread).get();
            for (int stop = 0; stop < STOPS; stop++) {
                CountDownLatch runs = new CountDownLatch(1);
                Future<?> run = one.submit(() -> {
                    runs.countDown();
                    while (!thread.isInterrupted()) {
                        Failures.run(1, TIMES, false);
                    }
                });
                runs.await();
                thread.stop();
                assertThatThrownBy(run::get).hasCauseInstanceOf(ThreadDeath.class);
            }
            take();
            for (int round = 0; round < ROUNDS; round++) {
                int seed = round;
                Edges.reset();
                one.submit(() -> Failures.run(seed, TIMES, false)).get();
                assertThat(take()).isEqualTo(Edges.counts());
            }
        } finally {
            one.shutdown();
        }
    }

    private static Map<String, Long> ofRoot(Map<String, Long> edges) {
        Map<String, Long> some = new TreeMap<>(edges);
        some.keySet().removeIf(edge -> !edge.startsWith("outside") && !edge.startsWith("Failures.root"));
        return some;
    }
}
