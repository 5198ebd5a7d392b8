// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.peer.ReasonsPeer.Found;
import com.incapsula.sampler.bench.peer.ReasonsPeer.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;

/** Threads that wait or compute, and measure for how long. {@link WaitReasons} compares profilers with them. */
final class WaitingThreads {

    static final int WAITERS = 2;
    static final int COMPUTING_PER_CPU = 2;
    private static final int WORKERS = 3;
    private static final long SHORT_MILLIS = 5;
    private static final long LONG_MILLIS = 50;
    private static final long JOB_EACH_MILLIS = 100;
    private static final long PAUSE_MILLIS = 2;
    private static final double NANOS_OF_A_MILLI = 1_000_000;
    private static final long COMPUTE_NANOS = 20_000_000;
    private static final String CLASS = WaitingThreads.class.getName() + ".";
    private static final String COMPUTING = "computing-";
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final List<Row> ROWS = new ArrayList<>();
    private static volatile long sink;

    /**
     * The work of some threads, and its duration by their own measure.
     *
     * @param title the row's title in the table
     * @param threads the beginning of their names
     * @param method the method with the time
     * @param reasons the reasons that a profiler should report
     * @param millis the time so far
     * @param late the time between the end of a wait and the next use of a CPU
     */
    record Row(
            String title,
            String threads,
            String method,
            Set<Reason> reasons,
            DoubleSupplier millis,
            DoubleSupplier late) {

        boolean isOf(Found found) {
            return found.thread().startsWith(threads)
                    && (found.stack().isEmpty()
                            || found.stack().stream()
                                    .anyMatch(frame -> frame.method().equals(method)));
        }
    }

    private interface Turn {
        void take(Stopwatch watch) throws Exception;
    }

    private interface Start {
        void start(String length, long millis) throws IOException;
    }

    private WaitingThreads() {}

    /** Starts the threads. Afterwards each row has its watches. */
    static List<Row> start() throws Exception {
        List<Start> waits = List.of(
                WaitingThreads::startMonitor,
                WaitingThreads::startLock,
                WaitingThreads::startSocket,
                WaitingThreads::startSleep,
                WaitingThreads::startFuture);
        for (Start wait : waits) {
            wait.start("short-", SHORT_MILLIS);
            wait.start("long-", LONG_MILLIS);
        }
        startWorkers("called-", true);
        startWorkers("uncalled-", false);
        startComputing();
        return List.copyOf(ROWS);
    }

    private static void startMonitor(String length, long millis) {
        String name = length + "monitor-";
        Object monitor = new Object();
        start("holds-" + name, watch -> {
            synchronized (monitor) {
                hold(millis);
            }
            Thread.sleep(PAUSE_MILLIS);
        });
        Collection<Stopwatch> watches =
                row(name, "enterMonitor", Reason.BLOCKED, "blocked: monitor held for " + millis);
        String title = "holds a monitor for " + millis + " ms, and threads wait";
        addRow(title, "holds-" + name, CLASS + "hold", Reason.HOLDS_MONITOR, watches);
        for (int i = 0; i < WAITERS; i++) {
            start(name + i, watches, watch -> {
                enterMonitor(monitor, watch);
                Thread.sleep(PAUSE_MILLIS);
            });
        }
    }

    private static void startLock(String length, long millis) {
        String name = length + "lock-";
        ReentrantLock lock = new ReentrantLock();
        start("holds-" + name, watch -> {
            lock.lock();
            try {
                hold(millis);
            } finally {
                lock.unlock();
            }
            Thread.sleep(PAUSE_MILLIS);
        });
        Collection<Stopwatch> watches =
                row(name, "enterLock", Reason.BLOCKED, "blocked: ReentrantLock held for " + millis);
        String title = "holds a ReentrantLock for " + millis + " ms, and threads wait";
        addRow(title, "holds-" + name, CLASS + "hold", Reason.HOLDS_LOCK, watches);
        for (int i = 0; i < WAITERS; i++) {
            start(name + i, watches, watch -> {
                enterLock(lock, watch);
                Thread.sleep(PAUSE_MILLIS);
            });
        }
    }

    private static void startSocket(String length, long millis) throws IOException {
        String name = length + "socket-";
        Collection<Stopwatch> watches = row(name, "readAnswer", Reason.IO, "I/O: a socket answers after " + millis);
        for (int i = 0; i < WAITERS; i++) {
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                InputStream in = new Socket(server.getInetAddress(), server.getLocalPort()).getInputStream();
                OutputStream out = server.accept().getOutputStream();
                start("answers-" + name + i, watch -> {
                    Thread.sleep(millis);
                    out.write(1);
                });
                start(name + i, watches, watch -> readAnswer(in, watch));
            }
        }
    }

    private static void startSleep(String length, long millis) {
        String name = length + "sleep-";
        Collection<Stopwatch> watches = row(name, "sleep", Reason.WAITING, "waiting: sleeps for " + millis);
        for (int i = 0; i < WAITERS; i++) {
            start(name + i, watches, watch -> sleep(millis, watch));
        }
    }

    private static void startFuture(String length, long millis) {
        String name = length + "future-";
        Collection<Stopwatch> watches =
                row(name, "getResult", Reason.WAITING, "waiting: a future, done after " + millis);
        for (int i = 0; i < WAITERS; i++) {
            BlockingQueue<CompletableFuture<Long>> asked = new LinkedBlockingQueue<>();
            start("completes-" + name + i, watch -> {
                CompletableFuture<Long> future = asked.take();
                Thread.sleep(millis);
                future.complete(millis);
            });
            start(name + i, watches, watch -> {
                CompletableFuture<Long> future = new CompletableFuture<>();
                asked.add(future);
                getResult(future, watch);
            });
        }
    }

    /* Gives each worker a first job. Its watch runs from the end of a job to the beginning of the next one. */
    private static void startWorkers(String name, boolean goesOn) throws InterruptedException {
        Collection<Stopwatch> watches = new ConcurrentLinkedQueue<>();
        String title = "idle: worker with a job each " + WORKERS * JOB_EACH_MILLIS + " ms";
        addRow(
                goesOn ? title : "idle: worker without a job",
                name,
                "java.util.concurrent.ThreadPoolExecutor.getTask",
                Reason.IDLE,
                watches);
        AtomicInteger started = new AtomicInteger();
        ExecutorService pool =
                Executors.newFixedThreadPool(WORKERS, job -> daemon(name + started.getAndIncrement(), job));
        ThreadLocal<Stopwatch> own = new ThreadLocal<>();
        CountDownLatch all = new CountDownLatch(WORKERS);
        for (int i = 0; i < WORKERS; i++) {
            pool.execute(() -> {
                Stopwatch watch = new Stopwatch();
                own.set(watch);
                watches.add(watch);
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                watch.begin();
            });
        }
        all.await();
        if (goesOn) {
            start("calls-workers", watch -> {
                Thread.sleep(JOB_EACH_MILLIS);
                pool.execute(() -> {
                    own.get().end();
                    own.get().begin();
                });
            });
        }
    }

    private static void startComputing() {
        int count = COMPUTING_PER_CPU * Runtime.getRuntime().availableProcessors();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            threads.add(start(COMPUTING + i, watch -> compute()));
        }
        DoubleSupplier wall = () -> count * System.nanoTime() / NANOS_OF_A_MILLI;
        DoubleSupplier cpu = () -> threads.stream()
                        .mapToLong(thread -> THREADS.getThreadCpuTime(thread.getId()))
                        .sum()
                / NANOS_OF_A_MILLI;
        DoubleSupplier never = () -> 0;
        String method = CLASS + "compute";
        ROWS.add(new Row("running: computes", COMPUTING, method, Set.of(Reason.RUNNING), cpu, never));
        ROWS.add(new Row(
                "runnable: wants a CPU",
                COMPUTING,
                method,
                Set.of(Reason.RUNNABLE),
                () -> wall.getAsDouble() - cpu.getAsDouble(),
                never));
        ROWS.add(new Row(
                "running or runnable", COMPUTING, method, Set.of(Reason.RUNNING, Reason.RUNNABLE), wall, never));
    }

    private static Collection<Stopwatch> row(String threads, String method, Reason reason, String title) {
        Collection<Stopwatch> watches = new ConcurrentLinkedQueue<>();
        addRow(title + " ms", threads, CLASS + method, reason, watches);
        return watches;
    }

    private static void addRow(
            String title, String threads, String method, Reason reason, Collection<Stopwatch> watches) {
        ROWS.add(new Row(
                title,
                threads,
                method,
                Set.of(reason),
                () -> watches.stream().mapToLong(Stopwatch::waited).sum() / NANOS_OF_A_MILLI,
                () -> watches.stream().mapToLong(Stopwatch::late).sum() / NANOS_OF_A_MILLI));
    }

    private static Thread start(String name, Turn turn) {
        return start(name, new ConcurrentLinkedQueue<>(), turn);
    }

    private static Thread start(String name, Collection<Stopwatch> watches, Turn turn) {
        Thread thread = daemon(name, () -> {
            Stopwatch watch = new Stopwatch();
            watches.add(watch);
            try {
                while (true) {
                    turn.take(watch);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }

    private static Thread daemon(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        return thread;
    }

    private static void hold(long millis) throws InterruptedException {
        Thread.sleep(millis);
    }

    private static void enterMonitor(Object monitor, Stopwatch watch) {
        watch.begin();
        synchronized (monitor) {
            watch.end();
        }
    }

    private static void enterLock(ReentrantLock lock, Stopwatch watch) {
        watch.begin();
        lock.lock();
        try {
            watch.end();
        } finally {
            lock.unlock();
        }
    }

    private static void readAnswer(InputStream in, Stopwatch watch) throws IOException {
        watch.begin();
        sink += in.read();
        watch.end();
    }

    private static void sleep(long millis, Stopwatch watch) throws InterruptedException {
        watch.begin();
        Thread.sleep(millis);
        watch.end();
    }

    private static void getResult(CompletableFuture<Long> future, Stopwatch watch) throws Exception {
        watch.begin();
        sink += future.get();
        watch.end();
    }

    private static void compute() {
        sink = PhaseClock.compute(COMPUTE_NANOS, sink);
    }

    /**
     * Measures the waits of the thread that creates it, without the time in which the thread computes or is runnable.
     */
    private static final class Stopwatch {

        private static final String SCHEDSTAT = "/proc/thread-self/schedstat";

        private final RandomAccessFile file;
        private final byte[] text = new byte[80];
        private long waited; // finished waits; guarded by this, like all fields below
        private long late;
        private long since; // 0 while the thread does not wait
        private long notWaitedBefore;
        private long lateBefore;

        Stopwatch() {
            try {
                file = new RandomAccessFile(SCHEDSTAT, "r");
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        synchronized void begin() {
            long[] figures = figures();
            lateBefore = figures[1];
            notWaitedBefore = figures[0] + figures[1];
            since = System.nanoTime();
        }

        synchronized void end() {
            long wall = System.nanoTime() - since;
            long[] figures = figures();
            late += figures[1] - lateBefore;
            waited += Math.max(0, wall - (figures[0] + figures[1] - notWaitedBefore));
            since = 0;
        }

        synchronized long waited() {
            return waited + (since == 0 ? 0 : System.nanoTime() - since);
        }

        synchronized long late() {
            return late;
        }

        /* Nanoseconds on a CPU, and nanoseconds waiting for one. */
        private long[] figures() {
            try {
                file.seek(0);
                int length = file.read(text);
                String[] parts = new String(text, 0, length, StandardCharsets.US_ASCII).split(" ");
                return new long[] {Long.parseLong(parts[0]), Long.parseLong(parts[1])};
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
