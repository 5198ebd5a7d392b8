// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * How much of the blocked time is credited to the line that holds the lock. All figures are shares of the blocked time
 * in the same report, so another process on the machine does not make them wrong.
 */
@Measures
@ExtendWith(NothingLeft.class)
class HoldersTruthIT {

    private static final long RUN_MILLIS = 10_000;
    private static final int THREADS = 8;
    private static final double TWO_PERCENT = 0.02;

    private interface Part {
        void run() throws InterruptedException;
    }

    private final Object monitor = new Object();
    private final ReentrantLock reentrant = new ReentrantLock();
    private final ReentrantReadWriteLock.WriteLock write = new ReentrantReadWriteLock().writeLock();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean goesOn = true;
    private volatile long result;

    private void holdAsleep(long millis) throws InterruptedException {
        Thread.sleep(millis);
    }

    private void holdBusy(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        long sum = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 1_000; i++) {
                sum += sum * 31 + i;
            }
        }
        result = sum;
    }

    private void hold(boolean isBusy, long millis) throws InterruptedException {
        if (isBusy) {
            holdBusy(millis);
        } else {
            holdAsleep(millis);
        }
    }

    private void in(String kind, Part part) throws InterruptedException {
        switch (kind) {
            case "monitor" -> {
                synchronized (monitor) {
                    part.run();
                }
            }
            case "reentrant" -> {
                reentrant.lock();
                try {
                    part.run();
                } finally {
                    reentrant.unlock();
                }
            }
            default -> {
                write.lock();
                try {
                    part.run();
                } finally {
                    write.unlock();
                }
            }
        }
    }

    private void start(String name, Part part) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (goesOn) {
                            part.run();
                        }
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                name);
        thread.start();
        threads.add(thread);
    }

    @AfterEach
    void end() throws InterruptedException {
        goesOn = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /** Shares of a report's blocked time: credited to the right line, and with an unknown holder. */
    private record Shares(double right, double unknown) {}

    private static Shares sample(String method) throws IOException, InterruptedException {
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(new Recorder());
        sampler.init();
        TimeUnit.MILLISECONDS.sleep(RUN_MILLIS);
        try (SamplingReport report = sampler.snapshot()) {
            double blocked = report.getMeasures().get("blocked");
            assertThat(blocked).isPositive();
            return new Shares(wall(report, method) / blocked, wall(report, "[owner not read]") / blocked);
        } finally {
            sampler.close();
        }
    }

    /* The wall time of the holders' rows of this method, with its callees. */
    private static double wall(SamplingReport report, String method) {
        return report.getLockHolders().stream()
                .flatMap(group -> report.rows(group).stream())
                .flatMap(SamplingRow::stream)
                .filter(row -> row.getMethodName().equals(method))
                .mapToLong(SamplingRow::getWallNanos)
                .sum();
    }

    @ParameterizedTest
    @CsvSource({
        "monitor, true, 50",
        "monitor, false, 50",
        "reentrant, true, 50",
        "reentrant, false, 50",
        "write, true, 50",
        "write, true, 200",
        "write, false, 50"
    })
    void blockedTimeIsAtTheLineThatHoldsTheLock(String kind, boolean isBusy, long millis) throws Exception {
        for (int i = 0; i < THREADS; i++) {
            start("turn-" + i, () -> {
                in(kind, () -> hold(isBusy, millis));
                Thread.sleep(ThreadLocalRandom.current().nextInt(3));
            });
        }
        Shares shares = sample(isBusy ? "holdBusy" : "holdAsleep");
        System.out.println(kind + " " + isBusy + " " + millis + ": " + shares);
        assertThat(shares.right()).isCloseTo(1, within(TWO_PERCENT));
        assertThat(shares.unknown()).isLessThan(TWO_PERCENT);
    }

    /**
     * The first thread works under a lock. The second one waits for that lock and holds another, for which the third
     * one waits.
     */
    @Test
    void aChainOfThreeIsChargedToItsEnd() throws Exception {
        CountDownLatch ready = new CountDownLatch(1);
        start("end", () -> {
            in("monitor", () -> {
                ready.countDown();
                holdBusy(100);
            });
            Thread.sleep(1);
        });
        ready.await();
        start("middle", () -> {
            in("reentrant", () -> in("monitor", () -> {}));
            Thread.sleep(1);
        });
        start("begin", () -> {
            in("reentrant", () -> {});
            Thread.sleep(1);
        });
        Shares shares = sample("holdBusy");
        System.out.println("chain: " + shares);
        assertThat(shares.right()).isCloseTo(1, within(TWO_PERCENT));
        assertThat(shares.unknown()).isLessThan(TWO_PERCENT);
    }
}
