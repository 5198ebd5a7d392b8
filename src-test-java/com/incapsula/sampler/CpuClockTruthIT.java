// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.cpuOf;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A group's CPU time equals what the clocks of its threads say. */
@ExtendWith(NothingLeft.class)
@Measures
class CpuClockTruthIT {

    private static final long WORK_NANOS = Boolean.getBoolean("sampler.test.long") ? 10_000_000_000L : 1_500_000_000L;
    private static final long STINT_NANOS = 3_000_000L;
    private static final Percentage CLOSE = Percentage.withPercentage(1);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final CountDownLatch begin = new CountDownLatch(1);
    private volatile double sink;

    /* Works until its CPU clock has advanced so far, with or without pauses. Waits before and after. */
    private Worker worker(String name, long nanos, boolean rests) {
        return Worker.doing(name, goHome -> {
                    Desk.serve(begin);
                    long end = THREADS.getCurrentThreadCpuTime() + nanos;
                    long rest = THREADS.getCurrentThreadCpuTime() + STINT_NANOS;
                    while (THREADS.getCurrentThreadCpuTime() < end) {
                        for (int i = 0; i < 10_000; i++) {
                            sink += Math.sqrt(i);
                        }
                        if (rests && THREADS.getCurrentThreadCpuTime() > rest) {
                            Desk.serveFor(STINT_NANOS / 1_000_000);
                            rest = THREADS.getCurrentThreadCpuTime() + STINT_NANOS;
                        }
                    }
                    Desk.serve(goHome);
                })
                .awaitWaiting();
    }

    @SuppressWarnings("deprecation") // threadId() came with Java 19
    private static long cpuNanos(List<Worker> workers) {
        return workers.stream()
                .mapToLong(worker -> THREADS.getThreadCpuTime(worker.thread().getId()))
                .sum();
    }

    @Test
    void groupHasTheCpuTimeOfItsThreads() throws IOException {
        List<Worker> busy = List.of(worker("busy-1", WORK_NANOS, false), worker("busy-2", WORK_NANOS / 2, false));
        List<Worker> half = List.of(worker("half-1", WORK_NANOS / 2, true), worker("half-2", WORK_NANOS / 4, true));
        List<Worker> all = new ArrayList<>(busy);
        all.addAll(half);
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        long[] before = {cpuNanos(busy), cpuNanos(half)};
        sampler.init();
        try {
            assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID");
            begin.countDown();
            patiently()
                    .until(() -> cpuNanos(all) - before[0] - before[1] >= WORK_NANOS * 9 / 4
                            && all.stream().allMatch(worker -> worker.thread().getState() == Thread.State.WAITING));
            /* The threads wait again; each is polled once more. */
            awaitTicks(sampler, 20);
            try (SamplingReport report = sampler.snapshot()) {
                assertThat(cpuOf(report, "busy-")).as("busy").isCloseTo(cpuNanos(busy) - before[0], CLOSE);
                assertThat(cpuOf(report, "half-")).as("half busy").isCloseTo(cpuNanos(half) - before[1], CLOSE);
            }
        } finally {
            all.forEach(Worker::close);
            sampler.close();
        }
    }
}
