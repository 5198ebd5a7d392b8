// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.NothingLeft.liveBytes;
import static com.incapsula.sampler.testing.Samplers.assertEachPollHasItsOutcome;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Maze;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The sampler keeps to its memory limit, and frees everything at its end. */
@ExtendWith(NothingLeft.class)
class MemoryIT {

    private static final int DEPTH = 450;
    private static final int THREADS = 200;
    private static final int WAYS = 3;
    private static final int STEPS = 40;

    private final Recorder recorder = new Recorder();

    @Test
    void everythingIsGivenBackWhenTheSamplerIsClosed() throws IOException {
        ThreadsSampler sampler = quick(recorder);
        assertThat(liveBytes())
                .as("a sampler that was not started holds nothing")
                .isZero();
        sampler.init();
        assertThat(liveBytes()).isPositive();
        awaitTicks(sampler, 5);
        sampler.printReport();
        assertThat(sampler.getStatistics().getMemoryUsedBytes())
                .isPositive()
                .isLessThanOrEqualTo(sampler.getStatistics().getMemoryPeakBytes());
        sampler.close();
        assertThat(liveBytes()).isZero();
    }

    @Test
    void overTheLimitTimeIsKeptAndTheLossIsCounted() throws IOException {
        List<Worker> workers = new ArrayList<>();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(50);
        sampler.setMemoryLimitBytes(4L << 20);
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(i);
            workers.add(Worker.doing("maze-" + i, goHome -> Maze.walk(random, DEPTH, goHome))
                    .awaitWaiting());
            sampler.setThreadToBeSampled(workers.get(i).thread());
        }
        try {
            sampler.init();
            long inner = System.nanoTime();
            awaitTicks(sampler, 3);
            patiently().until(() -> sampler.getStatistics().getOutcomes().get("OVER_MEMORY_LIMIT") > 0);
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            SamplerStatistics statistics = sampler.getStatistics();
            assertThat(statistics.getMemoryLimitBytes()).isEqualTo(4L << 20);
            assertThat(statistics.getMemoryPeakBytes()).isLessThanOrEqualTo(4L << 20);
            sampler.close();
            assertLossIsCounted(recorder.only(), atLeast);
        } finally {
            workers.forEach(Worker::close);
        }
        assertEachPollHasItsOutcome(sampler.getStatistics());
    }

    /** A thread with a different stack each time: more stacks than there is memory for. */
    private static Worker wanderer(int number) {
        Random random = new Random(number);
        CountDownLatch open = new CountDownLatch(0);
        return Worker.doing("maze-" + number, goHome -> {
            while (goHome.getCount() > 0) {
                Maze.walk(random, STEPS, open);
            }
        });
    }

    @Test
    void atTheLimitTheSmallestRowsAreFolded() throws IOException {
        List<Worker> workers = new ArrayList<>();
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.setOverheadLimitPercent(100);
        sampler.setMemoryLimitBytes(4L << 20);
        for (int i = 0; i < WAYS; i++) {
            workers.add(wanderer(i));
            sampler.setThreadToBeSampled(workers.get(i).thread());
        }
        try {
            sampler.init();
            long inner = System.nanoTime();
            patiently().until(() -> sampler.getStatistics().getCounters().get("FOLDED_ROWS") > 0);
            try (SamplingReport snapshot = sampler.snapshot()) {
                assertThat(snapshot.toString(ReportFormat.COLLAPSED)).contains(";[folded] ");
            }
            long atLeast = (System.nanoTime() - inner) / 1_000_000;
            assertThat(sampler.getStatistics().getMemoryPeakBytes()).isLessThanOrEqualTo(4L << 20);
            sampler.close();
            Group maze = recorder.only().group("maze-");
            assertThat(recorder.only().figure("rows folded into their callers for lack of memory"))
                    .isPositive();
            assertThat(maze.millisIn("[folded]")).isPositive();
            assertThat(maze.cumulativeMillis())
                    .as("no time is lost")
                    .isGreaterThanOrEqualTo(WAYS * atLeast - maze.roots());
        } finally {
            workers.forEach(Worker::close);
        }
        assertEachPollHasItsOutcome(sampler.getStatistics());
    }

    private static void assertLossIsCounted(Report report, long atLeastMillis) {
        Group maze = report.group("maze-");
        assertThat(report.figure("failed, over the memory limit")).isPositive();
        assertThat(report.figure("samples taken") + report.figure("samples taken, by a handshake"))
                .as("what there was room for")
                .isPositive();
        assertThat(maze.millisIn("[over memory limit]")).isPositive();
        assertThat(maze.cumulativeMillis())
                .as("no time is lost")
                .isGreaterThanOrEqualTo(THREADS * atLeastMillis - maze.roots());
        assertThat(maze.distinctThreads()).isEqualTo(THREADS);
    }
}
