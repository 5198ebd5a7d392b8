// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How much time is in each state, beside programs that measure it themselves. */
@Measures
@ExtendWith(NothingLeft.class)
class StatesTruthIT {

    private static final long RUN_NANOS = 10_000_000_000L * (Boolean.getBoolean("sampler.test.long") ? 6 : 1);
    private static final long HOLD_NANOS = 5_000_000;
    private static final int THREADS = 8;

    private interface Turn {
        void take() throws Exception;
    }

    /** The program's threads, and the time that they have measured. */
    private final List<Thread> threads = new ArrayList<>();

    private final LongAdder measured = new LongAdder();
    private volatile boolean goesOn = true;

    private void start(String name, Turn turn) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (goesOn) {
                            turn.take();
                        }
                    } catch (Exception e) {
                        // closed at the end
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    /* Samples them for a while. Their states, and what they have measured meanwhile. */
    private Map<String, Long> sample(String group) throws Exception {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSamplingFrequencyMillis(10);
        threads.forEach(sampler::setThreadToBeSampled);
        sampler.init();
        long from = measured.sum();
        long began = System.nanoTime();
        Thread.sleep(RUN_NANOS / 1_000_000);
        long measuredNanos = measured.sum() - from;
        long elapsed = System.nanoTime() - began;
        try (SamplingReport report = sampler.snapshot()) {
            Map<String, Long> measures = report.getGroups().stream()
                    .filter(one -> one.getName().equals(group))
                    .findFirst()
                    .orElseThrow()
                    .getMeasures();
            System.out.println(group + ": " + measures + ", measured " + measuredNanos + " in " + elapsed);
            measures = new java.util.LinkedHashMap<>(measures);
            measures.put("measured", measuredNanos);
            measures.put("elapsed", elapsed);
            return measures;
        } finally {
            sampler.close();
            goesOn = false;
            for (Thread thread : threads) {
                thread.interrupt();
                thread.join();
            }
        }
    }

    /* What the program measures contains the time to get a CPU once the wait is over. */
    private static void assertNear(Map<String, Long> found, String state, double percent) {
        long slack = (long) (found.get("measured") * percent / 100);
        assertThat(found.get("measured"))
                .as(state + " is what the program has measured: " + found)
                .isBetween(found.get(state) - slack, found.get(state) + found.get("runnable") + slack);
    }

    private void lockAndHold(Turn lock, Turn unlock) throws Exception {
        long asked = System.nanoTime();
        lock.take();
        measured.add(System.nanoTime() - asked);
        try {
            LockSupport.parkNanos(HOLD_NANOS);
        } finally {
            unlock.take();
        }
    }

    private synchronized void holdMonitor(long asked) {
        measured.add(System.nanoTime() - asked);
        LockSupport.parkNanos(HOLD_NANOS);
    }

    /** A lock that one of eight threads holds at a time. The time to get a CPU again is runnable. */
    @ParameterizedTest
    @ValueSource(strings = {"monitor", "lock", "writeLock", "semaphore"})
    void contendedLocksAreBlocked(String kind) throws Exception {
        Lock lock = kind.equals("lock") ? new ReentrantLock(true) : new ReentrantReadWriteLock(true).writeLock();
        Semaphore semaphore = new Semaphore(1, true);
        for (int i = 0; i < THREADS; i++) {
            switch (kind) {
                case "monitor" -> start("locker-" + i, () -> holdMonitor(System.nanoTime()));
                case "semaphore" -> start("locker-" + i, () -> lockAndHold(semaphore::acquire, semaphore::release));
                default -> start("locker-" + i, () -> lockAndHold(lock::lock, lock::unlock));
            }
        }
        Map<String, Long> found = sample("locker-");
        assertNear(found, "blocked", 2);
    }

    /** Peers that answer after known times. */
    @ParameterizedTest
    @ValueSource(strings = {"socket", "pipe", "process"})
    void peersThatAnswerLateAreIo(String kind) throws Exception {
        try (Peer peer = Peer.of(kind)) {
            Thread answers = new Thread(peer::answerLate, "peer");
            answers.setDaemon(true);
            answers.start();
            start("reader", () -> {
                long asked = System.nanoTime();
                peer.read();
                measured.add(System.nanoTime() - asked);
            });
            Map<String, Long> found = sample("reader");
            assertNear(found, "io", 2);
        }
    }

    /** Four threads that compute, beside whatever else runs: they run, or want a CPU. */
    @Test
    void spinningThreadsRunOrWantACpu() throws Exception {
        LongAdder work = new LongAdder();
        for (int i = 0; i < 4; i++) {
            start("spinner-" + i, () -> {
                for (int j = 0; j < 1000; j++) {
                    work.increment();
                }
            });
        }
        Map<String, Long> found = sample("spinner-");
        assertThat((double) (found.get("running") + found.get("runnable")) / found.get("wall"))
                .as(found.toString())
                .isCloseTo(1, within(0.01));
        assertThat((double) (found.get("running") - found.get("cpu")) / found.get("wall"))
                .as("running is what the clocks say: " + found)
                .isCloseTo(0, within(0.02));
    }

    /** One end answers, the other one waits for it. */
    private interface Peer extends AutoCloseable {

        int read() throws IOException;

        void answer() throws IOException;

        @Override
        void close() throws IOException;

        default void answerLate() {
            try {
                while (true) {
                    LockSupport.parkNanos(7_000_000);
                    answer();
                }
            } catch (IOException e) {
                // closed
            }
        }

        static Peer of(String kind) throws IOException {
            return switch (kind) {
                case "socket" -> ofSocket();
                case "pipe" -> ofPipe();
                default -> ofProcess();
            };
        }

        private static Peer ofSocket() throws IOException {
            ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            Socket reads = new Socket(server.getInetAddress(), server.getLocalPort());
            Socket writes = server.accept();
            InputStream in = reads.getInputStream();
            OutputStream out = writes.getOutputStream();
            return peer(in::read, () -> out.write(1), server, reads, writes);
        }

        private static Peer ofPipe() throws IOException {
            Pipe pipe = Pipe.open();
            return peer(
                    () -> pipe.source().read(ByteBuffer.allocate(1)),
                    () -> pipe.sink().write(ByteBuffer.allocate(1)),
                    pipe.source(),
                    pipe.sink());
        }

        private static Peer ofProcess() throws IOException {
            Process cat = new ProcessBuilder("cat").start();
            DataInputStream in = new DataInputStream(cat.getInputStream());
            OutputStream out = cat.getOutputStream();
            return peer(
                    () -> in.read(),
                    () -> {
                        out.write(1);
                        out.flush();
                    },
                    cat::destroyForcibly,
                    out);
        }

        private static Peer peer(Reads reads, Answers answers, AutoCloseable... parts) {
            return new Peer() {
                @Override
                public int read() throws IOException {
                    return reads.read();
                }

                @Override
                public void answer() throws IOException {
                    answers.answer();
                }

                @Override
                public void close() throws IOException {
                    for (AutoCloseable part : parts) {
                        try {
                            part.close();
                        } catch (Exception e) {
                            // the others are closed all the same
                        }
                    }
                }
            };
        }
    }

    private interface Reads {
        int read() throws IOException;
    }

    private interface Answers {
        void answer() throws IOException;
    }
}
