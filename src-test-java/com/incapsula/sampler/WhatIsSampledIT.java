// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitSeen;
import static com.incapsula.sampler.testing.Samplers.awaitSeenOnTop;
import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static java.lang.Thread.State.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Row;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import com.incapsula.sampler.testing.work.Alone;
import com.incapsula.sampler.testing.work.Desk;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Selection of threads and frames. */
@ExtendWith(NothingLeft.class)
class WhatIsSampledIT {

    private static final String WORK = "com.incapsula.sampler.testing.work";
    private static final String RUN = "java.lang.Thread.run";
    private static final String AWAIT = "java.util.concurrent.CountDownLatch.await";

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    private void start(Worker... workers) {
        for (Worker worker : workers) {
            sampler.setThreadToBeSampled(worker.thread());
        }
        sampler.init();
    }

    private Report sample(Worker... workers) {
        start(workers);
        awaitTicks(sampler, 5);
        sampler.printReport();
        return recorder.only();
    }

    // ---- threads ----

    /** Released when the class's initializer may end. */
    private static final CountDownLatch GO_ON = new CountDownLatch(1);

    /** A thread that runs for a while before its class is initialised. */
    static final class Eager extends Thread {

        static final Eager ONLY = new Eager();

        static {
            ONLY.start();
            try {
                GO_ON.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public void run() {
            Desk.calculate(GO_ON);
        }
    }

    @Test
    void aThreadWhoseClassIsNotReadyIsWalkedWithoutWaiting() {
        sampler.init();
        try (Worker first = Worker.doing("first", goHome -> Eager.ONLY.join())) {
            try {
                patiently()
                        .until(() ->
                                Thread.getAllStackTraces().keySet().stream().anyMatch(Eager.class::isInstance));
                awaitSeen(sampler, "Thread-", Eager.class.getName() + ".run");
                sampler.printReport();
            } finally {
                GO_ON.countDown();
            }
        }
        assertThat(recorder.only().toString()).contains("Eager.run");
    }

    @Test
    void allThreadsButTheLibrarysAndTheJvmsOwn() {
        try (Worker worker = Worker.waiting("worker");
                Worker daemon = Worker.daemon("daemon");
                Worker namesake = Worker.waiting("Finalizer")) {
            sampler.init();
            awaitTicks(sampler, 5);
            sampler.printReport();
            awaitTicks(sampler, 5);
            sampler.setSkipDaemonThreads(false);
            sampler.printReport();
            for (Report report : recorder.reports()) {
                assertThat(report.names())
                        .contains(
                                Thread.currentThread().getName().replaceAll("[.:\\d]+", ""),
                                "worker",
                                "daemon",
                                "Finalizer");
                assertThat(report.group("Finalizer").distinctThreads())
                        .as("the user's, not the JVM's")
                        .isEqualTo(1);
                assertThat(report.names())
                        .doesNotContain(
                                "Reference Handler",
                                "Signal Dispatcher",
                                "Common-Cleaner",
                                "Notification Thread",
                                "Attach Listener",
                                "Service Thread",
                                "Monitor Deflation Thread",
                                "C CompilerThread",
                                "C1 CompilerThread",
                                "C2 CompilerThread")
                        .noneMatch(name -> name.startsWith("threads-sampler"));
            }
            assertThat(worker.thread().isAlive()
                            && daemon.thread().isAlive()
                            && namesake.thread().isAlive())
                    .isTrue();
        }
    }

    private static List<String> namesOfTheJvm() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> !name.startsWith("threads-sampler") && !name.startsWith("awaitility"))
                .toList();
    }

    /** All threads that the JVM lists are in the report, except the service threads. */
    @Test
    void noThreadIsForgotten() {
        sampler.setThreadNameManipulator(Thread::getName);
        List<String> missing = new ArrayList<>(namesOfTheJvm());
        Report report = sample();
        missing.retainAll(namesOfTheJvm()); // drops threads that came, went or were renamed
        assertThat(missing).contains(Thread.currentThread().getName());
        missing.removeAll(report.names());
        assertThat(missing)
                .isSubsetOf(
                        "Reference Handler",
                        "Finalizer",
                        "Signal Dispatcher",
                        "Common-Cleaner",
                        "Notification Thread",
                        "Attach Listener");
    }

    @Test
    void everyThreadStateCounts() throws IOException {
        Object monitor = new Object();
        try (Worker waiting = Worker.waiting("waiting");
                Worker busy = Worker.busy("busy");
                Worker sleeping = Worker.doing("sleeping", WhatIsSampledIT::sleepUntil)) {
            Worker blocked;
            synchronized (monitor) {
                blocked = Worker.doing("blocked", goHome -> enter(monitor));
                Worker.awaitState(blocked.thread(), Thread.State.BLOCKED);
                long outer = System.nanoTime();
                start(waiting, busy, sleeping, blocked);
                long inner = System.nanoTime();
                awaitSeenOnTop(sampler, "busy", WORK + ".Desk.calculate");
                long atLeast = (System.nanoTime() - inner) / 1_000_000;
                sampler.printReport();
                long atMost = (System.nanoTime() - outer) / 1_000_000;
                Report report = recorder.only();
                assertThat(report.sampled())
                        .hasSize(4)
                        .allSatisfy(group ->
                                assertThat(group.cumulativeMillis()).isBetween(atLeast - group.roots(), atMost + 1));
                assertThat(report.group("blocked").methods()).endsWith("com.incapsula.sampler.WhatIsSampledIT.enter");
                assertThat(report.group("busy").methods()).contains(WORK + ".Desk.calculate");
            }
            blocked.close();
        }
    }

    private static void enter(Object monitor) {
        synchronized (monitor) {
            monitor.notifyAll();
        }
    }

    private static void sleepUntil(CountDownLatch goHome) throws InterruptedException {
        while (goHome.getCount() > 0) {
            Thread.sleep(20);
        }
    }

    /**
     * The thread that has returned from main waits for the others under the name DestroyJavaVM. A user's thread has the
     * same name.
     */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) {
            CountDownLatch end = new CountDownLatch(1);
            Thread namesake = new Thread(() -> {
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            namesake.setName("DestroyJavaVM");
            namesake.start();
            ThreadsSampler sampler = new ThreadsSampler();
            sampler.setSamplingFrequencyMillis(5);
            if (arguments[0].equals("before")) {
                sampler.init();
            }
            new Thread(() -> {
                        patiently()
                                .until(() -> Thread.getAllStackTraces().keySet().stream()
                                                .filter(thread ->
                                                        thread.getName().equals("DestroyJavaVM"))
                                                .count()
                                        == 2);
                        if (!sampler.isRunning()) {
                            sampler.init();
                        }
                        Samplers.awaitTicks(sampler, 5);
                        end.countDown();
                        try {
                            sampler.close();
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    })
                    .start();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"before", "after"})
    void theThreadThatHasReturnedFromMainIsTheJvms(String start) throws Exception {
        String output = ChildJvm.of(Program.class)
                .with(Awaitility.class, org.hamcrest.Matcher.class)
                .run(start)
                .assertFine()
                .output();
        Report report = Report.parse(output).get(0);
        assertThat(report.group("DestroyJavaVM").distinctThreads()).isEqualTo(1);
        assertThat(report.group("DestroyJavaVM").methods().toString()).contains(Program.class.getName());
        assertThat(report.group("DestroyJavaVM").rows())
                .extracting(row -> row.frame())
                .doesNotContain("[no Java frames]");
    }

    // ---- the frame rule ----

    @Test
    void withoutMonitoredPackagesEverythingIsKept() {
        try (Worker worker = Worker.waiting("worker")) {
            Group group = sample(worker).group("worker");
            StackTraceElement[] stack = worker.thread().getStackTrace();
            assertThat(group.maxDepth())
                    .as("tools are shown hidden frames, too")
                    .isGreaterThanOrEqualTo(stack.length);
            assertThat(group.rows()).as("one way down, all time at its end").hasSize(3);
            assertThat(group.rows().get(2).frame()).isEqualTo(plain(stack[0]));
            assertThat(group.rows().get(1).frame()).startsWith(WORK + ".Desk.serve(");
            assertThat(group.rows().get(0).frame()).isEqualTo(plain(stack[stack.length - 1]));
        }
    }

    /* The format of StackTraceElement, without module and loader. */
    private static String plain(StackTraceElement frame) {
        return new StackTraceElement(
                        frame.getClassName(), frame.getMethodName(), frame.getFileName(), frame.getLineNumber())
                .toString();
    }

    @Test
    void timeOfALibraryCallPilesUpOnItsFirstMethod() {
        sampler.setMonitoredPackages(WORK);
        try (Worker worker = Worker.waiting("worker")) {
            Group group = sample(worker).group("worker");
            assertThat(group.methods()).containsExactly(RUN, WORK + ".Desk.serve", AWAIT);
            assertThat(group.rows().get(2).methodMillis()).isEqualTo(group.cumulativeMillis());
        }
    }

    @Test
    void timeOfMonitoredCodeIsItsOwn() {
        sampler.setMonitoredPackages("com.incapsula.absent, " + WORK + ",,");
        try (Worker worker = Worker.busy("worker")) {
            start(worker);
            awaitSeen(sampler, "worker", WORK + ".Desk.calculate");
            sampler.printReport();
            Group group = recorder.only().group("worker");
            assertThat(group.methods()).contains(WORK + ".Desk.calculate").doesNotContain(AWAIT);
        }
    }

    @Test
    void libraryCodeBetweenMonitoredCodeIsKept() {
        sampler.setMonitoredPackages(WORK);
        sampler.setReportZeroTimePackages(true);
        try (Worker worker = Worker.doing(
                        "worker",
                        goHome -> Desk.callBack(() -> new ArrayList<>(List.of(goHome)).forEach(WhatIsSampledIT::serve)))
                .awaitWaiting()) {
            assertThat(sample(worker).group("worker").methods())
                    .containsSubsequence(
                            RUN, WORK + ".Desk.callBack", "java.util.ArrayList.forEach", WORK + ".Desk.serve", AWAIT)
                    .endsWith(AWAIT);
        }
    }

    private static void serve(CountDownLatch goHome) {
        try {
            Desk.serve(goHome);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void onlyTheRootOfAnUnmonitoredStackIsKept() {
        sampler.setMonitoredPackages("org.absent");
        try (Worker worker = Worker.waiting("worker")) {
            Group group = sample(worker).group("worker");
            assertThat(group.methods()).containsExactly(RUN);
            assertThat(group.methodMillis()).isEqualTo(group.cumulativeMillis()).isPositive();
        }
    }

    /** The row is the application's line, not the pool's Worker.run. */
    @Test
    void theLineOfTheApplicationInAChainIsKept() throws Exception {
        sampler.setMonitoredPackages(WORK);
        ExecutorService pool = Executors.newSingleThreadExecutor(work -> new Thread(work, "pool-1"));
        CountDownLatch goHome = new CountDownLatch(1);
        try {
            Thread thread = pool.submit(Thread::currentThread).get();
            pool.execute(() -> Desk.callBack(() -> serve(goHome)));
            patiently()
                    .until(() -> Arrays.stream(thread.getStackTrace())
                            .anyMatch(frame -> frame.getMethodName().equals("serve")));
            Worker.awaitState(thread, WAITING);
            sampler.setThreadToBeSampled(thread);
            sampler.init();
            awaitTicks(sampler, 10);
            /* On its way back the thread runs, and is at other lines. */
            sampler.pauseSampling();
            goHome.countDown();
            pool.submit(() -> {}).get();
            Worker.awaitState(thread, WAITING);
            sampler.resumeSampling();
            awaitTicks(sampler, 10);
            sampler.printReport();
            assertThat(recorder.last().group("pool-").methods())
                    .as("Thread.run has the time it is idle")
                    .containsExactly(RUN, WORK + ".Desk.serve", AWAIT);
        } finally {
            goHome.countDown();
            pool.shutdown();
        }
    }

    @Test
    void theAccountSaysThatNoFrameOfThePackagesWasSeen() throws IOException {
        sampler.setMonitoredPackages("com.foo, com.bar");
        try (Worker worker = Worker.waiting("worker")) {
            Report report = sample(worker);
            assertThat(report.account()).contains("no frame of the monitored packages was seen: com.foo, com.bar\n");
            try (SamplingReport json = sampler.snapshot()) {
                assertThat(json.toString(ReportFormat.JSON)).contains("\"missedPackages\":\"com.foo, com.bar\"}");
            }
            sampler.setMonitoredPackages("com.foo," + WORK);
            sampler.printReport();
            awaitTicks(sampler, 5);
            sampler.printReport();
            assertThat(recorder.last().account()).doesNotContain("no frame of the monitored packages");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "com.incapsula.sampler.testing.work, true",
        "com.incapsula.sampler.testing.work.Desk, true",
        "com.incapsula.sampler.testing.work., true",
        "com.incapsula.sampler.testing.wor, false",
        "com.incapsula.sampler.testing.wor*, true",
        "com.incapsula.sampler.testing.work.Des, false",
        "com.incapsula.sampler.testing.works, false",
        "Desk, false",
    })
    void prefixesMatchWholeParts(String prefix, boolean matches) {
        sampler.setMonitoredPackages(prefix);
        try (Worker worker = Worker.waiting("worker")) {
            assertThat(sample(worker).group("worker").methods()).hasSize(matches ? 3 : 1);
        }
    }

    @Test
    void stacksOfOneFrameAreKept() throws Exception {
        CountDownLatch goHome = new CountDownLatch(1);
        Alone alone = new Alone("alone", goHome);
        alone.start();
        try {
            sampler.setThreadToBeSampled(alone);
            String run = WORK + ".Alone.run";
            start();
            awaitSeen(sampler, "alone", run);
            sampler.printReport();
            Group group = recorder.only().group("alone");
            /* If the thread had no CPU before its first answer, that time has a row in brackets. */
            assertThat(group.rows())
                    .allSatisfy(row ->
                            assertThat(row.depth() == 0 ? row.method() : run).isIn(run, "[signal not answered]"));
            assertThat(group.rows().stream()
                            .filter(row -> row.method().equals(run))
                            .mapToLong(Row::methodMillis)
                            .sum())
                    .isPositive();
        } finally {
            goHome.countDown();
            alone.join();
        }
    }

    // ---- the text of a frame ----

    @Test
    void nativeMethodsAreMarkedAsNative() {
        try (Worker worker = Worker.waiting("worker")) {
            List<Row> rows = sample(worker).group("worker").rows();
            assertThat(rows.get(rows.size() - 1).frame()).isEqualTo("jdk.internal.misc.Unsafe.park(Native Method)");
        }
    }

    @Test
    void twoLinesOfOneMethodAreTwoRows() {
        Worker.Work work = WhatIsSampledIT::waitInOneOfTwoLines;
        try (Worker one = Worker.doing("pool-1", work).awaitWaiting();
                Worker two = Worker.doing("pool-2", work).awaitWaiting()) {
            sampler.setMonitoredPackages("com.incapsula.sampler");
            Group group = sample(one, two).group("pool-");
            List<String> frames = group.rows().stream()
                    .map(Row::frame)
                    .filter(frame -> frame.contains("waitInOneOfTwoLines"))
                    .toList();
            assertThat(frames)
                    .hasSize(2)
                    .doesNotHaveDuplicates()
                    .allMatch(frame -> frame.matches(".*\\(WhatIsSampledIT\\.java:\\d+\\)"));
        }
    }

    private static void waitInOneOfTwoLines(CountDownLatch goHome) throws InterruptedException {
        if (Thread.currentThread().getName().equals("pool-1")) {
            goHome.await();
        } else {
            goHome.await();
        }
    }

    /** Two generated classes of each kind, called by monitored code, become one row. */
    @ParameterizedTest
    @MethodSource("generated")
    void generatedNamesAreOneRow(Generator generator, String frame) throws Exception {
        CountDownLatch goHome = new CountDownLatch(1);
        Runnable one = generator.generate(0, goHome);
        Runnable two = generator.generate(1, goHome);
        assertThat(one.getClass()).isNotSameAs(two.getClass());
        Worker.Work work =
                unused -> Desk.callBack(Thread.currentThread().getName().equals("worker-1") ? one : two);
        sampler.setMonitoredPackages(WORK);
        try (Worker first = Worker.doing("worker-1", work).awaitWaiting();
                Worker second = Worker.doing("worker-2", work).awaitWaiting();
                AutoCloseable release = goHome::countDown) {
            assertThat(release).isNotNull();
            Group group = sample(first, second).group("worker-");
            assertThat(group.distinctThreads()).isEqualTo(2);
            assertThat(group.record()).doesNotContainPattern("0x|Lambda\\$\\d|Proxy\\d|proxy\\d");
            List<Row> rows = group.rows().stream()
                    .filter(row -> row.frame().matches(frame))
                    .toList();
            assertThat(rows).as(group.record()).hasSize(1);
            assertThat(rows.get(0).methodMillis()).as("the time of both").isEqualTo(group.cumulativeMillis());
        }
    }

    /** Makes the first or the second of two classes whose instances wait. */
    interface Generator {
        Runnable generate(int which, CountDownLatch goHome) throws Exception;
    }

    static List<Arguments> generated() {
        String type = "com\\.incapsula\\.sampler\\.WhatIsSampledIT";
        return List.of(
                arguments((Generator) WhatIsSampledIT::lambda, type + "\\$\\$Lambda\\.run\\(Unknown Source\\)"),
                arguments((Generator) WhatIsSampledIT::proxy, "jdk\\.proxy\\.\\$Proxy\\.run\\(Unknown Source\\)"),
                arguments(
                        (Generator) WhatIsSampledIT::hidden,
                        type + "\\$Template\\.run\\(WhatIsSampledIT\\.java:\\d+\\)"));
    }

    private static Runnable lambda(int which, CountDownLatch goHome) {
        Runnable one = () -> rest(goHome);
        Runnable two = () -> rest(goHome);
        return which == 0 ? one : two;
    }

    private static Runnable proxy(int which, CountDownLatch goHome) {
        Class<?> other = which == 0 ? Comparable.class : AutoCloseable.class;
        return (Runnable) Proxy.newProxyInstance(
                WhatIsSampledIT.class.getClassLoader(),
                new Class<?>[] {Runnable.class, other},
                (self, method, arguments) -> {
                    rest(goHome);
                    return null;
                });
    }

    private static Runnable hidden(int which, CountDownLatch goHome) throws Exception {
        byte[] code;
        try (InputStream in = WhatIsSampledIT.class.getResourceAsStream("WhatIsSampledIT$Template.class")) {
            code = in.readAllBytes();
        }
        return (Runnable) MethodHandles.lookup()
                .defineHiddenClass(code, true, MethodHandles.Lookup.ClassOption.NESTMATE)
                .lookupClass()
                .getDeclaredConstructor(CountDownLatch.class)
                .newInstance(goHome);
    }

    /* Called from a method that is not in a monitored package. */
    private static void rest(CountDownLatch goHome) {
        try {
            goHome.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** After 15 calls JDK 17 generates an accessor class for each method; later JDKs use method handles. */
    @Test
    void accessorsOfReflectionAreWithoutNumbers() throws Exception {
        sampler.setReportZeroTimePackages(true);
        try (Worker one = reflection("worker-1", "reflectedOne").awaitWaiting();
                Worker two = reflection("worker-2", "reflectedTwo").awaitWaiting()) {
            Group group = sample(one, two).group("worker-");
            assertThat(group.record())
                    .contains("reflect")
                    .doesNotContainPattern("0x|Lambda\\$\\d|Accessor\\d|LambdaForm\\$D?MH\\d");
        }
    }

    private static Worker reflection(String name, String method) throws NoSuchMethodException {
        Method reflected = WhatIsSampledIT.class.getDeclaredMethod(method, CountDownLatch.class);
        return Worker.doing(name, goHome -> {
            for (int i = 0; i < 30; i++) {
                reflected.invoke(null, new CountDownLatch(0));
            }
            reflected.invoke(null, goHome);
        });
    }

    static void reflectedOne(CountDownLatch goHome) {
        rest(goHome);
    }

    static void reflectedTwo(CountDownLatch goHome) {
        rest(goHome);
    }

    /** Defined twice as a hidden class. */
    static final class Template implements Runnable {

        private final CountDownLatch goHome;

        Template(CountDownLatch goHome) {
            this.goHome = goHome;
        }

        @Override
        public void run() {
            rest(goHome);
        }
    }

    // ---- the library's own frames ----

    private void printNow() {
        sampler.printReport();
    }

    private void closeNow() {
        try {
            sampler.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** No report shows NativeBridge: the line that waits for the sampler is the user's. */
    @ParameterizedTest
    @CsvSource({"printNow", "closeNow"})
    void aThreadThatWaitsForTheSamplerIsAtTheLineThatCallsIt(String method) throws Exception {
        CountDownLatch going = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        sampler.setSamplingOutputer(new Recorder() {
            @Override
            public void printIntervalTitle(String title) {
                going.countDown();
                Samplers.patiently().until(() -> released.getCount() == 0);
            }
        });
        Recorder watched = new Recorder();
        try (ThreadsSampler watch = quick(watched)) {
            Thread caller = new Thread(method.equals("printNow") ? this::printNow : this::closeNow, "caller");
            sampler.init();
            caller.start();
            going.await(); // it waits now; before, it may have been in the JDK, which links the sampler's lambdas
            watch.setThreadToBeSampled(caller);
            watch.init();
            awaitTicks(watch, 10);
            watch.printReport();
            released.countDown();
            caller.join();
        }
        List<String> methods = watched.reports().get(0).group("caller").methods();
        assertThat(methods).contains(WhatIsSampledIT.class.getName() + "." + method);
        assertThat(methods)
                .noneMatch(row -> row.startsWith(ThreadsSampler.class.getName() + ".")
                        || row.startsWith("com.incapsula.sampler.internal."));
    }
}
