// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.entry;

import com.incapsula.sampler.internal.engine.FakeSnapshot;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Reports without the native library. */
class SamplingReportTest {

    private static final ReportOptions WHOLE =
            ReportOptions.standard().withMinPercent(0).withAccount(ReportAccount.FULL);
    private static final int FOLDED = 1 << 31;
    private static final ReportOptions OPTIONS =
            WHOLE.withOrder(ReportOrder.BY_TIME).withPercent(true);

    @TempDir
    private Path folder;

    private int liveBefore;
    private final FakeSnapshot snapshot = new FakeSnapshot();
    private final SamplingReport report = new SamplingReport(snapshot, OPTIONS, SamplingStatus.NONE);

    @BeforeEach
    void count() {
        liveBefore = FakeSnapshot.LIVE.get() - 1;
    }

    @AfterEach
    void nothingIsHeld() {
        report.close();
        assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore);
    }

    @Test
    void figures() {
        assertThat(report.getFrom()).isEqualTo(Instant.ofEpochMilli(1_000));
        assertThat(report.getTill()).isEqualTo(Instant.ofEpochMilli(61_000));
        assertThat(report.getElapsed()).isEqualTo(Duration.ofSeconds(59));
        assertThat(report.getOwnCpuNanos()).isEqualTo(7);
        assertThat(report.getMemoryUsedBytes()).isEqualTo(8);
        assertThat(report.getMemoryLimitBytes()).isEqualTo(9);
        assertThat(report.getPolls()).isEqualTo(10);
        assertThat(report.getNodes()).isEqualTo(11);
        assertThat(report.getWallNanos()).isEqualTo(12);
        assertThat(report.getCpuNanos()).isEqualTo(13);
        assertThat(report.getSamples()).isEqualTo(14);
        assertThat(report.getMeasures()).containsExactlyEntriesOf(FakeSnapshot.measures(12, 13, 14, 66, 77));
        assertThat(report.getOutcomes()).containsExactly(entry("taken", 6L), entry("failed", 0L));
        assertThat(report.getCounters()).containsExactly(entry("ticks", 4L));
        assertThat(report.getAccount()).containsExactly(entry("taken", 6L), entry("ticks", 4L));
        assertThat(report)
                .hasToString(
                        "SamplingReport[from=1970-01-01T00:00:01Z, till=1970-01-01T00:01:01Z, groups=2, samples=14]");
    }

    @Test
    void groups() {
        assertThat(report.getGroups()).extracting(SamplingGroup::getName).containsExactly("main", "pool");
        SamplingGroup pool = report.getGroups().get(1);
        assertThat(pool.getWallNanos()).isEqualTo(50);
        assertThat(pool.getCpuNanos()).isEqualTo(40);
        assertThat(pool.getSamples()).isEqualTo(30);
        assertThat(pool.getMeasures()).containsExactlyEntriesOf(FakeSnapshot.measures(50, 40, 30, 60, 70));
        assertThat(pool.getThreads()).isEqualTo(20);
        assertThat(pool.getMaxDepth()).isEqualTo(10);
        assertThat(pool.getPolls()).isEqualTo(90);
        assertThat(pool).hasToString("pool [wallNanos=50, cpuNanos=40, samples=30]");
    }

    @Test
    void figuresCanBeReadAfterCloseAndNothingElseCanBeDone() {
        report.close();
        report.close();
        assertThat(report.getSamples()).isEqualTo(14);
        assertThatIllegalStateException()
                .isThrownBy(() -> report.toString(ReportFormat.TEXT))
                .withMessage("the report is closed");
        assertThatIllegalStateException().isThrownBy(() -> report.writeTo(ReportFormat.TEXT, folder.resolve("x")));
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void closedWhileItIsWrittenItIsWrittenToTheEnd() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream() {
            @Override
            public synchronized void write(byte[] bytes, int offset, int length) {
                report.close();
                super.write(bytes, offset, length);
            }
        };
        report.writeTo(ReportFormat.TOP, out);
        assertThat(out.toString(StandardCharsets.UTF_8)).startsWith("TOP ");
    }

    @Test
    void formatsReachTheCoreWithTheOptionsOfTheSampler() {
        assertThat(report.toString(ReportFormat.TEXT)).isEqualTo("TEXT 0 " + (FOLDED | 9));
        assertThat(report.toString(ReportFormat.COLLAPSED)).startsWith("COLLAPSED 0 ");
        assertThat(report.toString(ReportFormat.SPEEDSCOPE)).startsWith("SPEEDSCOPE 0 ");
        assertThat(report.toString(ReportFormat.JSON)).startsWith("JSON 0 ");
        assertThat(report.toString(ReportFormat.TOP)).startsWith("TOP 0 ");
    }

    @Test
    void optionsReachTheCore() throws IOException {
        ReportOptions chosen = WHOLE.withMeasure(ReportMeasure.SAMPLES)
                .withCpuTime(true)
                .withZeroTimePackages(true)
                .withPercent(true)
                .withPercent(false);
        report.writeTo(ReportFormat.COLLAPSED, chosen, OutputStream.nullOutputStream());
        assertThat(snapshot.lastRequest).isEqualTo("COLLAPSED 2 514");
        assertThat(chosen.getMeasure()).isEqualTo(ReportMeasure.SAMPLES);
        assertThat(ReportOptions.standard().getMeasure()).isEqualTo(ReportMeasure.WALL);
    }

    @Test
    void smallRowsAndTheAccountReachTheCore() throws IOException {
        ReportOptions chosen = ReportOptions.standard();
        assertThat(requested(chosen)).isEqualTo("TEXT 0 " + (FOLDED | (5 << 20) | 128));
        assertThat(requested(chosen.withMinPercent(100))).isEqualTo("TEXT 0 " + (FOLDED | (1000 << 20) | 128));
        assertThat(requested(chosen.withMinPercent(12.3).withAccount(ReportAccount.FULL)))
                .isEqualTo("TEXT 0 " + (FOLDED | (123 << 20)));
        assertThat(requested(WHOLE.withAccount(ReportAccount.SHORT))).isEqualTo("TEXT 0 " + (FOLDED | 128));
        assertThatIllegalArgumentException()
                .as("it is not taken as 0")
                .isThrownBy(() -> chosen.withMinPercent(0.04))
                .withMessage("minPercent must be between 0 and 100, in steps of 0.1, got 0.04");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> chosen.withMinPercent(100.1))
                .withMessage("minPercent must be between 0 and 100, in steps of 0.1, got 100.1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> chosen.withMinPercent(Double.NaN))
                .withMessage("minPercent must be between 0 and 100, in steps of 0.1, got NaN");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> chosen.withAccount(null))
                .withMessage("account must not be null");
    }

    @Test
    void recursionsAreFoldedForPeopleOrAsIsAsked() throws IOException {
        for (ReportFormat format : ReportFormat.values()) {
            boolean isRead = format == ReportFormat.TEXT || format == ReportFormat.HTML;
            report.writeTo(format, WHOLE, OutputStream.nullOutputStream());
            assertThat(snapshot.lastRequest).endsWith(" 0 " + (isRead ? FOLDED : 0));
            report.writeTo(format, WHOLE.withFoldRecursion(true), OutputStream.nullOutputStream());
            assertThat(snapshot.lastRequest).endsWith(" 0 " + FOLDED);
            report.writeTo(format, WHOLE.withFoldRecursion(false).withPercent(true), OutputStream.nullOutputStream());
            assertThat(snapshot.lastRequest).endsWith(" 0 8");
        }
    }

    private String requested(ReportOptions options) throws IOException {
        report.writeTo(ReportFormat.TEXT, options, OutputStream.nullOutputStream());
        return snapshot.lastRequest;
    }

    @Test
    void formsOfFramesReachTheCore() throws IOException {
        ReportOptions slashes = WHOLE.withJavaSlashes(true);
        report.writeTo(ReportFormat.COLLAPSED, slashes, OutputStream.nullOutputStream());
        assertThat(snapshot.lastRequest).isEqualTo("COLLAPSED 0 32");
        report.writeTo(ReportFormat.COLLAPSED, slashes.withFrameTypes(true), OutputStream.nullOutputStream());
        assertThat(snapshot.lastRequest).isEqualTo("COLLAPSED 0 96");
        report.writeTo(
                ReportFormat.COLLAPSED,
                slashes.withFrameTypes(true).withJavaSlashes(false),
                OutputStream.nullOutputStream());
        assertThat(snapshot.lastRequest).isEqualTo("COLLAPSED 0 64");
    }

    @Test
    void pprofIsPackedAndTheStreamStaysOpen() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream() {
            @Override
            public void close() {
                throw new AssertionError("closed");
            }
        };
        report.writeTo(ReportFormat.PPROF, out);
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(out.toByteArray()))) {
            assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8)).startsWith("PPROF ");
        }
    }

    @Test
    void pageHasTheDataAndNoNetwork() {
        snapshot.document = "{\"data\":1}";
        assertThat(report.toString(ReportFormat.HTML))
                .startsWith("<!DOCTYPE html>")
                .contains("{\"data\":1}")
                .contains("connect-src 'none'")
                .endsWith("</html>\n");
    }

    @ParameterizedTest
    @EnumSource(ReportFormat.class)
    void everyFormatHasAnExtensionAndAMediaType(ReportFormat format) {
        assertThat(format.getFileExtension()).isNotEmpty().doesNotStartWith(".");
        assertThat(format.getMediaType()).contains("/");
        assertThat(format.isBinary()).isEqualTo(format == ReportFormat.PPROF || format == ReportFormat.OTLP);
    }

    @Test
    void fileAppearsWholeInPlaceOfTheOldOne() throws IOException {
        Path file = folder.resolve("report.txt");
        Files.writeString(file, "old");
        report.writeTo(ReportFormat.TEXT, file);
        assertThat(file).hasContent("TEXT 0 " + (FOLDED | 9));
        report.writeTo(ReportFormat.COLLAPSED, WHOLE.withMeasure(ReportMeasure.CPU), file);
        assertThat(file).hasContent("COLLAPSED 1 0");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @ParameterizedTest
    @CsvSource({"java.io.IOException", "java.lang.OutOfMemoryError", "java.lang.IllegalStateException"})
    void fileThatCannotBeWrittenLeavesTheOldOneAndNothingElse(Class<? extends Throwable> type) throws Exception {
        Path file = folder.resolve("report.txt");
        Files.writeString(file, "old");
        snapshot.failure = type.getConstructor(String.class).newInstance("no room");
        assertThatExceptionOfType(type)
                .isThrownBy(() -> report.writeTo(ReportFormat.TEXT, file))
                .withMessageContaining("no room");
        assertThat(file).hasContent("old");
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(file));
    }

    @Test
    void fileThatCannotBeMadeIsNamedWithTheReason() {
        Path file = folder.resolve("no/report.txt");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> report.writeTo(ReportFormat.TEXT, file))
                .withMessageStartingWith("cannot write " + file + ": java.nio.file.NoSuchFileException");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> report.writeTo(ReportFormat.TEXT, folder))
                .withMessage("cannot write " + folder + ": it is a folder");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aPipeIsNotReplacedByAFile() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString())
                        .inheritIO()
                        .start()
                        .waitFor())
                .isZero();
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> report.writeTo(ReportFormat.TEXT, pipe))
                .withMessage("cannot write " + pipe + ": it is not a regular file and cannot be replaced");
        assertThat(Files.readAttributes(pipe, BasicFileAttributes.class).isOther())
                .isTrue();
        assertThat(folder).isDirectoryNotContaining(path -> !path.equals(pipe));
    }

    @Test
    void fileIsWrittenByAnInterruptedThreadToo() throws IOException {
        Thread.currentThread().interrupt();
        report.writeTo(ReportFormat.TEXT, folder.resolve("x"));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(folder.resolve("x")).hasContent("TEXT 0 " + (FOLDED | 9));
    }

    @Test
    void textOfABinaryFormIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> report.toString(ReportFormat.PPROF))
                .withMessage("PPROF is no text");
    }

    @Test
    void nullsAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> report.writeTo(null, OutputStream.nullOutputStream()))
                .withMessage("format must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> report.writeTo(ReportFormat.TEXT, (OutputStream) null))
                .withMessage("out must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> report.writeTo(ReportFormat.TEXT, (Path) null))
                .withMessage("file must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SamplingReport.merge(report, null))
                .withMessage("b must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SamplingReport.diff(null, report))
                .withMessage("before must not be null");
        assertThatIllegalArgumentException().isThrownBy(() -> WHOLE.withMeasure(null));
        assertThatIllegalArgumentException().isThrownBy(() -> WHOLE.withOrder(null));
    }

    @Test
    void mergedReportIsOnItsOwn() {
        SamplingReport other = new SamplingReport(new FakeSnapshot(), OPTIONS, SamplingStatus.NONE);
        SamplingReport both = SamplingReport.merge(report, other);
        report.close();
        other.close();
        assertThat(both.getSamples()).isEqualTo(28);
        assertThat(both.toString(ReportFormat.JSON)).isEqualTo("+");
        both.close();
    }

    @Test
    void mergeAndDiffOfAClosedReportHoldNothing() {
        SamplingReport other = new SamplingReport(new FakeSnapshot(), OPTIONS, SamplingStatus.NONE);
        other.close();
        assertThatIllegalStateException().isThrownBy(() -> SamplingReport.merge(report, other));
        assertThatIllegalStateException().isThrownBy(() -> SamplingReport.diff(report, other));
        assertThatIllegalStateException().isThrownBy(() -> SamplingReport.diff(other, report));
    }

    // ---- differences ----

    private SamplingDiff diff(String before, String after) {
        FakeSnapshot second = new FakeSnapshot();
        snapshot.document = before;
        second.document = after;
        SamplingReport later = new SamplingReport(second, OPTIONS, SamplingStatus.NONE);
        try {
            return SamplingReport.diff(report, later);
        } finally {
            report.close();
            later.close();
        }
    }

    @Test
    void diffAsJsonIsBothReports() throws IOException {
        try (SamplingDiff diff = diff("{\"a\":1}", "{\"b\":2}")) {
            ByteArrayOutputStream json = new ByteArrayOutputStream();
            diff.writeTo(ReportFormat.JSON, json);
            assertThat(json).hasToString("{\"before\":{\"a\":1},\"after\":{\"b\":2}}");
            assertThat(snapshot.lastRequest).isEqualTo("JSON 0 0");
        }
    }

    @Test
    void diffAsAPageIsBothReportsWithoutNodesAndSummaryAndTheTree() throws IOException {
        try (SamplingDiff diff = diff("{\"a\":1}", "{\"b\":2}")) {
            diff.writeTo(ReportFormat.HTML, folder.resolve("diff.html"));
            assertThat(folder.resolve("diff.html"))
                    .content()
                    .contains("{\"before\":{\"a\":1},\"after\":{\"b\":2},"
                            + "\"difference\":JSON 0 of {\"a\":1} and {\"b\":2}}");
            assertThat(snapshot.lastRequest).isEqualTo("JSON 0 20");
        }
    }

    @Test
    void diffAsTwoColumns() throws IOException {
        try (SamplingDiff diff = diff("first", "second")) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            Path file = folder.resolve("diff.collapsed");
            ReportOptions byCpu = WHOLE.withMeasure(ReportMeasure.CPU);
            diff.writeTo(ReportFormat.COLLAPSED, byCpu, out);
            assertThat(out).hasToString("COLLAPSED 1 of first and second");
            diff.writeTo(ReportFormat.COLLAPSED, byCpu, file);
            assertThat(file).hasContent("COLLAPSED 1 of first and second");
            diff.writeTo(ReportFormat.COLLAPSED, file);
            assertThat(file).hasContent("COLLAPSED 0 of first and second");
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ReportFormat.class,
            names = {"HTML", "COLLAPSED", "JSON"},
            mode = EnumSource.Mode.EXCLUDE)
    void formsThatCannotShowADifferenceAreRefused(ReportFormat format) {
        try (SamplingDiff diff = diff("", "")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> diff.writeTo(format, OutputStream.nullOutputStream()))
                    .withMessage("a difference can be written as HTML, COLLAPSED or JSON, not as " + format);
            assertThatIllegalArgumentException().isThrownBy(() -> diff.writeTo(format, folder.resolve("x")));
        }
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void closedDiffIsRefused() {
        SamplingDiff diff = diff("", "");
        diff.close();
        diff.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> diff.writeTo(ReportFormat.JSON, OutputStream.nullOutputStream()))
                .withMessage("the difference is closed");
    }

    private static SamplingReport with(String... status) {
        return new SamplingReport(new FakeSnapshot(), OPTIONS, SamplingStatus.of(List.of(status)));
    }

    @Test
    void itSaysHowStacksWereWalked() {
        try (SamplingReport walked = with("JVMTI", "ASYNC_WALK_REFUSED", "because", "CALLS_NOT_COUNTED", "why")) {
            assertThat(walked.getMode()).isEqualTo(SamplingMode.JVMTI);
            assertThat(walked.getLimitations())
                    .containsExactly(
                            new SamplingLimitation(SamplingLimitation.Code.ASYNC_WALK_REFUSED, "because"),
                            new SamplingLimitation(SamplingLimitation.Code.CALLS_NOT_COUNTED, "why"));
            assertThat(walked.isInert()).isFalse();
            assertThat(walked.getClock()).isEqualTo(SamplingClock.WALL);
        }
    }

    @Test
    void codesOfANewerEngineAreLeftOut() {
        try (SamplingReport walked = with("TOMORROW", "NEW_HERE", "x", "ASYNC_WALK_REFUSED", "because")) {
            assertThat(walked.getMode()).isEqualTo(SamplingMode.JVMTI);
            assertThat(walked.getLimitations())
                    .containsExactly(new SamplingLimitation(SamplingLimitation.Code.ASYNC_WALK_REFUSED, "because"));
        }
    }

    @Test
    void aMergedReportHasTheModeThatShowsLess() {
        try (SamplingReport own = with("OWN", "CALLS_NOT_COUNTED", "a");
                SamplingReport jvmti = with("JVMTI", "ASYNC_WALK_REFUSED", "b", "CALLS_NOT_COUNTED", "a");
                SamplingReport inert = with("INERT", "NOTHING_SAMPLED", "c");
                SamplingReport both = SamplingReport.merge(own, jvmti);
                SamplingReport same = SamplingReport.merge(inert, own)) {
            assertThat(inert.isInert()).isTrue();
            assertThat(both.getMode()).isEqualTo(SamplingMode.JVMTI);
            assertThat(both.getLimitations())
                    .extracting(each -> each.code() + " " + each.text())
                    .containsExactly("CALLS_NOT_COUNTED a", "ASYNC_WALK_REFUSED b");
            assertThat(same.getMode()).isEqualTo(SamplingMode.OWN);
            assertThat(same.getLimitations()).hasSize(1);
        }
    }

    @Test
    void optionsAreValues() {
        ReportOptions percent = ReportOptions.standard().withPercent(true);
        assertThat(percent)
                .isEqualTo(ReportOptions.standard().withPercent(true))
                .isNotEqualTo(ReportOptions.standard());
        assertThat(percent).hasSameHashCodeAs(ReportOptions.standard().withPercent(true));
        assertThat(percent.withMeasure(ReportMeasure.CPU)).isNotEqualTo(percent);
        assertThat(percent.withMeasureAlone(true)).isNotEqualTo(percent);
        assertThat(percent.withPercent(false)).isEqualTo(ReportOptions.standard());
        assertThat(report.getOptions()).isEqualTo(OPTIONS);
    }

    @Test
    void theMeasureAloneReachesTheCore() throws IOException {
        report.writeTo(
                ReportFormat.PPROF,
                ReportOptions.standard().withMeasure(ReportMeasure.CPU).withMeasureAlone(true),
                new ByteArrayOutputStream());
        assertThat(snapshot.lastRequest).startsWith("PPROF 257 ");
    }

    @Test
    void aFrameOfADifferenceMayHaveBlanks() {
        SamplingDiff.FrameDiff frame = SamplingDiff.FrameDiff.ofLine("my group;a.B.run(B.java:1);[no Java frames] 7 3");
        assertThat(frame).isEqualTo(new SamplingDiff.FrameDiff("[no Java frames]", 7, 3));
        assertThat(frame.difference()).isEqualTo(-4);
        assertThat(frame.plus(frame)).isEqualTo(new SamplingDiff.FrameDiff("[no Java frames]", 14, 6));
    }
}
