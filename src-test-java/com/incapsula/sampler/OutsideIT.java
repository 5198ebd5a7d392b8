// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.incapsula.sampler.testing.CrossChecks;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.ShownStack;
import com.incapsula.sampler.testing.Wait;
import com.incapsula.sampler.testing.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waiting threads are walked from outside, and their stacks equal those that the JVM itself shows. */
@ExtendWith(NothingLeft.class)
class OutsideIT {

    private static final String HANDSHAKE = "WALKED_BY_HANDSHAKE";
    private static final long SELDOM = 4096;

    private final ThreadsSampler sampler = quick(new Recorder());

    @BeforeEach
    void start() throws Exception {
        CrossChecks.ofAllWalks();
        sampler.init();
        String engine = sampler.getStatistics().getEngine();
        assumeFalse(engine.contains("process_vm_readv"), engine); // a sandbox forbids reading memory safely
        assertThat(engine).isEqualTo("HYBRID");
    }

    @AfterEach
    void close() throws Exception {
        sampler.close();
        CrossChecks.ofOneWalkIn(SELDOM);
        CrossChecks.assertNoneDiffered();
    }

    @ParameterizedTest
    @EnumSource(Wait.class)
    void isTheStackThatTheJvmShows(Wait wait) {
        long before = CrossChecks.compared();
        try (Worker holder = Worker.doing("holder", goHome -> repeat(goHome::getCount, Wait.MONITOR));
                Worker worker = Worker.doing("waiter", goHome -> repeat(goHome::getCount, wait))) {
            patiently().until(() -> sawThreadAsItIs(worker.thread()));
            assertThat(holder.thread().isAlive()).isTrue();
        }
        assertThat(CrossChecks.compared()).isGreaterThan(before);
    }

    private interface Left {
        long get();
    }

    private static void repeat(Left left, Wait wait) throws Exception {
        while (left.get() > 0) {
            wait.forMillis(20, 5);
        }
    }

    /*
     * True if the report has the stack that the JVM shows. It does while the thread waits in this place before and
     * after the report.
     */
    private boolean sawThreadAsItIs(Thread thread) {
        String expected = ShownStack.of(thread);
        awaitTicks(sampler, 4);
        try (SamplingReport report = sampler.snapshot()) {
            return expected.contains("forMillis")
                    && report.toString(ReportFormat.COLLAPSED)
                            .lines()
                            .filter(line -> line.startsWith(thread.getName() + ";"))
                            .map(ShownStack::ofLine)
                            .anyMatch(expected::equals);
        }
    }

    /*
     * The sampler has seen these threads start, so it trusts what it reads of them at once. No thread is polled before
     * it waits.
     */
    @Test
    void newThreadsNeedNoHandshake() {
        sampler.pauseSampling();
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            workers.add(Worker.waiting("fresh"));
        }
        sampler.setSampleTheseThreadsOnly(workers.stream().map(Worker::thread).toList());
        long handshakes = outcome(HANDSHAKE);
        long walked = outcome("WALKED");
        sampler.resumeSampling();
        patiently().until(() -> outcome("WALKED") - walked + outcome(HANDSHAKE) - handshakes >= workers.size());
        long needed = outcome(HANDSHAKE) - handshakes;
        workers.forEach(Worker::close);
        assertThat(needed).as("handshakes with threads that wait").isLessThan(workers.size() / 2);
    }

    /* The sampler has not seen these threads start. While they wait, it can rely on seeing their ends. */
    @Test
    void olderThreadsThatWaitNeedNoHandshake() throws Exception {
        sampler.close();
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            workers.add(Worker.waiting("older"));
        }
        sampler.setSampleTheseThreadsOnly(workers.stream().map(Worker::thread).toList());
        sampler.init();
        patiently().until(() -> outcome("WALKED") + outcome(HANDSHAKE) >= workers.size());
        long needed = outcome(HANDSHAKE);
        workers.forEach(Worker::close);
        assertThat(needed).as("handshakes with threads that wait").isLessThan(workers.size() / 2);
    }

    private long outcome(String code) {
        Map<String, Long> outcomes = sampler.getStatistics().getOutcomes();
        return outcomes.getOrDefault(code, 0L);
    }
}
