// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.SourceLines;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A program with a lock, a sleep and a computation: the summary has each of them with line, state and holder. */
@ExtendWith(NothingLeft.class)
class SummaryIT {

    private static final int MAX_LINES = 25;
    private static final int MAX_COLUMNS = 130;
    private static final int TICKS = 60;
    private static final String[] FAULTS = {"waiting audit", "blocked reserve", "running compute"};

    /** The object whose lock threads wait for. */
    private static final class Stock {

        private long reserved;
    }

    private interface Work {
        void run() throws Exception;
    }

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);
    private final List<Thread> threads = new ArrayList<>();
    private final Stock stock = new Stock();
    private volatile boolean over;

    private void start(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (Exception e) {
                        Thread.currentThread().interrupt(); // the test is over
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    private void audit(CountDownLatch holds) throws InterruptedException {
        while (!over) {
            synchronized (stock) {
                holds.countDown();
                Thread.sleep(20); // sleeps
            }
        }
    }

    private void reserve() {
        while (!over) {
            synchronized (stock) {
                stock.reserved++; // waits for the lock, in this line or in the one before
            }
        }
    }

    private void compute() throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        byte[] bytes = new byte[1 << 20];
        while (!over) {
            digest.update(bytes); // computes
        }
    }

    private static int lineOf(String comment) throws IOException {
        return SourceLines.endingIn(SourceLines.TESTS, SummaryIT.class, "// " + comment)
                .first();
    }

    /* The line of the monitor's bytecode, or of the next one if the code is compiled. */
    private static int lineOfLock() throws IOException {
        return lineOf("waits for the lock, in this line or in the one before");
    }

    @BeforeEach
    void plant() throws InterruptedException {
        CountDownLatch holds = new CountDownLatch(1);
        start("audit-1", () -> audit(holds));
        holds.await();
        start("order-1", this::reserve);
        start("import-1", this::compute);
        sampler.setSampleTheseThreadsOnly(threads);
    }

    @AfterEach
    void end() throws IOException, InterruptedException {
        over = true;
        sampler.close();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /* Returns the first report in which all of these are hot spots; that depends on what else the machine does. */
    private SamplingReport sampled(String... wanted) {
        sampler.init();
        return patiently().until(this::afterSomeTicks, report -> hasAll(report, wanted));
    }

    private SamplingReport afterSomeTicks() {
        awaitTicks(sampler, TICKS);
        return sampler.snapshot();
    }

    private static boolean hasAll(SamplingReport report, String... wanted) {
        boolean found = spots(report).containsAll(List.of(wanted));
        if (!found) {
            report.close();
        }
        return found;
    }

    /* Treats runnable as running, because the state depends on what else the machine does. */
    private static String stateOf(SamplingHotSpot spot) {
        return spot.getState().equals("runnable") ? "running" : spot.getState();
    }

    private static List<String> spots(SamplingReport report) {
        return report.getSummary().getHotSpots().stream()
                .map(spot -> stateOf(spot) + " " + spot.getMethodName())
                .toList();
    }

    private static SamplingHotSpot spot(SamplingSummary summary, String state, String method) {
        return summary.getHotSpots().stream()
                .filter(spot ->
                        stateOf(spot).equals(state) && spot.getMethodName().equals(method))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no " + method + " " + state + " in\n" + summary));
    }

    @Test
    void eachFaultIsAHotSpot() throws IOException {
        try (SamplingReport report = sampled(FAULTS)) {
            SamplingSummary summary = report.getSummary();

            SamplingHotSpot slept = spot(summary, "waiting", "audit");
            assertThat(slept.getLine()).isEqualTo(lineOf("sleeps"));
            assertThat(slept.getClassName()).isEqualTo(SummaryIT.class.getName());
            assertThat(slept.getFileName()).isEqualTo("SummaryIT.java");
            assertThat(slept.getCallee()).isEqualTo("java.lang.Thread.sleep");
            assertThat(slept.getGroup()).isEqualTo("audit-");
            assertThat(slept.getGroupCount()).isEqualTo(1);
            assertThat(slept.getLockClass()).isNull();

            SamplingHotSpot blocked = spot(summary, "blocked", "reserve");
            assertThat(blocked.getLine()).isBetween(lineOfLock() - 1, lineOfLock());
            assertThat(blocked.getCallee()).isNull();
            assertThat(blocked.getGroup()).isEqualTo("order-");
            assertThat(blocked.getLockClass()).isEqualTo(Stock.class.getName());
            assertThat(blocked.getHoldingLine())
                    .isEqualTo(SummaryIT.class.getName() + ".audit(SummaryIT.java:" + lineOf("sleeps") + ")");
            assertThat(blocked.getHolderGroup()).isEqualTo("audit-");

            SamplingHotSpot computed = spot(summary, "running", "compute");
            assertThat(computed.getLine()).isEqualTo(lineOf("computes"));
            assertThat(computed.getCallee()).isEqualTo("java.security.MessageDigest.update");
            assertThat(computed.getError95()).isNotNull();
            assertThat(computed.getCalls()).isZero();
            assertThat(computed.getRunnableNanos()).isBetween(0L, computed.getNanos());
            assertThat(computed.toString()).startsWith("runn").contains("SummaryIT.compute(SummaryIT.java:");
        }
    }

    @Test
    void theTimesAddUp() {
        try (SamplingReport report = sampled(FAULTS)) {
            SamplingSummary summary = report.getSummary();
            long spots = summary.getHotSpots().stream()
                    .mapToLong(SamplingHotSpot::getNanos)
                    .sum();

            assertThat(spots + summary.getOtherNanos() + summary.getElsewhereNanos() + summary.getWaitsNanos())
                    .isEqualTo(summary.getActiveNanos());
            assertThat(summary.getActiveNanos() + summary.getIdleNanos()).isEqualTo(report.getWallNanos());
            assertThat(summary.getThreadCount()).isEqualTo(3);
            assertThat(summary.getGroupCount()).isEqualTo(3);
            assertThat(summary.getHotSpots())
                    .allSatisfy(spot ->
                            assertThat(spot.getNanos() * 100).isGreaterThanOrEqualTo(summary.getActiveNanos() - 100));
            assertThat(summary.getPackages()).containsExactly("com.incapsula");
            assertThat(summary.isGuessed()).isTrue();
        }
    }

    @Test
    void aThreadThatOnlyWaitsForOthersIsNoHotSpot() throws Exception {
        Thread worker = threads.get(2);
        Thread main = new Thread(
                () -> {
                    try {
                        worker.join();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "boss-1");
        main.start();
        threads.add(main);
        sampler.setSampleTheseThreadsOnly(threads);
        sampler.init();
        SamplingReport found = patiently().until(this::afterSomeTicks, report -> {
            boolean waits = report.getSummary().getWaitsNanos() > 0;
            if (!waits) {
                report.close();
            }
            return waits;
        });
        try (found) {
            SamplingSummary summary = found.getSummary();
            assertThat(summary.getHotSpots())
                    .allSatisfy(spot -> assertThat(spot.getGroup()).isNotEqualTo("boss-"));
            assertThat(summary.toString())
                    .containsPattern(
                            " s by threads that only wait for others, most of it in …?.*\\(SummaryIT\\.java:\\d+\\), boss-\n");
        }
    }

    private static void assertWithinLimits(String summary) {
        List<String> lines = summary.lines().toList();
        assertThat(lines).hasSizeLessThanOrEqualTo(MAX_LINES);
        assertThat(lines)
                .allSatisfy(line ->
                        assertThat(line.codePointCount(0, line.length())).isLessThanOrEqualTo(MAX_COLUMNS));
    }

    @Test
    void aReportBeginsWithTheSummary() throws IOException {
        int sleeps = lineOf("sleeps");
        String summary;
        try (SamplingReport report = sampled(FAULTS)) {
            summary = report.getSummary().toString();
            assertThat(report.toString(ReportFormat.TOP))
                    .startsWith(summary + "\nTop ")
                    .contains(
                            " hot spots of ",
                            "percent ",
                            " active ms ",
                            " waiting ms  line\n",
                            " waiting ms  method\n");
            assertThat(report.toString(ReportFormat.TEXT)).contains("\n" + summary + "\nSampler account.\n");
        }
        assertWithinLimits(summary);
        assertThat(summary)
                .containsPattern(
                        " waiting +SummaryIT\\.audit\\(SummaryIT\\.java:" + sleeps + "\\) +Thread\\.sleep +audit-\n")
                .containsPattern(" blocked +SummaryIT\\.reserve\\(SummaryIT\\.java:(" + (lineOfLock() - 1) + "|"
                        + lineOfLock() + ")\\) +lock of SummaryIT\\$Stock, held in line " + sleeps + " by audit-\n")
                .containsPattern(" runn(?:ing|able)(?: \\d+ %)? +SummaryIT\\.compute\\(SummaryIT\\.java:"
                        + lineOf("computes") + "\\) +MessageDigest\\.update +import-\n");
    }

    @Test
    void theOutputerGetsItFirst() throws IOException {
        sampled(FAULTS).close();
        awaitTicks(sampler, TICKS);
        sampler.printReport();
        assertWithinLimits("Summary.\n" + recorder.last().summary());
        assertThat(recorder.last().summary())
                .contains(" s, 3 threads in 3 groups.", "your code: com.incapsula (guessed)");
        assertThat(recorder.calls()).startsWith("title", "summary", "account", "record");
    }

    @Test
    void itCanBeTurnedOff() throws IOException {
        sampler.setReportSummary(false);
        try (SamplingReport report = sampled(FAULTS)) {
            assertThat(report.toString(ReportFormat.TOP)).startsWith("Top ");
            assertThat(report.toString(ReportFormat.JSON)).doesNotContain("\"summary\"");
            assertThat(report.toString(ReportFormat.TEXT)).doesNotContain("Summary.");
            assertThat(report.getSummary().getHotSpots()).isNotEmpty();
        }
        awaitTicks(sampler, TICKS);
        sampler.printReport();
        assertThat(recorder.last().summary()).isEmpty();
        assertThat(recorder.calls()).startsWith("title", "account", "record");
    }

    @Test
    void byTheCpuClockThereAreNoStates() throws IOException {
        sampler.setClock(SamplingClock.CPU);
        try (SamplingReport report = sampled("cpu compute")) {
            SamplingHotSpot spot = spot(report.getSummary(), "cpu", "compute");

            assertThat(spot.getLine()).isEqualTo(lineOf("computes"));
            assertThat(report.getSummary().toString()).contains("\nCPU time ").doesNotContain("Idle:");
        }
    }
}
