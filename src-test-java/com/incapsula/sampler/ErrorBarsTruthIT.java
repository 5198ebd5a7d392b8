// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** How many of a hundred error bars contain the time that the program measured itself. */
@Measures
@ExtendWith(NothingLeft.class)
class ErrorBarsTruthIT {

    private static final int INTERVALS = 100;
    private static final int LEAST = 88; // of a hundred: if each bar has 95 %, fewer than this happen once in 300 runs
    private static final long INTERVAL_MILLIS = Boolean.getBoolean("sampler.test.long") ? 1000 : 300;
    private static final long NANOS_PER_MILLI = 1_000_000;
    // reports begin and end at whole milliseconds of the wall clock
    private static final long SLACK_NANOS = 2 * NANOS_PER_MILLI;

    /** Begin and end of each first phase, measured by the program, in nanoseconds since 1970. */
    private final List<long[]> phases = new ArrayList<>();

    private final long epochNanos = System.currentTimeMillis() * NANOS_PER_MILLI - System.nanoTime();

    private volatile boolean goesOn = true;
    private static volatile double sink;
    private final List<Thread> threads = new ArrayList<>();

    private void start(Runnable turn) {
        Thread thread = new Thread(
                () -> {
                    while (goesOn) {
                        turn.run();
                    }
                },
                "phases");
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    @AfterEach
    void stop() throws InterruptedException {
        goesOn = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    // ---- phases

    private void first(long nanos) {
        long began = System.nanoTime();
        long now = began;
        while (now - began < nanos) {
            sink += Math.sqrt(sink + 2);
            now = System.nanoTime();
        }
        synchronized (phases) {
            phases.add(new long[] {epochNanos + began, epochNanos + now});
        }
    }

    private static void second(long nanos) {
        long began = System.nanoTime();
        while (System.nanoTime() - began < nanos) {
            sink += Math.sqrt(sink + 3);
        }
    }

    private static void idle(long nanos) {
        LockSupport.parkNanos(nanos);
    }

    // ---- intervals

    private static SamplingRow rowOf(SamplingReport report, String method) {
        return report.getGroups().stream()
                .filter(group -> group.getName().equals("phases"))
                .flatMap(group -> report.rows(group).stream())
                .flatMap(SamplingRow::stream)
                .filter(row -> row.getMethodName().equals(method))
                .findFirst()
                .orElse(null);
    }

    private static long nanosOf(Instant time) {
        return time.toEpochMilli() * NANOS_PER_MILLI;
    }

    private long measured(SamplingReport report) {
        long from = nanosOf(report.getFrom());
        long till = nanosOf(report.getTill());
        synchronized (phases) {
            return phases.stream()
                    .mapToLong(phase -> Math.max(0, Math.min(phase[1], till) - Math.max(phase[0], from)))
                    .sum();
        }
    }

    private List<SamplingReport> takeReports() throws Exception {
        List<SamplingReport> reports = new ArrayList<>();
        ThreadsSampler sampler = quick(new Recorder());
        sampler.init();
        try (SamplingCursor cursor = sampler.openCursor()) {
            cursor.next().close();
            for (int i = 0; i < INTERVALS; i++) {
                Thread.sleep(INTERVAL_MILLIS);
                reports.add(cursor.next());
            }
        } finally {
            sampler.close();
        }
        stop(); // the last phase is complete
        return reports;
    }

    /* Counts the intervals whose error bar contains the measured time. An interval without the row has no error bar. */
    private int covered() throws Exception {
        int covered = 0;
        int found = 0;
        double width = 0;
        double off = 0;
        for (SamplingReport report : takeReports()) {
            try (report) {
                long measured = measured(report);
                SamplingRow row = rowOf(report, "first");
                ErrorRange range = row == null ? null : row.getError95("wall");
                if (range == null) {
                    continue;
                }
                found++;
                width += range.upper() - range.lower();
                off += Math.pow(row.getWallNanos() - measured, 2);
                if (range.lower() - SLACK_NANOS <= measured && measured <= range.upper() + SLACK_NANOS) {
                    covered++;
                }
            }
        }
        System.out.printf(
                "first: %d of %d ranges have it, %.1f ms to either side, %.1f ms off (1.96 rms)%n",
                covered, found, width / found / 2e6, 1.96 * Math.sqrt(off / found) / 1e6);
        assertThat(found).as("intervals with a range").isGreaterThanOrEqualTo(INTERVALS / 2);
        return covered * INTERVALS / found;
    }

    @Test
    void errorBarsOfAThreadThatIsBusy() throws Exception {
        Random random = new Random(1);
        start(() -> {
            first(random.nextInt(2_000_000));
            second(random.nextInt(2_000_000));
        });

        assertThat(covered()).isGreaterThanOrEqualTo(LEAST);
    }

    @Test
    void errorBarsOfAThreadThatSleepsMostly() throws Exception {
        Random random = new Random(2);
        start(() -> {
            idle(10 * NANOS_PER_MILLI + random.nextInt(30_000_000));
            first(random.nextInt(4_000_000));
            second(random.nextInt(4_000_000));
        });

        assertThat(covered()).isGreaterThanOrEqualTo(LEAST);
    }
}
