// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Virtual;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.opentest4j.TestAbortedException;

/** Compares the time in each state with what the programs measure themselves. */
@Measures
@ExtendWith(NothingLeft.class)
class StatesTruthIT {

    private static final long RUN_NANOS = 5_000_000_000L * (Boolean.getBoolean("sampler.test.long") ? 6 : 1);
    private static final long HOLD_NANOS = 5_000_000;
    private static final int THREADS = 8;

    private interface Turn {
        void take() throws Exception;
    }

    /** The program's threads, and the time that they measure. */
    private final List<Thread> threads = new ArrayList<>();

    private final LongAdder ended = new LongAdder(); // waits
    private final Map<Thread, Long> waitingSince = new ConcurrentHashMap<>();
    private LongSupplier measured = this::waited;
    private volatile boolean goesOn = true;
    private boolean isVirtual;
    private SamplingEngine engine = SamplingEngine.AUTO;
    private Map<String, Long> counters = Map.of();

    private void start(String name, Turn turn) {
        Runnable turns = () -> {
            try {
                while (goesOn) {
                    turn.take();
                }
            } catch (Exception e) {
                // closed at the end
            }
        };
        Thread thread = isVirtual ? Virtual.factory().newThread(turns) : new Thread(turns);
        thread.setName(name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    private void beginWait() {
        waitingSince.put(Thread.currentThread(), System.nanoTime());
    }

    private void endWait() {
        ended.add(System.nanoTime() - waitingSince.remove(Thread.currentThread()));
    }

    /* Includes waits that have not ended, because a thread may wait for an unfair lock for seconds. */
    private long waited() {
        long now = System.nanoTime();
        return ended.sum()
                + waitingSince.values().stream().mapToLong(since -> now - since).sum();
    }

    /* Samples the threads for a while. Returns their states, and what they have measured in that time. */
    private Map<String, Long> sample(String group) throws Exception {
        ThreadsSampler sampler = quick(new Recorder());
        sampler.setSamplingFrequencyMillis(10);
        sampler.setEngine(engine);
        if (isVirtual) {
            sampler.setSampleUnmountedVirtualThreads(true);
        } else {
            threads.forEach(sampler::setThreadToBeSampled);
        }
        long before = measured.getAsLong();
        sampler.init();
        long from = measured.getAsLong();
        long began = System.nanoTime();
        Thread.sleep(RUN_NANOS / 1_000_000);
        long measuredNanos = measured.getAsLong() - from;
        long elapsed = System.nanoTime() - began;
        try (SamplingReport report = sampler.snapshot()) {
            Map<String, Long> measures = report.getGroups().stream()
                    .filter(one -> one.getName().equals(group))
                    .findFirst()
                    .orElseThrow()
                    .getMeasures();
            counters = report.getCounters();
            long atMost = measured.getAsLong() - before;
            System.out.println(group + ": " + measures + ", measured " + measuredNanos + " in " + elapsed);
            measures = new java.util.LinkedHashMap<>(measures);
            measures.put("measured", measuredNanos);
            measures.put("measured at most", atMost);
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

    /*
     * The program's measure includes the time to get a CPU after the wait. The wall time of unmounted virtual threads
     * is an estimate, so shares are compared for them.
     */
    private void assertNear(Map<String, Long> found, String state, double percent) {
        double all = (double) found.get("elapsed") * threads.size();
        double scale = isVirtual ? all / found.get("wall") : 1;
        double slack = found.get("measured") * percent / 100;
        assertThat((double) found.get("measured"))
                .as(state + " is what the program has measured: " + found)
                .isBetween(
                        found.get(state) * scale - slack, (found.get(state) + found.get("runnable")) * scale + slack);
    }

    /** @param kind with the prefix "virtual " for virtual threads */
    private String withoutVirtual(String kind) {
        isVirtual = kind.startsWith("virtual ");
        assumeTrue(!isVirtual || Runtime.version().feature() >= 25);
        return kind.substring(kind.indexOf(' ') + 1);
    }

    private void lockAndHold(Turn lock, Turn unlock) throws Exception {
        beginWait();
        lock.take();
        endWait();
        try {
            LockSupport.parkNanos(HOLD_NANOS);
        } finally {
            unlock.take();
        }
    }

    private synchronized void holdMonitor() {
        endWait();
        LockSupport.parkNanos(HOLD_NANOS);
    }

    /** A lock that eight threads want. The time to get a CPU after a wait is runnable. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "monitor",
                "lock",
                "writeLock",
                "semaphore",
                "virtual monitor",
                "virtual lock",
                "virtual writeLock",
                "virtual semaphore"
            })
    void contendedLocksAreBlocked(String threadsAndKind) throws Exception {
        String kind = withoutVirtual(threadsAndKind);
        Lock lock = kind.equals("lock") ? new ReentrantLock(true) : new ReentrantReadWriteLock(true).writeLock();
        Semaphore semaphore = new Semaphore(1, true);
        for (int i = 0; i < THREADS; i++) {
            switch (kind) {
                case "monitor" ->
                    start("locker-" + i, () -> {
                        beginWait();
                        holdMonitor();
                    });
                case "semaphore" -> start("locker-" + i, () -> lockAndHold(semaphore::acquire, semaphore::release));
                default -> start("locker-" + i, () -> lockAndHold(lock::lock, lock::unlock));
            }
        }
        Map<String, Long> found = sample("locker-");
        assertNear(found, "blocked", 2);
    }

    /** Peers answer after known times. */
    @ParameterizedTest
    @ValueSource(strings = {"socket", "pipe", "process", "file", "virtual socket", "virtual pipe"})
    void peersThatAnswerLateAreIo(String threadsAndKind) throws Exception {
        String kind = withoutVirtual(threadsAndKind);
        try (Peer peer = Peer.of(kind)) {
            Thread answers = new Thread(peer::answerLate, "peer");
            answers.setDaemon(true);
            answers.start();
            start("reader", () -> {
                beginWait();
                peer.read();
                endWait();
            });
            Map<String, Long> found = sample("reader");
            assertNear(found, "io", 2);
        }
    }

    /** Four threads that compute are running or runnable, whatever else uses the CPUs. */
    @ParameterizedTest
    @EnumSource(SamplingEngine.class)
    void spinningThreadsRunOrWantACpu(SamplingEngine used) throws Exception {
        engine = used;
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
        /*
         * A sample by JVMTI finds a thread that has or wants a CPU, and half of those here have one. So its error is
         * that of as many coins: four standard deviations.
         */
        double chance = used == SamplingEngine.JVMTI ? 4 * 0.5 / Math.sqrt(found.get("samples")) : 0.03;
        assertThat((double) (found.get("running") - found.get("cpu")) / found.get("wall"))
                .as("running is what the clocks say: " + found)
                .isCloseTo(0, within(chance));
    }

    /** A control group with half a CPU. A process of another user than root may not create one. */
    @Test
    void aQuotaThrottles() throws Exception {
        try (QuotaGroup group = QuotaGroup.ofHalfACpu()) {
            LongAdder work = new LongAdder();
            start("spinner", () -> {
                for (int j = 0; j < 1000; j++) {
                    work.increment();
                }
            });
            group.enter();
            measured = group::throttledNanos;
            Map<String, Long> found = sample("spinner");
            System.out.println("throttled by the account: " + counters.get("THROTTLED_MS") + " ms");
            // The test's own thread is throttled, too, and may be stopped between its own reading and the sampler's.
            assertThat(counters.get("THROTTLED_MS") * 1e6)
                    .isBetween(found.get("measured") * 0.98, found.get("measured at most") * 1.02);
            assertThat((double) found.get("running") / found.get("wall")).isLessThan(0.52);
            assertThat((double) (found.get("running") + found.get("runnable")) / found.get("wall"))
                    .as(found.toString())
                    .isCloseTo(1, within(0.02));
        }
    }

    /** A control group of version 1 or 2. This process is in it from enter to close. */
    private static final class QuotaGroup implements AutoCloseable {

        private static final Path ROOT = Path.of("/sys/fs/cgroup");

        private final Path parent;
        private final Path folder;
        private final boolean isVersion1;

        private QuotaGroup(Path parent, boolean isVersion1) throws IOException {
            this.parent = parent;
            this.isVersion1 = isVersion1;
            folder = Files.createTempDirectory(parent, "threads-sampler-test");
            if (isVersion1) {
                write("cpu.cfs_period_us", "100000");
                write("cpu.cfs_quota_us", "50000");
            } else {
                write("cpu.max", "50000 100000");
            }
        }

        static QuotaGroup ofHalfACpu() throws IOException {
            boolean isVersion1 = Files.isDirectory(ROOT.resolve("cpu"));
            Path parent = isVersion1 ? ROOT.resolve("cpu") : ROOT;
            assumeTrue(Files.isWritable(parent.resolve("cgroup.procs")), "no control group can be made");
            try {
                return new QuotaGroup(parent, isVersion1);
            } catch (IOException e) {
                return assumeNoGroup(e);
            }
        }

        private static QuotaGroup assumeNoGroup(IOException e) {
            throw new TestAbortedException("no control group can be made: " + e);
        }

        private void write(String file, String text) throws IOException {
            Files.writeString(folder.resolve(file), text);
        }

        void enter() throws IOException {
            write("cgroup.procs", String.valueOf(ProcessHandle.current().pid()));
        }

        long throttledNanos() {
            String name = isVersion1 ? "throttled_time " : "throttled_usec ";
            String line;
            try (Stream<String> lines = Files.lines(folder.resolve("cpu.stat"))) {
                line = lines.filter(one -> one.startsWith(name)).findFirst().orElseThrow();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return Long.parseLong(line.substring(name.length())) * (isVersion1 ? 1 : 1000);
        }

        @Override
        public void close() throws IOException {
            Files.writeString(
                    parent.resolve("cgroup.procs"),
                    String.valueOf(ProcessHandle.current().pid()));
            Files.delete(folder);
        }
    }

    /** A channel with one end that answers and another that waits for the answer. */
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
                case "file" -> ofFile();
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

        /* A named pipe, which is read while another thread writes to it. */
        private static Peer ofFile() throws IOException {
            Path folder = Files.createTempDirectory("peer");
            Path file = folder.resolve("fifo");
            try {
                assumeTrue(new ProcessBuilder("mkfifo", file.toString()).start().waitFor() == 0);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            RandomAccessFile both = new RandomAccessFile(file.toFile(), "rw");
            FileInputStream in = new FileInputStream(file.toFile());
            Files.delete(file);
            Files.delete(folder);
            return peer(in::read, () -> both.write(1), in, both);
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
                            // the others are closed nevertheless
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
