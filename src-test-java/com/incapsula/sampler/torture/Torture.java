// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.testing.Samplers.assertEachPollHasItsOutcome;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.testing.CrossChecks;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.OutcomeTable;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Samples a storm every millisecond, without an overhead limit, and prints the results. Arguments: the storm and its
 * milliseconds, or {@code START_STOP} and the number of cycles. With a third argument, {@code UNSAMPLED}, it runs
 * without a sampler and prints the memory use of the storm alone.
 */
final class Torture {

    private static final String HYBRID = "HYBRID";
    private static final long REPORTS = 60;
    /*
     * Memory is measured only in storms of this length: the first use of JMX takes longer than a shorter storm should.
     */
    private static final long MEASURED_MILLIS = 60 * 1000;
    /*
     * In longer storms memory is compared with its size after a quarter of the time, when the JVM has allocated
     * everything that it allocates once.
     */
    private static final long LONG_MILLIS = 20 * 60 * 1000;
    /* Measured in half an hour: 9 MB, and 6 MB without a sampler, which the C library cannot return. */
    private static final long MOST_MORE_MEGABYTES = 24;
    private static final AtomicReference<Throwable> FAILURE = new AtomicReference<>();

    private Torture() {}

    public static void main(String[] arguments) {
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> FAILURE.compareAndSet(null, e));
        try {
            if (arguments.length > 2) {
                measure(Storm.valueOf(arguments[0]), Long.parseLong(arguments[1]));
            } else {
                run(arguments[0], Long.parseLong(arguments[1]));
            }
            System.out.println("fine");
        } catch (Exception | Error e) {
            e.printStackTrace();
            System.exit(1); // ends all other threads
        }
    }

    private static void run(String storm, long amount) throws Exception {
        try (Worker witness = Worker.waiting("witness")) {
            if (storm.equals("START_STOP")) {
                startAndStop(amount);
            } else {
                sample(Storm.valueOf(storm), amount);
            }
            assertThat(witness.thread().isAlive()).isTrue();
        }
        assertThat(FAILURE.get()).isNull();
        NothingLeft.assertNothingLeft();
    }

    private static ThreadsSampler sampler(Recorder recorder) {
        ThreadsSampler sampler = quick(recorder);
        sampler.setSamplingFrequencyMillis(1);
        sampler.setReportFrequencySeconds(1);
        sampler.setOverheadLimitPercent(100);
        return sampler;
    }

    private static void sample(Storm storm, long millis) throws Exception {
        Recorder recorder = new Recorder();
        ThreadsSampler sampler = sampler(recorder);
        sampler.setReportFrequencySeconds(Math.max(1, millis / REPORTS / 1000)); // all reports are kept
        long outer = System.nanoTime();
        sampler.init();
        CrossChecks.ofAllWalks();
        long inner = System.nanoTime();
        List<Worker> workers = storm.begin();
        boolean isMeasured = millis >= MEASURED_MILLIS;
        long quarter = inner + TimeUnit.MILLISECONDS.toNanos(millis / 4);
        Resident atQuarter = null;
        while (System.nanoTime() - inner < TimeUnit.MILLISECONDS.toNanos(millis) && FAILURE.get() == null) {
            awaitTicks(sampler, 20);
            storm.check(sampler);
            if (isMeasured && atQuarter == null && System.nanoTime() >= quarter) {
                atQuarter = Resident.read();
            }
        }
        Resident atEnd = isMeasured ? Resident.read() : null;
        long atLeast = millisSince(inner);
        storm.check(sampler);
        sampler.close();
        long atMost = millisSince(outer);
        Worker.closeAll(workers);
        long credited = recorder.reports().stream()
                .mapToLong(report -> report.group("witness").cumulativeMillis())
                .sum();
        int rounding = 1 + recorder.reports().size();
        assertThat(credited).as("of a thread that was always there").isBetween(atLeast - rounding, atMost + rounding);
        assertThat(sampler.getStatistics().getEngine()).isEqualTo(HYBRID);
        check(sampler.getStatistics(), recorder);
        CrossChecks.assertNoneDiffered();
        assertThat(CrossChecks.compared()).isPositive();
        tell(storm, sampler.getStatistics(), atMost);
        if (isMeasured) {
            System.out.println("after a quarter of the time " + atQuarter + ", at its end " + atEnd);
        }
        if (millis >= LONG_MILLIS) {
            assertThat(atEnd.outsideJvm()).isLessThanOrEqualTo(atQuarter.outsideJvm() + MOST_MORE_MEGABYTES);
        }
    }

    private static void measure(Storm storm, long millis) throws Exception {
        storm.begin();
        for (int quarter = 1; quarter <= 4; quarter++) {
            Thread.sleep(millis / 4);
            System.out.println("without a sampler, after " + quarter + " quarters of the time " + Resident.read());
        }
        System.exit(0); // ends all other threads
    }

    private static void startAndStop(long times) throws IOException {
        Random random = new Random(1);
        List<Worker> load = Storm.load();
        for (int i = 0; i < times && FAILURE.get() == null; i++) {
            Recorder recorder = new Recorder();
            ThreadsSampler sampler = sampler(recorder);
            sampler.init();
            int ticks = random.nextInt(4);
            if (ticks > 0) {
                awaitTicks(sampler, ticks);
            }
            sampler.close();
            assertThat(sampler.getStatistics().getEngine()).isEqualTo(HYBRID);
            check(sampler.getStatistics(), recorder);
        }
        Worker.closeAll(load);
        System.out.println("START_STOP " + times + " times");
    }

    private static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }

    /** @throws AssertionError if a poll has no outcome, or a report failed */
    static void check(SamplerStatistics statistics, Recorder recorder) {
        assertEachPollHasItsOutcome(statistics);
        long polls = 0;
        for (Report report : recorder.reports()) {
            assertThat(statistics.getOutcomes().keySet().stream()
                            .mapToLong(code -> report.figure(OutcomeTable.textOf(code)))
                            .sum())
                    .as(report.account())
                    .isEqualTo(report.figure("polls"));
            polls += report.figure("polls");
        }
        assertThat(polls).as("in all reports").isEqualTo(statistics.getPolls());
        assertThat(recorder.failures()).isEmpty();
    }

    private static void tell(Storm storm, SamplerStatistics statistics, long millis) {
        Map<String, Long> outcomes = statistics.getOutcomes();
        long walked = OutcomeTable.sum(outcomes, "walked");
        long recovered = OutcomeTable.sum(outcomes, "recovered");
        long failed = OutcomeTable.sum(outcomes, "failed");
        System.out.printf(
                Locale.ROOT,
                "%s JDK %s: %d ms, %.0f events/s, %d polls, %d walked, %d recovered,"
                        + " %d skipped, %d failed (%.2f %%), %d walks from outside compared with JVMTI's%n%s%n",
                storm,
                System.getProperty("java.version"),
                millis,
                Storm.EVENTS.get() * 1000.0 / millis,
                statistics.getPolls(),
                walked,
                recovered,
                OutcomeTable.sum(outcomes, "skipped"),
                failed,
                100.0 * failed / Math.max(1, failed + walked + recovered),
                CrossChecks.compared(),
                statistics);
    }
}
