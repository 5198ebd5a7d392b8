// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much of the time for which threads are blocked is charged to the line where the lock is held. */
@Measures
@ExtendWith(NothingLeft.class)
class HoldersTruthIT {

    private static final long RUN_MILLIS = 8_000;
    private static final int THREADS = 8;

    private final Object monitor = new Object();
    private final ReentrantLock reentrant = new ReentrantLock();
    private final ReentrantReadWriteLock.WriteLock write = new ReentrantReadWriteLock().writeLock();
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

    private void take(String kind, boolean isBusy, long millis) throws InterruptedException {
        switch (kind) {
            case "monitor" -> {
                synchronized (monitor) {
                    hold(isBusy, millis);
                }
            }
            case "reentrant" -> {
                reentrant.lock();
                try {
                    hold(isBusy, millis);
                } finally {
                    reentrant.unlock();
                }
            }
            default -> {
                write.lock();
                try {
                    hold(isBusy, millis);
                } finally {
                    write.unlock();
                }
            }
        }
        Thread.sleep(ThreadLocalRandom.current().nextInt(3));
    }

    private void takeTurns(String kind, boolean isBusy, long millis) {
        try {
            while (goesOn) {
                take(kind, isBusy, millis);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "monitor, true, 50",
        "monitor, false, 50",
        "reentrant, true, 50",
        "reentrant, false, 50",
        "write, true, 200",
        "write, false, 50"
    })
    void blockedTimeIsAtTheLineThatHoldsTheLock(String kind, boolean isBusy, long millis) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(() -> takeTurns(kind, isBusy, millis), "turn-" + i);
            thread.start();
            threads.add(thread);
        }
        ThreadsSampler sampler = new ThreadsSampler();
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(new Recorder());
        sampler.init();
        Thread.sleep(RUN_MILLIS);
        try (SamplingReport report = sampler.snapshot()) {
            long blocked = report.getMeasures().get("blocked");
            double right = report.getLockHolders().stream()
                    .flatMap(group -> report.rows(group).stream())
                    .flatMap(SamplingRow::stream)
                    .filter(row -> row.getMethodName().equals(isBusy ? "holdBusy" : "holdAsleep"))
                    .mapToLong(SamplingRow::getWallNanos)
                    .sum();
            double unread = report.getLockHolders().stream()
                    .flatMap(group -> report.rows(group).stream())
                    .filter(row -> row.toString().startsWith("[owner not read]"))
                    .mapToLong(SamplingRow::getWallNanos)
                    .sum();
            System.out.println(kind + ": " + right / blocked + " right, " + unread / blocked + " not read");
            assertThat(right / blocked).isGreaterThan(0.98);
            assertThat(unread / blocked).isLessThan(0.02);
        } finally {
            sampler.close();
            goesOn = false;
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }
}
