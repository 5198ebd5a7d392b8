// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.testing.OutcomeTable;
import com.incapsula.sampler.testing.Report;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMX;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots, files, JFR and JMX of a real sampler. */
@Timeout(Samplers.HANG_SECONDS)
class SeeIT {

    private static final int MAX_CURSORS = 30;

    /** Records whole reports. */
    private static final class Notes implements SamplingOutputer {

        final List<Long> wallNanos = Collections.synchronizedList(new ArrayList<>());
        final List<String> titles = Collections.synchronizedList(new ArrayList<>());
        final List<String> whole = Collections.synchronizedList(new ArrayList<>());
        final StringBuffer text = new StringBuffer();

        @Override
        public void report(SamplingReport report) {
            wallNanos.add(report.getWallNanos());
            whole.add(report.toString(ReportFormat.TEXT));
        }

        @Override
        public void printIntervalTitle(String title) {
            titles.add(title);
            text.append('\n').append(title).append('\n');
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            text.append(threadTitle).append('\n').append(record).append('\n');
        }

        @Override
        public void printError(String message, Throwable cause) {
            text.append(message).append(cause);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    @TempDir
    private Path folder;

    private final Notes notes = new Notes();
    private final ThreadsSampler sampler = new ThreadsSampler();
    private final CountDownLatch done = new CountDownLatch(1);
    private Thread worker;

    @BeforeEach
    void prepare() {
        worker = new Thread(this::sleepUntilDone, "see-worker");
        worker.start();
        /* Waits, so that all time is at the line in which the thread waits. */
        Worker.awaitState(worker, Thread.State.WAITING);
        sampler.setSamplingFrequencyMillis(5);
        sampler.setReportFrequencySeconds(0);
        sampler.setThreadToBeSampled(worker);
        sampler.setReportJvmThreads(false);
        sampler.setSamplingOutputer(notes);
    }

    @AfterEach
    void end() throws Exception {
        sampler.close();
        done.countDown();
        worker.join();
    }

    private void sleepUntilDone() {
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- intervals ----

    @Test
    void manyCursorsDoNotAffectEachOther() {
        sampler.init();
        List<SamplingCursor> cursors = new ArrayList<>();
        for (int i = 0; i < MAX_CURSORS; i++) {
            cursors.add(sampler.openCursor());
        }
        assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(sampler::openCursor);
        cursors.get(0).close();
        assertThatIllegalStateException().isThrownBy(cursors.get(0)::next).withMessage("the cursor is closed");
        cursors.set(0, sampler.openCursor());
        cursors.forEach(cursor -> cursor.next().close());
        cursors.forEach(SamplingCursor::close);
    }

    @Test
    void everyReaderGetsAllTheTime() throws Exception {
        sampler.init();
        sampler.pauseSampling();
        long wall = 0;
        long cursorWall = 0;
        long before;
        try (SamplingReport early = sampler.snapshot()) {
            before = early.getWallNanos();
        }
        try (SamplingCursor cursor = sampler.openCursor();
                SamplingCursor atTheEnd = sampler.openCursor()) {
            sampler.resumeSampling();
            for (int i = 0; i < 5; i++) {
                long began = System.nanoTime();
                awaitTicks(sampler, 8);
                Duration inner = Duration.ofNanos(System.nanoTime() - began);
                try (SamplingReport snapshot = sampler.snapshot()) {
                    wall += snapshot.getWallNanos();
                    assertThat(snapshot.getElapsed()).isGreaterThanOrEqualTo(inner.minusMillis(5));
                }
                if (i % 2 == 0) {
                    try (SamplingReport next = cursor.next()) {
                        cursorWall += next.getWallNanos();
                    }
                }
            }
            sampler.pauseSampling();
            try (SamplingReport rest = sampler.snapshot();
                    SamplingReport next = cursor.next();
                    SamplingReport all = atTheEnd.next()) {
                wall += rest.getWallNanos();
                cursorWall += next.getWallNanos();
                assertThat(all.getWallNanos()).as("read once").isEqualTo(cursorWall);
                /* The JVM's own threads are in a group of their own, which is measured without polls. */
                long jvm = all.getGroups().stream()
                        .filter(group -> group.getName().equals(Report.JVM))
                        .mapToLong(SamplingGroup::getWallNanos)
                        .sum();
                assertThat(all.getGroups())
                        .filteredOn(group -> !group.getName().equals(Report.JVM))
                        .singleElement()
                        .satisfies(group -> {
                            assertThat(group.getName()).isEqualTo("see-worker");
                            assertThat(group.getThreads()).isEqualTo(1);
                            assertThat(group.getWallNanos()).isEqualTo(all.getWallNanos() - jvm);
                            assertThat(group.getPolls()).isEqualTo(all.getPolls());
                        });
                assertThat(all.getOutcomes().values().stream()
                                .mapToLong(Long::longValue)
                                .sum())
                        .isEqualTo(all.getPolls());
            }
        }
        sampler.close();
        assertThat(notes.wallNanos)
                .as("the report has all of it, whatever others took")
                .containsExactly(before + wall);
        assertThat(cursorWall).as("all that cursors have seen, too").isEqualTo(wall);
    }

    @Test
    void callersAtTheSameTimeShareOutTheTime() throws Exception {
        sampler.init();
        List<Long> walls = Collections.synchronizedList(new ArrayList<>());
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread caller = new Thread(() -> {
                for (int k = 0; k < 25; k++) {
                    try (SamplingReport report = sampler.snapshot()) {
                        walls.add(report.getWallNanos());
                    }
                }
            });
            callers.add(caller);
            caller.start();
        }
        for (Thread caller : callers) {
            caller.join();
        }
        sampler.pauseSampling();
        try (SamplingReport rest = sampler.snapshot()) {
            walls.add(rest.getWallNanos());
        }
        sampler.close();
        assertThat(walls).hasSize(101);
        assertThat(walls.stream().mapToLong(Long::longValue).sum()).isEqualTo(notes.wallNanos.get(0));
    }

    @Test
    void wholeReportSaysWhatTheTextSays() throws Exception {
        sampler.setReportPercent(true);
        sampler.setReportCpuTime(true);
        sampler.init();
        awaitTicks(sampler, 10);
        sampler.printReport();
        assertThat(notes.whole).hasSize(1);
        assertThat(notes.whole.get(0))
                .isEqualTo(notes.text.toString())
                .containsPattern(", CPU time\\(ms\\): \\d+, Percent: 100\\.0\n");
    }

    @Test
    void reportOutlivesItsSampler() throws Exception {
        sampler.init();
        awaitTicks(sampler, 10);
        SamplingReport report = sampler.snapshot();
        sampler.close();
        for (ReportFormat format : ReportFormat.values()) {
            Path file = folder.resolve("report." + format.getFileExtension());
            report.writeTo(format, file);
            assertThat(file).isNotEmptyFile();
        }
        assertThat(report.toString(ReportFormat.COLLAPSED)).startsWith("see-worker;java.lang.Thread.run(Thread.java:");
        assertThat(report.toString(ReportFormat.JSON)).startsWith("{\"format\":\"threads-sampler/1\"");
        report.close();
        assertThatIllegalStateException().isThrownBy(() -> report.toString(ReportFormat.TEXT));
    }

    @Test
    void mergedAndComparedReports() throws Exception {
        sampler.init();
        awaitTicks(sampler, 10);
        try (SamplingReport first = sampler.snapshot()) {
            awaitTicks(sampler, 10);
            try (SamplingReport second = sampler.snapshot();
                    SamplingReport both = SamplingReport.merge(first, second);
                    SamplingDiff diff = SamplingReport.diff(first, second)) {
                assertThat(both.getWallNanos()).isEqualTo(first.getWallNanos() + second.getWallNanos());
                assertThat(both.getFrom()).isEqualTo(first.getFrom());
                assertThat(both.getTill()).isEqualTo(second.getTill());
                assertThat(both.getElapsed()).isEqualTo(first.getElapsed().plus(second.getElapsed()));
                Path file = folder.resolve("diff.collapsed");
                diff.writeTo(ReportFormat.COLLAPSED, file);
                assertThat(Files.readAllLines(file))
                        .isNotEmpty()
                        .allMatch(line -> line.matches("(see-worker|\\[JVM\\]);.* \\d+ \\d+"));
                diff.writeTo(ReportFormat.HTML, folder.resolve("diff.html"));
                assertThat(folder.resolve("diff.html")).content().contains("{\"before\":{\"format\":");
            }
        }
    }

    @Test
    void pageHasWordsForEverythingInTheAccount() throws Exception {
        sampler.init();
        try (SamplingReport report = sampler.snapshot()) {
            String page = report.toString(ReportFormat.HTML);
            assertThat(Stream.of(report.getOutcomes(), report.getCounters()).flatMap(codes -> codes.keySet().stream()))
                    .hasSizeGreaterThan(30)
                    .containsExactlyElementsOf(OutcomeTable.codes())
                    .allMatch(code -> code.matches("[A-Z][A-Z_]+[A-Z]"))
                    .contains("THREAD_UNIDENTIFIED", "LATE_TICKS")
                    .allSatisfy(code -> assertThat(page).contains("\n    " + code + ": {\n"));
        }
    }

    @Test
    void streamThatFailsIsHeardAndTheReportIsStillGood() throws Exception {
        sampler.init();
        awaitTicks(sampler, 4);
        try (SamplingReport report = sampler.snapshot()) {
            for (ReportFormat format : ReportFormat.values()) {
                OutputStream full = new OutputStream() {
                    @Override
                    public void write(int value) throws IOException {
                        throw new IOException("no space left");
                    }
                };
                assertThatCode(() -> report.writeTo(format, full))
                        .isInstanceOf(IOException.class)
                        .hasMessage("no space left");
            }
            assertThat(report.toString(ReportFormat.TOP)).startsWith("Summary.\n");
        }
    }

    @Test
    void filesOfARunningSampler() throws Exception {
        FileSamplingOutputer files =
                new FileSamplingOutputer(folder.resolve("deep/report-%n.html").toString());
        files.setMaxFiles(2);
        sampler.setSamplingOutputer(files);
        sampler.init();
        for (int i = 0; i < 4; i++) {
            awaitTicks(sampler, 4);
            sampler.printReport();
        }
        sampler.close();
        try (Stream<Path> found = Files.list(folder.resolve("deep"))) {
            assertThat(found.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("report-4.html", "report-5.html");
        }
        assertThat(folder.resolve("deep/report-5.html")).content().contains("see-worker");
    }

    // ---- flight recorder ----

    private List<RecordedEvent> recorded(Recording recording) throws Exception {
        Path file = folder.resolve("recording.jfr");
        recording.stop();
        recording.dump(file);
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("threadsampler."))
                .collect(Collectors.toList());
    }

    private void runWithTwoReports() throws Exception {
        sampler.init();
        awaitTicks(sampler, 10);
        sampler.printReport();
        awaitTicks(sampler, 10);
        sampler.close();
    }

    @Test
    void eventsInTheFlightRecorder() throws Exception {
        sampler.setJfrEvents(true);
        try (Recording recording = new Recording()) {
            recording.start();
            runWithTwoReports();
            List<RecordedEvent> events = recorded(recording);

            List<RecordedEvent> intervals = named(events, "threadsampler.Interval");
            assertThat(intervals).hasSize(2);
            RecordedEvent first = intervals.get(0);
            assertThat(first.getDuration("wall").toNanos()).isEqualTo(notes.wallNanos.get(0));
            assertStatesAddUp(first);
            assertThat(first.getDuration("elapsed")).isGreaterThanOrEqualTo(Duration.ofMillis(30));
            assertThat(first.getInstant("till")).isEqualTo(intervals.get(1).getInstant("from"));
            assertThat(first.getLong("groups")).as("[JVM] is switched off").isEqualTo(1);
            assertThat(first.getLong("samples")).isPositive().isEqualTo(samplesIn(first.getString("account")));
            assertThat(first.getLong("polls")).isPositive();
            assertThat(first.getLong("memoryUsed")).isPositive();
            assertThat(first.getLong("memoryLimit")).isEqualTo(sampler.getMemoryLimitBytes());
            assertThat(first.getString("account")).contains("WALKED").contains("; TICKS: ");

            List<RecordedEvent> lines = named(events, "threadsampler.HotLine");
            assertThat(lines).isNotEmpty();
            assertThat(lines.get(0).getInt("rank")).isEqualTo(1);
            assertThat(lines.get(0).getString("line")).contains("park");
            assertThat(lines.get(0).getString("group")).isNotEmpty();
            assertThat(lines.get(0).getString("className")).endsWith(".Unsafe");
            assertThat(lines.get(0).getString("method")).isEqualTo("park");
            assertThat(lines.get(0).getInt("lineNumber")).as("a native method").isNegative();
            assertThat(lines.get(0).getFloat("share")).isBetween(0.5f, 1f);
            assertThat(lines.get(0).getDuration("wall").toNanos()).isLessThanOrEqualTo(notes.wallNanos.get(0));
            assertStatesAddUp(lines.get(0));
        }
    }

    /* A parked thread is either waiting or idle. */
    private static void assertStatesAddUp(RecordedEvent event) {
        assertThat(Stream.of("running", "runnable", "blocked", "io", "waiting", "idle")
                        .map(event::getDuration)
                        .reduce(Duration.ZERO, Duration::plus))
                .isEqualTo(event.getDuration("wall"));
        assertThat(event.getDuration("waiting").plus(event.getDuration("idle"))).isPositive();
    }

    private static long samplesIn(String account) {
        Map<String, Long> figures = Pattern.compile("(\\w+): (\\d+)")
                .matcher(account)
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> Long.valueOf(found.group(2))));
        return OutcomeTable.sum(figures, "walked", "idle", "recovered");
    }

    private static List<RecordedEvent> named(List<RecordedEvent> events, String name) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals(name))
                .toList();
    }

    @Test
    void recordingThatStartsLaterGetsThemToo() throws Exception {
        sampler.setJfrEvents(true);
        sampler.init();
        try (Recording recording = new Recording()) {
            recording.start();
            awaitTicks(sampler, 6);
            sampler.printReport();
            assertThat(named(recorded(recording), "threadsampler.Interval")).hasSize(1);
        }
    }

    @Test
    void eventsAreOffByDefaultAndSettingsSwitchThemOn() throws Exception {
        try (Recording silent = new Recording()) {
            silent.start();
            runWithTwoReports();
            assertThat(recorded(silent)).isEmpty();
        }
        try (Recording chosen = new Recording()) {
            chosen.enable("threadsampler.Interval");
            chosen.start();
            runWithTwoReports();
            assertThat(recorded(chosen))
                    .hasSize(2)
                    .allMatch(event -> event.getEventType().getName().equals("threadsampler.Interval"));
        }
    }

    @Test
    void settingsOfARecordingCanLeaveThemOut() throws Exception {
        sampler.setJfrEvents(true);
        try (Recording recording = new Recording()) {
            recording.disable("threadsampler.HotLine");
            recording.start();
            runWithTwoReports();
            assertThat(recorded(recording))
                    .hasSize(2)
                    .allMatch(event -> event.getEventType().getName().equals("threadsampler.Interval"));
        }
    }

    // ---- JMX ----

    @Test
    void beanOfARunningSampler() throws Exception {
        sampler.setJmxName("see");
        sampler.init();
        ThreadsSamplerMXBean bean = JMX.newMXBeanProxy(
                ManagementFactory.getPlatformMBeanServer(),
                new ObjectName("com.incapsula.sampler:type=ThreadsSampler,name=see"),
                ThreadsSamplerMXBean.class);
        assertThat(bean.top(1)).contains("Top ").contains("park");
        bean.pause();
        assertThat(sampler.isPaused()).isTrue();
        assertThat(bean.statistics()).containsKey("total.outcome.WALKED").containsKey("interval.counter.TICKS");
        assertThat(bean.statistics().entrySet().stream()
                        .filter(e -> e.getKey().startsWith("total.outcome."))
                        .mapToLong(e -> e.getValue())
                        .sum())
                .isEqualTo(bean.getPolls());
        assertThat(bean.dump()).contains("\nstate: running, not sampling\n", "\noutcome WALKED");
        bean.set("samplingFrequencyMillis", "7ms");
        bean.report();
        assertThat(bean.dump()).contains("\noption samplingFrequencyMillis: 7\n");
        assertThat(notes.titles).hasSize(1);
        assertThat(bean.getReportsWritten()).isEqualTo(1);
        assertThat(bean.getEngine()).isNotEmpty();
        bean.resume();
        assertThat(bean.isPaused()).isFalse();
        assertThat(TimeUnit.NANOSECONDS.toMillis(bean.getElapsedNanos())).isGreaterThanOrEqualTo(1_000);
    }
}
