// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Row;
import com.incapsula.sampler.testing.Worker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Reports of a real sampler as outputers receive them, compared byte by byte. Times are exact, because each single
 * sample counts as one interval. The C tests check the rules of the format.
 */
@ExtendWith(NothingLeft.class)
class ReportFormatIT {

    private static final String WORK = "com.incapsula.sampler.testing.work";

    @TempDir
    Path folder;

    private final Recorder recorder = new Recorder();
    private final ThreadsSampler sampler = quick(recorder);

    @AfterEach
    void close() throws IOException {
        sampler.close();
    }

    /* Initialised and inactive: only sampleOnceAndPrint takes samples, each credited with a second. */
    private void prepare(Worker... workers) {
        sampler.setSampleTheseThreadsOnly(
                Arrays.stream(workers).map(Worker::thread).toList());
        sampler.setSamplingFrequencyMillis(1000);
        sampler.setMonitoredPackages(WORK);
        sampler.setActive(false);
        sampler.init();
    }

    private static String row(String indentAndFrame, long cumulative, long method) {
        return String.format(
                "%-151s Cumulative time(ms): %d, Method time(ms): %d\n", indentAndFrame, cumulative, method);
    }

    private static String frame(Worker worker, String method) {
        return Arrays.stream(worker.thread().getStackTrace())
                .filter(frame -> (frame.getClassName() + "." + frame.getMethodName()).equals(method))
                .findFirst()
                .map(frame -> method + "(" + frame.getFileName() + ":" + frame.getLineNumber() + ")")
                .orElseThrow();
    }

    private static String expectedRows(Worker worker) {
        return row(frame(worker, "java.lang.Thread.run"), 1000, 0)
                + row("  " + frame(worker, WORK + ".Desk.serve"), 1000, 0)
                + row("    " + frame(worker, "java.util.concurrent.CountDownLatch.await"), 1000, 1000);
    }

    @Test
    void printStreamHasBlankLinesAroundTitleAndGroups() throws IOException {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        sampler.setSamplingOutputer(
                new PrintStreamSamplingOutputer(new PrintStream(printed, false, StandardCharsets.UTF_8)));
        try (Worker worker = Worker.waiting("desk-1")) {
            prepare(worker);
            sampler.sampleOnceAndPrint();
            sampler.close();
            String depth = maxDepthOf(printed.toString(StandardCharsets.UTF_8));
            String[] parts = printed.toString(StandardCharsets.UTF_8).split("(?=Aggregated thread: )");
            assertThat(parts).hasSize(2);
            assertThat(parts[0].replaceFirst("from .* till .*", "from X till Y"))
                    .matches("\nReport interval: from X till Y\n"
                            + "Summary.\n([^\n]+\n)+\n"
                            + "Sampler account.\n"
                            + "polls: 1\n"
                            + "samples: 1\n"
                            + "samples taken(, by a handshake)?: 1\n"
                            + "ticks: 1\n"
                            + "(longest [a-z ]+: \\d+ ms\n)*"
                            + "memory used: \\d+ of 67108864 bytes\n"
                            + "sampler's own CPU: \\d+ ms, \\d+\\.\\d\\d % of the interval\n\n");
            assertThat(parts[1])
                    .isEqualTo("Aggregated thread: desk-. Max depth: " + depth + ". Distinct threads: 1 [desk-1]\n"
                            + expectedRows(worker) + "\n");
        }
    }

    /** Such characters reverse or hide the text around them on a screen. */
    @ParameterizedTest
    @EnumSource(value = ReportFormat.class, mode = EnumSource.Mode.EXCLUDE, names = "CALLS") // has no group
    void noFormHasFormatCharactersOfNames(ReportFormat format) throws IOException {
        String[] hidden = {"\u00ad", "\u200b", "\u202e", "\u2066", "\u2069", "\ufeff", "\udb40\udc41"};
        sampler.setThreadNameManipulator(Thread::getName);
        try (Worker worker = Worker.waiting("not " + String.join("detceles", hidden))) {
            prepare(worker);
            sampler.sampleOnceAndPrint();
            try (SamplingReport report = sampler.snapshot()) {
                byte[] written = bytesOf(report, format);
                String bytes = new String(written, StandardCharsets.ISO_8859_1);
                assertThat(bytes.contains("202edetceles")).isTrue();
                for (String each : hidden) {
                    assertThat(bytes)
                            .doesNotContain(
                                    new String(each.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
                }
            }
        }
    }

    private static byte[] bytesOf(SamplingReport report, ReportFormat format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(format, out);
        if (format != ReportFormat.PPROF) {
            return out.toByteArray();
        }
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(out.toByteArray()))) {
            return in.readAllBytes();
        }
    }

    private static String maxDepthOf(String text) {
        return text.replaceFirst("(?s).*Max depth: (\\d+)\\..*", "$1");
    }

    @Test
    void loggerHasOneEventPerGroup() throws IOException {
        LoggerSamplingOutputer outputer = new LoggerSamplingOutputer();
        outputer.setLoggerName("the.report");
        sampler.setSamplingOutputer(outputer);
        try (Logged log = new Logged("the.report");
                Worker worker = Worker.waiting("desk-1")) {
            prepare(worker);
            sampler.sampleOnceAndPrint();
            sampler.close();
            List<String> events = log.texts();
            assertThat(events).hasSize(4);
            assertThat(events.get(0)).matches("Report interval: from .* till .*");
            assertThat(events.get(1)).startsWith("Summary.\n");
            assertThat(events.get(2)).startsWith("Sampler account.\npolls: 1\n");
            assertThat(events.get(3))
                    .isEqualTo("Aggregated thread: desk-. Max depth: " + maxDepthOf(events.get(3))
                            + ". Distinct threads: 1 [desk-1]\n" + expectedRows(worker));
        }
    }

    @Test
    void callsComeInOrder() throws IOException {
        try (Worker one = Worker.waiting("one");
                Worker two = Worker.waiting("two")) {
            prepare(one, two);
            sampler.sampleOnceAndPrint();
            sampler.close();
        }
        assertThat(recorder.calls())
                .containsExactly("title", "summary", "account", "record", "record", "flush", "close");
    }

    @Test
    void nothingIsPrintedWhenNothingWasSampled() throws IOException {
        Worker never = Worker.unstarted("never");
        sampler.setThreadToBeSampled(never.thread());
        sampler.setReportFrequencySeconds(1);
        sampler.init();
        awaitTicks(sampler, 300); // more than a second
        sampler.printReport();
        sampler.close();
        assertThat(recorder.calls()).containsExactly("close");
        assertThat(never.thread().isAlive()).isFalse();
    }

    /* The user's code begins where the worker's code begins, and ends one library frame below it. */
    @Test
    void guessedPackagesCutAsSetOnesDo() {
        try (Worker worker = Worker.waiting("desk-1")) {
            prepare(worker);
            sampler.setMonitoredPackages(" auto ");
            sampler.sampleOnceAndPrint();
            Report report = recorder.only();
            assertThat(report.summary()).contains("; your code: com.incapsula (guessed)\n");
            assertThat(report.group("desk-").rows())
                    .extracting(Row::frame)
                    .startsWith(frame(worker, "java.lang.Thread.run"))
                    .endsWith(
                            frame(worker, WORK + ".Desk.serve"),
                            frame(worker, "java.util.concurrent.CountDownLatch.await"));
        }
    }

    @Test
    void aFileHasAllReportsInUtf8AndIsAppendedTo() throws IOException {
        Path file = folder.resolve("report.log");
        Files.writeString(file, "before\n");
        sampler.setSamplingOutputer(new PrintStreamSamplingOutputer(file.toString()));
        try (Worker worker = Worker.waiting("Größe-\uD83D\uDE00")) {
            prepare(worker);
            sampler.sampleOnceAndPrint();
            sampler.sampleOnceAndPrint();
            sampler.close();
            sampler.init();
            sampler.sampleOnceAndPrint();
            sampler.close();
        }
        String text = Files.readString(file, StandardCharsets.UTF_8);
        assertThat(text).startsWith("before\n\nReport interval: from ");
        List<Report> reports = Report.parse(text.substring("before\n".length()));
        assertThat(reports)
                .hasSize(3)
                .allSatisfy(report -> assertThat(report.names()).containsExactly("Größe-\uD83D\uDE00"));
    }
}
