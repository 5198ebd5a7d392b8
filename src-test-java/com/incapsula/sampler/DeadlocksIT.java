// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.DeadlockProgram;
import com.incapsula.sampler.testing.NotedOutputer;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that wait for each other's locks are reported immediately, and only once. */
@ExtendWith(NothingLeft.class)
class DeadlocksIT {

    private static int count(String text, String part) {
        return (text.length() - text.replace(part, "").length()) / part.length();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "monitor monitor",
                "reentrant reentrant",
                "monitor reentrant",
                "monitor monitor monitor",
                "reentrant monitor reentrant"
            })
    void aDeadlockIsPrintedOnce(String locks) throws Exception {
        String[] kinds = locks.split(" ");
        String output = ChildJvm.of(DeadlockProgram.class)
                .withTestLibraries()
                .run(kinds)
                .assertSaysFine();
        assertThat(count(output, "Deadlock: " + kinds.length + " threads [locked-"))
                .as(output)
                .isEqualTo(1);
        assertThat(count(output, "Deadlock: ")).as(output).isEqualTo(1);
        for (int i = 0; i < kinds.length; i++) {
            int next = (i + 1) % kinds.length;
            String name = kinds[next].equals("monitor")
                    ? DeadlockProgram.class.getName() + "$Stock"
                    : ReentrantLock.class.getName();
            assertThat(output)
                    .contains("locked-" + i + " waits for " + name + ", held by locked-" + next + "\n    at ");
        }
        assertThat(count(output, "    at " + DeadlockProgram.class.getName() + ".takeNext(DeadlockProgram.java:"))
                .as(output)
                .isEqualTo(kinds.length);
        assertThat(output).contains("\ndeadlocks: 1\n");
        assertThat(output.indexOf("Deadlock: ")).isLessThan(output.indexOf("Report interval: "));
    }

    /** Two threads in a deadlock that lasts until they are interrupted. */
    private static List<Thread> lockIn() throws InterruptedException {
        List<ReentrantLock> locks = List.of(new ReentrantLock(), new ReentrantLock());
        CountDownLatch both = new CountDownLatch(2);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ReentrantLock own = locks.get(i);
            ReentrantLock other = locks.get(1 - i);
            Thread thread = new Thread(
                    () -> {
                        own.lock();
                        try {
                            both.countDown();
                            both.await();
                            other.lockInterruptibly();
                        } catch (InterruptedException e) {
                            Thread.currentThread().interrupt(); // the test is over
                        } finally {
                            own.unlock();
                        }
                    },
                    "locked-" + i);
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    private static void end(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
    }

    private static long deadlocks(ThreadsSampler sampler) {
        return sampler.getStatistics().getCounters().get("DEADLOCKS");
    }

    private static final class Kept extends Recorder {

        private final List<String> deadlocks = new ArrayList<>();

        @Override
        public synchronized void printDeadlock(String title, String record) {
            deadlocks.add(title);
        }

        synchronized List<String> deadlocks() {
            return List.copyOf(deadlocks);
        }
    }

    @Test
    void allPartsGetTheDeadlock() throws Exception {
        Kept kept = new Kept();
        List<String> calls = Collections.synchronizedList(new ArrayList<>());
        NotedOutputer old = new NotedOutputer() { // an outputer that does not override printDeadlock
                    @Override
                    protected void note(String call) {
                        calls.add(call);
                    }
                };
        Recorder failing = new Recorder() {
            @Override
            public void printDeadlock(String title, String record) {
                throw new IllegalStateException("full");
            }
        };
        List<Thread> threads = lockIn();
        SamplingOutputer all = failing.and(kept).and(old);
        try (ThreadsSampler sampler = quick(all)) {
            sampler.init();
            patiently().until(() -> !calls.isEmpty() && !failing.failures().isEmpty());
            awaitTicks(sampler, 20);
            assertThat(deadlocks(sampler)).isEqualTo(1);
            sampler.printReport();
        } finally {
            end(threads);
        }
        assertThat(kept.deadlocks()).hasSize(1).first().asString().startsWith("Deadlock: 2 threads [locked-");
        assertThat(calls).startsWith("starting", "record", "flush");
        assertThat(failing.failures().get(0).message())
                .startsWith("A deadlock could not be printed: Deadlock: 2 threads");
        assertThat(kept.failures())
                .as("outside of a report all parts get the failure")
                .hasSize(1);
    }

    /** Each thread takes its lock, waits for the other lock with a timeout, gives up, and repeats. */
    private static void tryInTurn(ReentrantLock own, ReentrantLock other, CountDownLatch end) {
        try {
            while (end.getCount() > 0) {
                own.lock();
                try {
                    if (other.tryLock(1, TimeUnit.MILLISECONDS)) {
                        other.unlock();
                    }
                } finally {
                    own.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void cyclesThatBreakUpByThemselvesAreNone() throws IOException, InterruptedException {
        ReentrantLock one = new ReentrantLock();
        ReentrantLock other = new ReentrantLock();
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> threads = List.of(
                new Thread(() -> tryInTurn(one, other, end), "one"),
                new Thread(() -> tryInTurn(other, one, end), "other"));
        threads.forEach(Thread::start);
        Kept kept = new Kept();
        try (ThreadsSampler sampler = quick(kept)) {
            sampler.init();
            awaitTicks(sampler, 300);
            assertThat(deadlocks(sampler)).isZero();
        } finally {
            end.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertThat(kept.deadlocks()).isEmpty();
    }
}
