// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.Figures;
import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.Table;
import com.incapsula.sampler.bench.peer.ReasonsPeer;
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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleSupplier;
import java.util.function.Function;

/**
 * Threads that wait for locks, sockets, results and work, beside more computing threads than there are CPUs: how much
 * of the time does a profiler show at the right place, with the right reason? The truth is what each thread measures of
 * itself in the same interval.
 */
public final class WaitReasons {

    private static final int WAITERS = 2;
    private static final int WORKERS = 3;
    private static final int COMPUTING_PER_CPU = 2;
    private static final long SHORT_MILLIS = 5;
    private static final long LONG_MILLIS = 50;
    private static final long JOB_EACH_MILLIS = 100;
    private static final long PAUSE_MILLIS = 2;
    private static final long WARM_UP_MILLIS = 2000;
    private static final double NANOS_OF_A_MILLI = 1_000_000;
    private static final long COMPUTE_NANOS = 20_000_000;
    private static final String CLASS = WaitReasons.class.getName() + ".";
    private static final String COMPUTING = "computing-";
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static volatile long sink;

    /** A line of the table. */
    private record Row(
            String title,
            String threads,
            String method,
            Set<Reason> reasons,
            DoubleSupplier millis,
            DoubleSupplier late) {

        boolean isOf(Found found) {
            return found.thread().startsWith(threads)
                    && found.stack().stream().anyMatch(frame -> frame.method().equals(method));
        }
    }

    private interface Turn {
        void take(Stopwatch watch) throws Exception;
    }

    private static final List<Row> ROWS = new ArrayList<>();

    private WaitReasons() {}

    /**
     * Runs everything.
     *
     * @param plan each profiler runs for a window in each round
     * @param only not used
     * @return a table per JDK
     */
    public static List<Table> run(Plan plan, String only) throws IOException, InterruptedException {
        List<Table> tables = new ArrayList<>();
        for (Path jdk : plan.jdks()) {
            tables.add(table(plan, jdk));
        }
        return tables;
    }

    private static Table table(Plan plan, Path jdk) throws IOException, InterruptedException {
        List<String> columns = new ArrayList<>(List.of("the thread is", "for s", "late %"));
        columns.addAll(ReasonsPeer.NAMES);
        Table table = new Table(
                "Why threads wait: found with the right reason, % of the time that they measure, " + plan.rounds()
                        + " rounds of " + plan.windowMillis() + " ms, JDK " + Jvm.version(jdk),
                columns.toArray(String[]::new));
        Map<String, Map<String, Measured>> rows = new LinkedHashMap<>();
        for (String[] cells : Jvm.of(jdk, List.of()).run(WaitReasons.class, plan.windowMillis(), plan.rounds())) {
            rows.computeIfAbsent(cells[0], row -> new LinkedHashMap<>())
                    .computeIfAbsent(cells[1], peer -> new Measured())
                    .add(cells);
        }
        rows.forEach((title, peers) -> {
            List<Object> cells = new ArrayList<>(List.of(
                    title,
                    median(peers.values(), measured -> measured.seconds),
                    median(peers.values(), measured -> measured.latePercents)));
            peers.values().forEach(measured -> cells.add(measured.text()));
            table.row(cells.toArray());
        });
        note(table);
        return table;
    }

    private static void note(Table table) {
        table.note("Medians of the rounds. In (): at the right place, but without a reason. –: it does not say such"
                + " time. Late: how much longer the threads were away, because they got no CPU when the wait was over;"
                + " it is not in the truth, but in the durations that JFR and async-profiler's lock mode measure.");
        table.note(
                "Ours and async-profiler's wall mode sample each 20 ms, CPU time is sampled each 10 ms; shares of wall"
                        + " samples are taken of the elapsed time. JFR: the JDK's configurations; *no thresholds* is `profile`"
                        + " with a threshold of 0 for monitors, parks and sleep, without the throttle of sockets, and with"
                        + " CPU-time samples where the JDK has them. Its reason of a park is the class of what the thread is"
                        + " parked at. Waits that began in the 0.4 s before the interval, or ended in those after it, are found"
                        + " in full; one that does not end while the profiler is on is in no event. async-profiler's lock mode"
                        + " has its default threshold, 10 µs.");
    }

    /** What one profiler found of one row, in all rounds. */
    private static final class Measured {
        private final List<Double> seconds = new ArrayList<>();
        private final List<Double> latePercents = new ArrayList<>();
        private final List<Double> said = new ArrayList<>();
        private final List<Double> unsaid = new ArrayList<>();

        private void add(String... cells) {
            double millis = Double.parseDouble(cells[2]);
            seconds.add(millis / 1000);
            latePercents.add(100 * Double.parseDouble(cells[3]) / millis);
            said.add(100 * Double.parseDouble(cells[4]) / millis);
            unsaid.add(100 * Double.parseDouble(cells[5]) / millis);
        }

        private String text() {
            double right = Figures.median(said);
            double place = Figures.median(unsaid);
            if (!Double.isNaN(right)) {
                return String.format(Locale.ROOT, "%.1f", right);
            }
            return place > 0 ? String.format(Locale.ROOT, "(%.1f)", place) : "–";
        }
    }

    private static double median(Collection<Measured> measured, Function<Measured, List<Double>> figures) {
        return Figures.median(
                measured.stream().flatMap(one -> figures.apply(one).stream()).toList());
    }

    /**
     * The measured program. A line it tells: row, profiler, truth in ms, late in ms, found in ms with the right reason
     * (NaN if the profiler has no word for it), found in ms without a reason.
     *
     * @param arguments milliseconds of a window, rounds
     */
    public static void main(String... arguments) throws Exception {
        long window = Long.parseLong(arguments[0]);
        int rounds = Integer.parseInt(arguments[1]);
        startThreads();
        Thread.sleep(WARM_UP_MILLIS);
        for (int round = 0; round < rounds; round++) {
            for (String name : ReasonsPeer.NAMES) {
                measure(name, window);
            }
        }
        System.exit(0);
    }

    private static void measure(String name, long window) throws Exception {
        ReasonsPeer peer = ReasonsPeer.of(name);
        peer.start();
        double[] before =
                ROWS.stream().mapToDouble(row -> row.millis.getAsDouble()).toArray();
        double[] lateBefore =
                ROWS.stream().mapToDouble(row -> row.late.getAsDouble()).toArray();
        Thread.sleep(window);
        double[] after =
                ROWS.stream().mapToDouble(row -> row.millis.getAsDouble()).toArray();
        double[] lateAfter =
                ROWS.stream().mapToDouble(row -> row.late.getAsDouble()).toArray();
        List<Found> found = peer.stop();
        for (int i = 0; i < ROWS.size(); i++) {
            Row row = ROWS.get(i);
            Set<Reason> words = words(row, peer);
            Jvm.tell(
                    row.title,
                    name,
                    after[i] - before[i],
                    lateAfter[i] - lateBefore[i],
                    words.isEmpty() ? Double.NaN : sum(row, found, words),
                    sum(row, found, Set.of(Reason.UNSAID)));
        }
    }

    /* The profiler's words for a row: one that means all of its states, or one for each; else none. */
    private static Set<Reason> words(Row row, ReasonsPeer peer) {
        if (row.reasons.size() > 1 && peer.reasons().contains(Reason.RUNNING_OR_RUNNABLE)) {
            return Set.of(Reason.RUNNING_OR_RUNNABLE);
        }
        return peer.reasons().containsAll(row.reasons) ? row.reasons : Set.of();
    }

    private static double sum(Row row, List<Found> found, Set<Reason> reasons) {
        return found.stream()
                .filter(one -> reasons.contains(one.reason()) && row.isOf(one))
                .mapToDouble(Found::millis)
                .sum();
    }

    // ------------------------------------------------------------------------- the program

    private static void startThreads() throws Exception {
        for (long millis : new long[] {SHORT_MILLIS, LONG_MILLIS}) {
            String length = millis == SHORT_MILLIS ? "short-" : "long-";
            startMonitor(length + "monitor-", millis);
            startLock(length + "lock-", millis);
            startSocket(length + "socket-", millis);
            startSleep(length + "sleep-", millis);
            startFuture(length + "future-", millis);
        }
        startWorkers("called-", true);
        startWorkers("uncalled-", false);
        startComputing();
    }

    private static void startMonitor(String name, long millis) {
        Object monitor = new Object();
        start("holds-" + name, watch -> {
            synchronized (monitor) {
                hold(millis);
            }
            Thread.sleep(PAUSE_MILLIS);
        });
        Collection<Stopwatch> watches =
                row(name, "enterMonitor", Reason.BLOCKED, "blocked: monitor held for " + millis);
        for (int i = 0; i < WAITERS; i++) {
            start(name + i, watches, watch -> {
                enterMonitor(monitor, watch);
                Thread.sleep(PAUSE_MILLIS);
            });
        }
    }

    private static void startLock(String name, long millis) {
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
        for (int i = 0; i < WAITERS; i++) {
            start(name + i, watches, watch -> {
                enterLock(lock, watch);
                Thread.sleep(PAUSE_MILLIS);
            });
        }
    }

    private static void startSocket(String name, long millis) throws IOException {
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

    private static void startSleep(String name, long millis) {
        Collection<Stopwatch> watches = row(name, "sleep", Reason.WAITING, "waiting: sleeps for " + millis);
        for (int i = 0; i < WAITERS; i++) {
            start(name + i, watches, watch -> sleep(millis, watch));
        }
    }

    private static void startFuture(String name, long millis) {
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

    /* Each worker gets a first job. Its watch runs from the end of a job to the begin of the next one. */
    private static void startWorkers(String name, boolean goesOn) throws InterruptedException {
        Collection<Stopwatch> watches = new ConcurrentLinkedQueue<>();
        String title = "idle: worker with a job each " + WORKERS * JOB_EACH_MILLIS + " ms";
        addRow(
                goesOn ? title : "idle: worker without a job",
                name,
                "java.util.concurrent.ThreadPoolExecutor.getTask",
                Reason.IDLE,
                watches);
        ExecutorService pool = Executors.newFixedThreadPool(WORKERS, job -> daemon(name + watches.size(), job));
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

    /** Measures the waits of the thread that makes it: without the time for which it computes or wants a CPU. */
    private static final class Stopwatch {

        private static final String SCHEDSTAT = "/proc/thread-self/schedstat";

        private final RandomAccessFile file;
        private final byte[] text = new byte[80];
        private long waited; // ended waits; guarded by this, like all that follow
        private long late;
        private long since; // 0: does not wait
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

        /* Nanoseconds on a CPU, and those for which it wanted one. */
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
