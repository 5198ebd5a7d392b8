// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Virtual;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The time of threads that wait for locks is credited to the holders of the locks, at their current line. */
@ExtendWith(NothingLeft.class)
class HoldersIT {

    private interface Held {
        void run() throws Exception;
    }

    private final CountDownLatch end = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    private static void lock(Object lock, Held held) throws Exception {
        if (lock instanceof Lock any) {
            any.lock();
            try {
                held.run();
            } finally {
                any.unlock();
            }
        } else if (lock instanceof Semaphore permits) {
            permits.acquire();
            try {
                held.run();
            } finally {
                permits.release();
            }
        } else {
            synchronized (lock) {
                held.run();
            }
        }
    }

    private Thread start(String name, Held work) {
        Thread thread = new Thread(() -> run(work), name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
        return thread;
    }

    private static void run(Held work) {
        try {
            work.run();
        } catch (Exception e) {
            Thread.currentThread().interrupt(); // the test is over
        }
    }

    /* Runs while the thread holds the lock. */
    private void auditTheStock() throws InterruptedException {
        end.await();
    }

    private void hold(String name, Object lock) {
        CountDownLatch holds = new CountDownLatch(1);
        start(
                name,
                () -> lock(lock, () -> {
                    holds.countDown();
                    auditTheStock();
                }));
        run(holds::await);
    }

    private void await(String name, Object lock) {
        Worker.awaitState(start(name, () -> lock(lock, () -> {})), Thread.State.BLOCKED, Thread.State.WAITING);
    }

    @AfterEach
    void stop() throws InterruptedException {
        end.countDown();
        for (Thread thread : threads) {
            thread.interrupt();
        }
    }

    /** Own wall times by group and innermost frame of the holders. */
    private static Map<String, Long> held(SamplingReport report) {
        return report.getLockHolders().stream()
                .flatMap(group -> report.rows(group).stream()
                        .flatMap(SamplingRow::stream)
                        .filter(row -> row.getOwnWallNanos() > 0)
                        .map(row -> Map.entry(group.getName() + " " + callers(report, group), row.getOwnWallNanos())))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Long::sum));
    }

    /* The method of this class in the group's only stack, or its row in brackets. */
    private static String callers(SamplingReport report, SamplingGroup group) {
        return report.rows(group).stream()
                .flatMap(SamplingRow::stream)
                .filter(row -> row.toString().startsWith("[") || row.toString().contains("auditTheStock"))
                .map(row -> row.toString().startsWith("[") ? row.toString() : "auditTheStock")
                .findFirst()
                .orElse("elsewhere");
    }

    /*
     * Returns the second interval in which this many threads are blocked; in the first one they may not be blocked
     * throughout.
     */
    private static Map<String, Long> holders(int waiting, String... texts) throws IOException {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setThreadNameManipulator(Thread::getName);
        sampler.init();
        Map<String, Long> held = Map.of();
        try {
            int intervals = 0;
            while (intervals < 2) {
                awaitTicks(sampler, 5);
                try (SamplingReport report = sampler.snapshot()) {
                    if (report.getLockHolders().stream()
                                    .mapToLong(SamplingGroup::getThreads)
                                    .sum()
                            == waiting) {
                        intervals++;
                        held = check(report, intervals == 2 ? texts : new String[0]);
                    }
                }
            }
        } finally {
            sampler.close();
        }
        return held;
    }

    private static Map<String, Long> check(SamplingReport report, String... texts) throws IOException {
        assertThat(report.getLockHolders().stream()
                        .mapToLong(SamplingGroup::getWallNanos)
                        .sum())
                .isEqualTo(report.getMeasures().get("blocked"))
                .isPositive();
        assertThat(report.getLocks()).isNotEmpty().allSatisfy(lock -> {
            assertThat(lock.getBlockedNanos()).isPositive();
            assertThat(lock.getWaitingLine()).startsWith(HoldersIT.class.getName() + ".lock(HoldersIT.java:");
        });
        for (String text : texts) {
            assertThat(report.toString(ReportFormat.TEXT) + report.toString(ReportFormat.JSON))
                    .contains(text);
        }
        return held(report);
    }

    private static Object newLock(String kind) {
        return switch (kind) {
            case "monitor" -> new Object();
            case "reentrant" -> new ReentrantLock();
            default -> new ReentrantReadWriteLock().writeLock();
        };
    }

    private static String className(String kind) {
        return switch (kind) {
            case "monitor" -> "java.lang.Object";
            case "reentrant" -> "java.util.concurrent.locks.ReentrantLock";
            default -> "java.util.concurrent.locks.ReentrantReadWriteLock";
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"monitor", "reentrant", "write"})
    void blockedTimeIsAtTheHoldersStack(String kind) throws Exception {
        Object lock = newLock(kind);
        hold("holder", lock);
        await("first", lock);
        await("second", lock);
        String name = className(kind);
        assertThat(holders(
                        2,
                        "Lock holders: holder. Locks: 1 [" + name + "]. Blocked threads: 2\n",
                        "\"lockHolders\":[{\"name\":\"holder\",\"blockedThreads\":2,\"locks\":1,\"lockNames\":[\""
                                + name + "\"]",
                        "\"locks\":[{\"lock\":\"" + name + "\",\"waiting\":\"com.incapsula.sampler.HoldersIT.lock(",
                        "\"holding\":\"com.incapsula.sampler.HoldersIT.auditTheStock("))
                .containsOnlyKeys("holder auditTheStock");
    }

    @Test
    void aChainIsChargedToItsEnd() throws Exception {
        Object far = new Object();
        ReentrantLock near = new ReentrantLock();
        hold("holder", far);
        Thread middle = start("middle", () -> lock(near, () -> lock(far, () -> {})));
        Worker.awaitState(middle, Thread.State.BLOCKED);
        await("last", near);
        assertThat(holders(2, "Lock holders: holder. Locks: 2 [")).containsOnlyKeys("holder auditTheStock");
    }

    /**
     * While the holder does not run, it cannot release the lock, so the owner is not read again. JDK 17 wakes threads
     * that wait for monitors once a second.
     */
    @ParameterizedTest
    @ValueSource(strings = {"monitor", "reentrant", "write"})
    void anUnbrokenWaitIsReadOnce(String kind) throws Exception {
        assumeTrue(Runtime.version().feature() >= 25 || !kind.equals("monitor"));
        Object lock = newLock(kind);
        hold("holder", lock);
        await("first", lock);
        await("second", lock);
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSampleTheseThreadsOnly(threads);
        sampler.init();
        try {
            patiently().until(() -> counter(sampler, "OWNER_READS") > 1);
            awaitTicks(sampler, 20); // a failed read is repeated
            long reads = counter(sampler, "OWNER_READS");
            awaitTicks(sampler, 300);
            assertThat(counter(sampler, "OWNER_READS")).isEqualTo(reads);
        } finally {
            sampler.close();
        }
    }

    @Test
    void readersAndPermitsHaveRows() throws Exception {
        ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
        Semaphore permits = new Semaphore(1);
        hold("reader", lock.readLock());
        await("writer", lock.writeLock());
        hold("taker", permits);
        await("asker", permits);
        assertThat(holders(2, "[readers of the lock]", "[permits of the semaphore]"))
                .allSatisfy((row, nanos) -> assertThat(row).startsWith("[unknown] ["));
    }

    @Test
    @EnabledForJreRange(minVersion = 25)
    void aVirtualThreadThatIsNotMountedHasARow() throws Exception {
        for (String kind : List.of("monitor", "reentrant")) {
            Object lock = newLock(kind);
            CountDownLatch holds = new CountDownLatch(1);
            Thread holder = Virtual.start(
                    "holder",
                    () -> run(() -> lock(lock, () -> {
                        holds.countDown();
                        auditTheStock();
                    })));
            holds.await();
            patiently().until(() -> holder.getState() == Thread.State.WAITING);
            await("waiting for " + kind, lock);
        }
        assertThat(holders(2)).containsOnlyKeys("[unknown] [a virtual thread that is not mounted]");
    }

    private static long counter(ThreadsSampler sampler, String name) {
        return sampler.getStatistics().getCounters().get(name);
    }
}
