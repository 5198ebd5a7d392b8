// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Row;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** By default reports omit small rows and details of the account; no time is lost. */
@ExtendWith(NothingLeft.class)
class ShortReportIT {

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    /* The defaults, which tests otherwise change. */
    private void shorten() {
        sampler.setReportMinPercent(0.5);
        sampler.setReportAccount(ReportAccount.SHORT);
    }

    private Report report() {
        sampler.printReport();
        return recorder.last();
    }

    @Test
    void aPoolThatWaitsForWorkIsLastWithOneRow() throws Exception {
        AtomicReference<Thread> idle = new AtomicReference<>();
        ExecutorService pool = Executors.newSingleThreadExecutor(task -> {
            idle.set(new Thread(task, "idle-pool"));
            return idle.get();
        });
        try (Worker worker = Worker.waiting("waits for a lock")) {
            pool.submit(() -> {}).get();
            Worker.awaitState(idle.get(), Thread.State.WAITING);
            shorten();
            sampler.setSampleTheseThreadsOnly(List.of(idle.get(), worker.thread()));
            sampler.init();
            awaitTicks(sampler, 50);
            Report report = report();
            assertThat(report.names()).containsExactly("waits for a lock", "idle-pool");
            Group group = report.group("idle-pool");
            assertThat(group.rows()).hasSize(1);
            assertThat(group.rows().get(0).method()).isEqualTo("java.lang.Thread.run");
            assertThat(group.methodMillis()).isEqualTo(group.cumulativeMillis()).isPositive();
            sampler.setReportMinPercent(0);
            awaitTicks(sampler, 20);
            group = report().group("idle-pool");
            assertThat(group.rows()).hasSizeGreaterThan(1);
            assertThat(group.rows().get(0).methodMillis()).isZero();
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void smallRowsAreOneRowWithTheirSum() {
        try (Worker here = Worker.waiting("desk-1");
                Worker there = Worker.doing("desk-2", CountDownLatch::await).awaitWaiting()) {
            sampler.setSampleTheseThreadsOnly(List.of(here.thread(), there.thread()));
            sampler.setSamplingFrequencyMillis(1000);
            sampler.setActive(false);
            sampler.init();
            sampler.sampleOnceAndPrint();
            List<Row> all = recorder.last().group("desk-").rows();
            assertThat(all).hasSizeGreaterThan(2);
            sampler.setReportMinPercent(60);
            sampler.sampleOnceAndPrint();
            List<Row> some = recorder.last().group("desk-").rows();
            Row last = some.get(some.size() - 1);
            assertThat(last.frame()).isEqualTo("[" + (all.size() - some.size() + 1) + " rows below 60 %]");
            assertThat(last.cumulativeMillis()).isEqualTo(2000);
            assertThat(last.methodMillis()).isEqualTo(2000);
            assertThat(some.get(0)).isEqualTo(all.get(0));
        }
    }

    @Test
    void theAccountHasThreeLinesAndWhatNeedsAttention() {
        try (Worker worker = Worker.waiting("waits")) {
            sampler.setThreadToBeSampled(worker.thread());
            sampler.init();
            awaitTicks(sampler, 20);
            assertThat(report().account()).contains("\nsamples taken", "\nticks: ", "application guessed");
            shorten();
            awaitTicks(sampler, 20);
            List<String> lines = report().account().lines().toList();
            assertThat(lines.get(0)).matches("polls: \\d+, 100\\.0 % of the time with a stack");
            assertThat(lines.get(lines.size() - 2)).matches("memory used: \\d+ of 67108864 bytes");
            assertThat(lines.get(lines.size() - 1)).startsWith("sampler's own CPU: ");
            assertThat(lines)
                    .noneMatch(line -> line.startsWith("samples")
                            || line.startsWith("credited as idle")
                            || line.startsWith("ticks: ")
                            || line.startsWith("application guessed"));
        }
    }

    @Test
    void aListOfPackagesThatMatchesNothingIsAlwaysInTheAccount() {
        try (Worker worker = Worker.waiting("waits")) {
            shorten();
            sampler.setThreadToBeSampled(worker.thread());
            sampler.setMonitoredPackages("no.such");
            sampler.init();
            awaitTicks(sampler, 20);
            assertThat(report().account()).contains("\nno frame of the monitored packages was seen: no.such\n");
        }
    }
}
