// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** No time is lost or invented. */
@ExtendWith(NothingLeft.class)
class TimeIT {

    private static final int INTERVAL_MILLIS = 20;

    private final Recorder recorder = new Recorder();

    private ThreadsSampler sampler(Worker... workers) {
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(INTERVAL_MILLIS);
        for (Worker worker : workers) {
            sampler.setThreadToBeSampled(worker.thread());
        }
        return sampler;
    }

    private static long millisSince(long nanos) {
        return (System.nanoTime() - nanos) / 1_000_000;
    }

    /**
     * The root times of threads that live throughout lie between two spans, measured inside and around the sampling.
     */
    @Test
    void rootHasTheElapsedTimeOfAWaitingAndOfABusyThread() throws IOException {
        try (Worker waiting = Worker.waiting("waiting");
                Worker busy = Worker.busy("busy")) {
            long outer = System.nanoTime();
            ThreadsSampler sampler = sampler(waiting, busy);
            sampler.init();
            long inner = System.nanoTime();
            awaitTicks(sampler, 60);
            long atLeast = millisSince(inner);
            sampler.close();
            long atMost = millisSince(outer);
            for (Group group : recorder.only().sampled()) { // [JVM] has CPU time only
                long slack = INTERVAL_MILLIS + atLeast / 100;
                assertThat(group.cumulativeMillis()).as(group.name()).isBetween(atLeast - slack, atMost + slack);
            }
            assertThat(recorder.only().names()).containsExactlyInAnyOrder("waiting", "busy");
        }
    }

    /** Milliseconds are rounded so that no row shows less than the sum of the rows below it. */
    @Test
    void rowsShowNoLessThanTheirPartsAndGroupsAddUp() throws IOException {
        try (Worker one = Worker.waiting("pool-1");
                Worker two = Worker.busy("pool-2");
                Worker deep = Worker.doing("deep", goHome -> Desk.serveDeep(40, goHome))
                        .awaitWaiting()) {
            ThreadsSampler sampler = sampler(one, two, deep);
            sampler.setReportZeroTimePackages(true);
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            awaitTicks(sampler, 30);
            sampler.printReport();
            awaitTicks(sampler, 30);
            long atLeast = millisSince(inner);
            sampler.close();
            long atMost = millisSince(outer);
            assertThat(sumOf("pool-", Group::cumulativeMillis))
                    .as("two threads")
                    .isBetween(2 * atLeast - sumOf("pool-", Group::roots), 2 * (atMost + 2));
            assertThat(sumOf("deep", Group::cumulativeMillis))
                    .as("one thread")
                    .isBetween(atLeast - sumOf("deep", Group::roots), atMost + 2);
        }
        assertThat(recorder.reports()).hasSize(2);
        for (Report report : recorder.reports()) {
            assertThat(report.group("pool-").distinctThreads()).isEqualTo(2);
            report.groups().forEach(TimeIT::assertConsistent);
        }
    }

    private long sumOf(String group, ToLongFunction<Group> value) {
        return recorder.reports().stream()
                .mapToLong(report -> value.applyAsLong(report.group(group)))
                .sum();
    }

    private static void assertConsistent(Group group) {
        for (int i = 0; i < group.rows().size(); i++) {
            long parts = group.rows().get(i).methodMillis();
            int depth = group.rows().get(i).depth();
            for (int below = i + 1;
                    below < group.rows().size() && group.rows().get(below).depth() > depth;
                    below++) {
                if (group.rows().get(below).depth() == depth + 1) {
                    parts += group.rows().get(below).cumulativeMillis();
                }
            }
            assertThat(group.rows().get(i).cumulativeMillis())
                    .as(group.rows().get(i).line())
                    .isGreaterThanOrEqualTo(parts)
                    .isLessThanOrEqualTo(parts + group.rows().size());
        }
    }

    /** The reports of one thread add up to its whole time. */
    @Test
    void noTimeFallsBetweenTwoReports() throws IOException {
        try (Worker worker = Worker.waiting("worker")) {
            ThreadsSampler sampler = sampler(worker);
            sampler.init();
            long inner = System.nanoTime();
            for (int i = 0; i < 10; i++) {
                awaitTicks(sampler, 3);
                sampler.printReport();
            }
            long atLeast = millisSince(inner);
            sampler.close();
            assertThat(sumOf("worker", Group::cumulativeMillis))
                    .isGreaterThanOrEqualTo(atLeast - sumOf("worker", Group::roots));
        }
    }

    @Test
    void threadsThatComeAndGoAreCreditedFromStartToEnd() throws IOException {
        comeAndGo();
    }

    @Test
    @Measures
    void anEndingThreadHasLessThanTwoIntervalsWithoutAStack() throws IOException {
        long uncertain = comeAndGo();
        assertThat(recorder.only().group("guest").millisIn("[thread ended]"))
                .isLessThanOrEqualTo(uncertain + 2 * INTERVAL_MILLIS);
    }

    /* Returns the difference between the two measured times that enclose the credited time. */
    private long comeAndGo() throws IOException {
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(INTERVAL_MILLIS);
        long inside;
        long around;
        sampler.init();
        long start = System.nanoTime();
        try (Worker guest = Worker.waiting("guest")) {
            long seen = System.nanoTime();
            awaitTicks(sampler, 20);
            inside = millisSince(seen);
        }
        around = millisSince(start);
        awaitTicks(sampler, 2);
        sampler.close();
        Group guest = recorder.only().group("guest");
        assertThat(guest.cumulativeMillis()).isBetween(inside - 1, around + 2);
        assertThat(guest.methods()).contains("[thread ended]");
        return around - inside;
    }

    /** With an hour between two samples, the tick of a report and the end of the thread credit time. */
    @Test
    void theTimeFromTheLastSampleToTheEndIsCredited() throws IOException {
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(3_600_000);
        sampler.init();
        long outer = System.nanoTime();
        long inside;
        try (Worker guest = Worker.waiting("guest")) {
            sampler.printReport();
            long seen = System.nanoTime();
            patiently().until(() -> System.nanoTime() - seen > 100_000_000L);
            inside = millisSince(seen);
            assertThat(guest.thread().isAlive()).isTrue();
        }
        long around = millisSince(outer);
        sampler.close();
        assertThat(recorder.last().group("guest").methods()).containsExactly("[thread ended]");
        assertThat(recorder.last().group("guest").cumulativeMillis()).isBetween(inside, around + 1);
        assertThat(recorder.last().figure("skipped, thread ended since its last sample"))
                .isPositive();
    }

    /** init() makes the only poll. close() credits the time since then to the stack found there. */
    @Test
    void timeWithoutAnySampleBetweenIsCredited() throws IOException {
        try (Worker worker = Worker.waiting("worker")) {
            ThreadsSampler sampler = sampler(worker);
            sampler.setSamplingFrequencyMillis(3_600_000);
            long outer = System.nanoTime();
            sampler.init();
            long inner = System.nanoTime();
            patiently().until(() -> System.nanoTime() - inner > 100_000_000L);
            long atLeast = millisSince(inner);
            sampler.close();
            assertThat(recorder.only().group("worker").cumulativeMillis()).isBetween(atLeast, millisSince(outer) + 1);
            assertThat(recorder.only().figure("polls")).isEqualTo(1);
        }
    }
}
