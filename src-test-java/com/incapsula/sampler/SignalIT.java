// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.NotedOutputer;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The signal to running threads: its number, and what happens to signals of that number from others. */
class SignalIT {

    private static final int SENT = 10; // while the sampler runs, and again when it is closed

    @TempDir
    Path folder;

    /** Samples a running thread, and sends itself signals that are not the sampler's. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws Exception {
            int signal = Integer.parseInt(arguments[0]);
            try (ThreadsSampler sampler = quick(new Recorder())) {
                sampler.setSamplingSignal(signal);
                sampler.init();
                try (Worker busy = Worker.busy("busy")) {
                    awaitWalks(sampler);
                    send(signal);
                    awaitWalks(sampler);
                }
                System.out.println("engine: " + sampler.getStatistics().getEngine());
            }
            send(signal);
            System.out.println("sent to the closed one");
            System.in.read();
        }

        private static void send(int signal) throws IOException, InterruptedException {
            String kill = "kill -" + signal + " " + ProcessHandle.current().pid() + "; ";
            new ProcessBuilder("sh", "-c", kill.repeat(SENT))
                    .inheritIO()
                    .start()
                    .waitFor();
        }
    }

    /** A library that is loaded after the sampler installs its own handler for the sampler's signal. */
    static final class TakenProgram {

        private TakenProgram() {}

        public static void main(String[] arguments) throws Exception {
            try (ThreadsSampler sampler = quick(new Recorder())) {
                sampler.setClock(SamplingClock.valueOf(arguments[0]));
                sampler.init();
                try (Worker busy = Worker.busy("busy")) {
                    awaitWalks(sampler);
                    System.load(arguments[1]);
                    awaitReport(sampler, ReportFormat.TEXT, arguments[2]);
                    if (arguments.length > 3) {
                        awaitReport(sampler, ReportFormat.COLLAPSED, arguments[3]);
                    } else {
                        awaitReport(sampler, ReportFormat.COLLAPSED, "Desk.calculate");
                        awaitWalks(sampler);
                    }
                }
            }
            System.out.println("fine");
        }
    }

    /** More threads block the signal than there are slots for requests without an answer. */
    static final class BlockedProgram {

        private static final int THREADS = 300;
        private static volatile boolean isSecond;
        private static volatile boolean isOver;
        private static volatile long sink;

        private BlockedProgram() {}

        private static void firstPlace() {
            while (!isSecond) {
                sink++;
            }
        }

        private static void secondPlace() {
            while (!isOver) {
                sink++;
            }
        }

        public static void main(String[] arguments) throws Exception {
            try (ThreadsSampler sampler = quick(new Recorder())) {
                sampler.setClock(SamplingClock.valueOf(arguments[0]));
                sampler.setOverheadLimitPercent(100);
                sampler.init();
                Thread victim = new Thread(
                        () -> {
                            firstPlace();
                            secondPlace();
                        },
                        "victim");
                victim.start();
                awaitStack(sampler, "firstPlace");
                Thread blocking = new Thread(() -> startBlocked(arguments[1]));
                blocking.start();
                blocking.join();
                isSecond = true;
                awaitStack(sampler, "secondPlace");
                awaitStack(sampler, arguments[2]);
                isOver = true;
                victim.join();
            }
            System.out.println("fine");
            Runtime.getRuntime().halt(0);
        }

        private static void startBlocked(String library) {
            System.load(library);
            for (int i = 0; i < THREADS; i++) {
                Thread thread = new Thread(BlockedProgram::runBlocked, "blocked-" + i);
                thread.setDaemon(true);
                thread.start();
                LockSupport.parkNanos(4_000_000);
            }
        }

        private static void runBlocked() {
            long start = System.nanoTime();
            while (System.nanoTime() - start < 4_000_000) {
                sink++;
            }
            if (Thread.currentThread().getName().equals("blocked-299")) {
                blockedLoop();
            }
            while (!isOver) {
                LockSupport.park();
            }
        }

        private static void blockedLoop() {
            while (!isOver) {
                sink++;
            }
        }

        private static void awaitStack(ThreadsSampler sampler, String part) throws InterruptedException {
            awaitReport(sampler, ReportFormat.COLLAPSED, part);
        }
    }

    /*
     * Without Awaitility, because this also runs in the child, which has only the JDK's classes. The parent ends the
     * child if this takes for ever.
     */
    private static void awaitWalks(ThreadsSampler sampler) throws InterruptedException {
        long enough = walked(sampler) + 20;
        while (walked(sampler) < enough) {
            Thread.sleep(2);
        }
    }

    private static void awaitReport(ThreadsSampler sampler, ReportFormat format, String part)
            throws InterruptedException {
        boolean isThere = false;
        while (!isThere) {
            Thread.sleep(20);
            try (SamplingReport report = sampler.snapshot()) {
                isThere = report.toString(format).contains(part);
            }
        }
    }

    private static long walked(ThreadsSampler sampler) {
        return sampler.getStatistics().getOutcomes().get("WALKED");
    }

    private static void assertEnds(ChildJvm.Running child) throws IOException, InterruptedException {
        child.awaitOutput("engine: HYBRID\n").awaitOutput("sent to the closed one\n");
        child.process().getOutputStream().close();
        child.await().assertFine();
    }

    @Test
    void aHandlerThatWasThereBeforeGetsItsSignals() throws Exception {
        ChildJvm.Running child = ChildJvm.of(Program.class)
                .with(Awaitility.class)
                .environment(
                        "LD_PRELOAD",
                        Preload.compile("foreign_handler.c", folder).toString())
                .environment("FOREIGN_SIGNAL", "38")
                .start("38");
        child.awaitOutput(String.format("foreign %03d%n", SENT))
                .awaitOutput("engine")
                .awaitOutput(String.format("foreign %03d%n", 2 * SENT));
        assertEnds(child);
    }

    @ParameterizedTest
    @EnumSource(SamplingClock.class)
    void aSignalThatALibraryTakesLaterIsTakenBack(SamplingClock clock) throws Exception {
        Path library = Preload.compile("foreign_handler.c", folder);
        String line = "another library took the sampler's signal: " + library + " (signal 38, taken back)\n";
        ChildJvm.of(TakenProgram.class)
                .with(Awaitility.class)
                .environment("FOREIGN_SIGNAL", "38")
                .start(clock.name(), library.toString(), line)
                .await()
                .assertSaysFine();
    }

    /**
     * The sampler leaves the signal to the library: other ways to walk continue, and with {@code clock} CPU the time
     * has a row.
     */
    @ParameterizedTest
    @CsvSource({"WALL, Desk.calculate", "CPU, [no CPU timer]"})
    void aSignalThatALibraryTakesAgainAndAgainIsLost(SamplingClock clock, String row) throws Exception {
        Path library = Preload.compile("foreign_handler.c", folder);
        String line = "another library took the sampler's signal: " + library + " (signal 38, not taken back)\n";
        ChildJvm.of(TakenProgram.class)
                .with(Awaitility.class)
                .environment("FOREIGN_SIGNAL", "38")
                .environment("FOREIGN_KEEPS", "true")
                .start(clock.name(), library.toString(), line, row)
                .await()
                .assertSaysFine();
    }

    /**
     * These threads are walked by handshakes; with {@code clock} CPU, whose timers send signals, their time has a row.
     */
    @ParameterizedTest
    @CsvSource({"WALL, blockedLoop", "CPU, [signal not answered]"})
    void threadsThatBlockTheSignalLeaveTheOthersAlone(SamplingClock clock, String row) throws Exception {
        ChildJvm.of(BlockedProgram.class)
                .with(Awaitility.class)
                .environment("BLOCKED_SIGNAL", "38")
                .start(
                        clock.name(),
                        Preload.compile("foreign_handler.c", folder).toString(),
                        row)
                .await()
                .assertSaysFine();
    }

    /** The default action of a real-time signal ends the process. */
    @Test
    void aStraySignalEndsNothing() throws Exception {
        assertEnds(ChildJvm.of(Program.class).with(Awaitility.class).start("45"));
    }

    @Test
    void samplersMayHaveDifferentSignals() throws Exception {
        try (Worker busy = Worker.busy("busy");
                ThreadsSampler first = quick(new Recorder());
                ThreadsSampler second = quick(new Recorder())) {
            second.setSamplingSignal(64);
            first.init();
            second.init();
            for (ThreadsSampler sampler : new ThreadsSampler[] {first, second}) {
                awaitWalks(sampler);
                assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID");
            }
            assertThat(busy.thread().isAlive()).isTrue();
        }
    }

    /**
     * Other profilers see threads that a callback starts, and SIGPIPE and SIGALRM end a process that it starts, as
     * anywhere else.
     */
    @Test
    void threadsThatACallbackStartsHaveTheSignalMaskOfMain() throws Exception {
        String expected = Masks.ofWhatIsStartedHere();
        Masks masks = new Masks();
        try (ThreadsSampler sampler = quick(masks)) {
            sampler.setThreadNameManipulator(masks);
            sampler.init();
            masks.awaitManipulator();
            sampler.printReport();
        }
        assertThat(masks.found.keySet())
                .containsExactlyInAnyOrder(
                        "init", "manipulator", "starting", "report", "title", "record", "error", "flush", "close");
        assertThat(masks.found)
                .allSatisfy((callback, found) -> assertThat(found).isEqualTo(expected));
    }

    /** Callbacks that start a thread and a process, each at its first call. */
    private static final class Masks extends NotedOutputer implements ThreadNameManipulator {

        private final Map<String, String> found = new ConcurrentHashMap<>();
        private final CountDownLatch named = new CountDownLatch(1);

        /** @return the signals that a new thread and a new process block */
        static String ofWhatIsStartedHere() {
            AtomicReference<String> thread = new AtomicReference<>();
            try {
                Thread started = new Thread(() -> thread.set(blocked("/proc/thread-self/status")), "started");
                started.start();
                started.join();
                Process process = new ProcessBuilder("grep", "SigBlk", "/proc/self/status").start();
                String ofProcess = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                return thread.get() + ofProcess;
            } catch (IOException | InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static String blocked(String status) {
            try (Stream<String> lines = Files.lines(Path.of(status))) {
                return lines.filter(line -> line.startsWith("SigBlk"))
                        .findFirst()
                        .orElse("none");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        protected void note(String callback) {
            if (!found.containsKey(callback)) {
                found.put(callback, ofWhatIsStartedHere());
            }
        }

        void awaitManipulator() throws InterruptedException {
            named.await();
        }

        @Override
        public String getManipulatedThreadName(Thread thread) {
            note("manipulator");
            named.countDown();
            throw new IllegalStateException("for printError");
        }

        @Override
        public void init() {
            note("init");
        }
    }

    /** The number may change from one start to the next, although the old handler stays installed. */
    @Test
    void itIsFixedWhileRunningAndNewAtTheNextStart() throws Exception {
        try (ThreadsSampler sampler = quick(new Recorder())) {
            sampler.setSamplingSignal(50);
            sampler.init();
            assertThatIllegalStateException()
                    .isThrownBy(() -> sampler.setSamplingSignal(51))
                    .withMessage("samplingSignal cannot be changed while the sampler runs");
            assertThat(sampler.getSamplingSignal()).isEqualTo(50);
            sampler.close();
            sampler.setSamplingSignal(51);
            sampler.init();
            assertThat(sampler.getStatistics().getEngine()).isEqualTo("HYBRID");
        }
    }
}
