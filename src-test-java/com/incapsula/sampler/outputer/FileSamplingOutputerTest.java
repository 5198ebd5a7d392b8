// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.TimeZone;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FileSamplingOutputerTest {

    private static final int TILL = 1;
    private static final int ENDED = 5_000_000; // larger than any process id

    @TempDir
    private Path folder;

    private final FileSamplingOutputer outputer = new FileSamplingOutputer();

    private void write(String document) {
        write(document, Instant.parse("2026-11-20T10:00:00Z"));
    }

    private void write(String document, Instant till) {
        FakeSnapshot snapshot = new FakeSnapshot();
        snapshot.document = document;
        snapshot.figures[TILL] = till.toEpochMilli();
        try (SamplingReport report = Fakes.report(snapshot)) {
            outputer.report(report);
        }
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static Instant at(int hour, int minute, int second) {
        return LocalDateTime.of(2026, 11, 20, hour, minute, second).toInstant(ZoneOffset.UTC);
    }

    @Test
    void oneFileIsReplaced() throws IOException {
        outputer.setFile(folder.resolve("a/b/report.txt").toString());
        outputer.setFormat(ReportFormat.TEXT);
        write("one");
        write("two");
        assertThat(folder.resolve("a/b/report.txt")).hasContent("two");
        assertThat(folder.resolve("a/b")).isDirectoryNotContaining("glob:**.tmp");
    }

    @Test
    void standardFormIsThePage() throws IOException {
        outputer.setFile(folder.resolve("r.html").toString());
        write("{}");
        assertThat(folder.resolve("r.html")).content().startsWith("<!DOCTYPE html>");
    }

    @Test
    void theMeasureReachesTheReport() throws IOException {
        outputer.setFile(folder.resolve("r").toString());
        outputer.setFormat(ReportFormat.COLLAPSED);
        outputer.setMeasure(ReportMeasure.CPU);
        write("");
        assertThat(folder.resolve("r")).hasContent("COLLAPSED 1 " + FakeSnapshot.STANDARD_FLAGS);
    }

    @Test
    void aMeasureLeavesTheOtherOptions() throws IOException {
        outputer.setFile(folder.resolve("r").toString());
        outputer.setFormat(ReportFormat.TEXT);
        outputer.setMeasure(ReportMeasure.CPU);
        FakeSnapshot snapshot = new FakeSnapshot();
        try (SamplingReport report =
                Fakes.report(snapshot, ReportOptions.standard().withPercent(true))) {
            outputer.report(report);
        }
        assertThat(snapshot.lastRequest).isEqualTo("TEXT 1 " + (FakeSnapshot.TEXT_FLAGS | 8));
    }

    @Test
    void timesInNames() throws IOException {
        outputer.setFile(folder.resolve("100%%-%t.txt").toString());
        outputer.setFormat(ReportFormat.TEXT);
        write("one", at(9, 8, 7));
        write("two", at(9, 8, 7));
        write("three", at(9, 8, 7));
        write("four", at(9, 8, 8));
        assertThat(files())
                .containsExactly(
                        "100%-20261120-090807Z-2.txt",
                        "100%-20261120-090807Z-3.txt", "100%-20261120-090807Z.txt", "100%-20261120-090808Z.txt");
        assertThat(folder.resolve("100%-20261120-090807Z.txt")).hasContent("one");
        assertThat(folder.resolve("100%-20261120-090807Z-3.txt")).hasContent("three");
    }

    @Test
    void numbersGoOnWhereTheLastRunEnded() throws IOException {
        Files.writeString(folder.resolve("r-9.txt"), "");
        Files.writeString(folder.resolve("r-10.txt"), "");
        Files.writeString(folder.resolve("r-x.txt"), "");
        outputer.setFile(folder.resolve("r-%n.txt").toString());
        write("a");
        write("b");
        assertThat(files()).containsExactly("r-10.txt", "r-11.txt", "r-12.txt", "r-9.txt", "r-x.txt");
    }

    @Test
    void oldestGoFirstByNumberNotByText() throws IOException {
        outputer.setFile(folder.resolve("r-%n.txt").toString());
        outputer.setMaxFiles(3);
        for (int i = 0; i < 12; i++) {
            write("x");
        }
        assertThat(files()).containsExactly("r-10.txt", "r-11.txt", "r-12.txt");
    }

    @Test
    void oldestFilesAreDeletedFirstByTimeAndThenByNumber() throws IOException {
        outputer.setFile(folder.resolve("r-%t.txt").toString());
        outputer.setMaxFiles(2);
        write("a", at(9, 0, 0));
        write("b", at(10, 0, 0));
        write("c", at(10, 0, 0));
        assertThat(files()).containsExactly("r-20261120-100000Z-2.txt", "r-20261120-100000Z.txt");
        write("d", at(10, 0, 1));
        assertThat(files()).containsExactly("r-20261120-100000Z-2.txt", "r-20261120-100001Z.txt");
    }

    @Test
    void theLastFileStaysEvenIfTheClockWasSetBack() throws IOException {
        outputer.setFile(folder.resolve("r-%t.txt").toString());
        outputer.setMaxFiles(2);
        write("a", at(10, 0, 0));
        write("b", at(10, 30, 0));
        write("c", at(9, 45, 0));
        assertThat(files()).containsExactly("r-20261120-094500Z.txt", "r-20261120-103000Z.txt");
        assertThat(folder.resolve("r-20261120-094500Z.txt")).hasContent("c");
        outputer.setMaxTotalBytes(1);
        write("dd", at(9, 50, 0));
        assertThat(files()).containsExactly("r-20261120-095000Z.txt");
    }

    /** At the end of summer time, local times occur twice, and samplers in two time zones may share a folder. */
    @Test
    void timesInNamesAreOfNoZone() throws IOException {
        outputer.setFile(folder.resolve("r-%t.txt").toString());
        Instant secondHour = Instant.parse("2026-10-25T01:30:00Z"); // 02:30 in Berlin, for the second time
        TimeZone before = TimeZone.getDefault();
        try {
            TimeZone.setDefault(TimeZone.getTimeZone("Europe/Berlin"));
            write("a", secondHour.minusSeconds(1800)); // 02:00, for the second time
            write("b", secondHour.minusSeconds(3600)); // 02:30
            TimeZone.setDefault(TimeZone.getTimeZone("GMT-08:00"));
            write("c", secondHour);
        } finally {
            TimeZone.setDefault(before);
        }
        assertThat(files())
                .containsExactly("r-20261025-003000Z.txt", "r-20261025-010000Z.txt", "r-20261025-013000Z.txt");
    }

    /** Only files of ended processes count: a running process removes its own files. */
    @Test
    void filesOfEarlierProcessesAreOldOnes() throws Exception {
        Process running = new ProcessBuilder("sleep", "1000").start();
        try {
            String other = "r-" + running.pid() + "-20261120-080000Z.txt";
            Files.writeString(folder.resolve(other), "");
            Files.writeString(folder.resolve("r-" + ENDED + "-20261120-070000Z.txt"), "");
            Files.writeString(folder.resolve("r-" + ENDED + "-20261120-080000Z.txt"), "");
            outputer.setFile(folder.resolve("r-%p-%t.txt").toString());
            outputer.setMaxFiles(2);
            write("a", at(9, 0, 0));
            assertThat(files())
                    .containsExactlyInAnyOrder(
                            other,
                            "r-" + ENDED + "-20261120-080000Z.txt",
                            "r-" + ProcessHandle.current().pid() + "-20261120-090000Z.txt");
        } finally {
            running.destroyForcibly();
        }
    }

    @Test
    void filesOfEndedProcessesCountAsOldFiles() throws IOException {
        Path older = Files.writeString(folder.resolve("r-" + ENDED + ".txt"), "");
        Path newer = Files.writeString(folder.resolve("r-" + (ENDED - 1) + ".txt"), "");
        Files.setLastModifiedTime(older, FileTime.from(Instant.parse("2026-11-20T08:00:00Z")));
        Files.setLastModifiedTime(newer, FileTime.from(Instant.parse("2026-11-20T09:00:00Z")));
        outputer.setFile(folder.resolve("r-%p.txt").toString());
        outputer.setMaxFiles(2);
        write("a");
        assertThat(files())
                .containsExactlyInAnyOrder(
                        newer.getFileName().toString(),
                        "r-" + ProcessHandle.current().pid() + ".txt");
    }

    @Test
    void aStartRemovesWhatAJvmThatWasKilledHasLeft() throws IOException {
        List<String> left =
                List.of(".r-20261118-100000Z.html.1f.tmp", ".r-20261118-100000Z-2.html.ffffffffffffffff.tmp");
        List<String> others =
                List.of(".r-20261118-100000Z.txt.1f.tmp", ".r.html.1f.tmp", "r-20261118-100000Z.html.1f.tmp", ".x.tmp");
        for (String name : left) {
            makeOld(Files.createFile(folder.resolve(name)));
        }
        for (String name : others) {
            makeOld(Files.createFile(folder.resolve(name)));
        }
        Path beingWritten = Files.createFile(folder.resolve(".r-20261120-100000Z.html.2e.tmp"));
        outputer.setFile(folder.resolve("r-%t.html").toString());
        outputer.starting();
        assertThat(files())
                .doesNotContainAnyElementsOf(left)
                .containsAll(others)
                .hasSize(others.size() + 1);
        assertThat(beingWritten).exists();
    }

    private static void makeOld(Path file) throws IOException {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
    }

    @Test
    void totalSizeIsLimitedAndTheNewestStays() throws IOException {
        outputer.setFile(folder.resolve("r-%n").toString());
        outputer.setFormat(ReportFormat.TEXT);
        outputer.setMaxTotalBytes(10);
        write("12345");
        write("12345");
        assertThat(files()).containsExactly("r-1", "r-2");
        write("1234");
        assertThat(files()).containsExactly("r-2", "r-3");
        write("12345678901");
        assertThat(files()).containsExactly("r-4");
    }

    @Test
    void onlyItsOwnFilesAreRemoved() throws IOException {
        List<String> others =
                List.of("r-.txt", "r-1.txt.gz", "r-1a.txt", "xr-1.txt", "R-1.txt", "r-1234567890123456789.txt");
        for (String other : others) {
            Files.writeString(folder.resolve(other), "other");
        }
        Files.createDirectory(folder.resolve("r-2.txt"));
        Files.createSymbolicLink(folder.resolve("r-3.txt"), folder.resolve("xr-1.txt"));
        outputer.setFile(folder.resolve("r-%n.txt").toString());
        outputer.setMaxFiles(1);
        write("a");
        write("b");
        write("c");
        assertThat(files()).containsAll(others).contains("r-2.txt", "r-3.txt").hasSize(others.size() + 3);
    }

    @Test
    void charactersOfPatternsAreTakenAsTheyAre() throws IOException {
        outputer.setFile(folder.resolve("a.*(%n)[x]").toString());
        outputer.setMaxFiles(1);
        Files.writeString(folder.resolve("abc(1)x"), "");
        write("a");
        write("b");
        assertThat(files()).containsExactly("a.*(2)[x]", "abc(1)x");
    }

    @Test
    void fileThatCannotBeWrittenIsNamed() throws IOException {
        Files.writeString(folder.resolve("plain"), "");
        outputer.setFile(folder.resolve("plain/r.txt").toString());
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(() -> write("x"))
                .withMessageStartingWith("cannot make the folder " + folder.resolve("plain"));
        assertThat(files()).containsExactly("plain");
    }

    @Test
    void oldFileThatCannotBeRemovedIsNoReasonToFail() throws IOException {
        Path series = Files.createDirectory(folder.resolve("s"));
        outputer.setFile(series.resolve("r-%n").toString());
        write("a");
        /* For root this file is removable; then the test only shows that nothing fails. */
        Files.setPosixFilePermissions(series.resolve("r-1"), PosixFilePermissions.fromString("---------"));
        outputer.setMaxFiles(1);
        write("b");
        assertThat(series.resolve("r-2")).exists();
    }

    @Test
    void withoutAFileTheSamplerIsNotStarted() {
        String message = "FileSamplingOutputer needs a file: setFile(...) comes before init()";
        assertThatIllegalStateException().isThrownBy(() -> write("x")).withMessage(message);
        FakeSampler fake = new FakeSampler();
        ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
        sampler.setSamplingOutputer(outputer);
        assertThatIllegalStateException().isThrownBy(sampler::init).withMessage(message);
        outputer.setFile(folder.resolve("a/r-%n.txt").toString());
        sampler.init();
        assertThat(folder.resolve("a")).as("nothing is left of the check").isEmptyDirectory();
        sampler.shutdown();
    }

    /** Not even root can create a folder with the name of a file. */
    @Test
    void withAFileThatCannotBeWrittenTheSamplerIsNotStarted() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        outputer.setFile(file.resolve("r.html").toString());
        FakeSampler fake = new FakeSampler();
        ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
        sampler.setSamplingOutputer(outputer);
        assertThatExceptionOfType(UncheckedIOException.class)
                .isThrownBy(sampler::init)
                .withMessageStartingWith("cannot open " + file + "/r.html for writing: cannot make the folder " + file);
        sampler.setSamplingOutputer(
                new FileSamplingOutputer(folder.resolve("good.html").toString()));
        sampler.init();
        assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> sampler.setSamplingOutputer(outputer));
        assertThat(sampler.getSamplingOutputer()).as("the one it had").isNotSameAs(outputer);
        sampler.shutdown();
    }

    @ParameterizedTest
    @CsvSource({
        "r.txt, TEXT",
        "r-%t.top.txt, TOP",
        "r.collapsed, COLLAPSED",
        "r-%n.pb.gz, PPROF",
        "r-%n.otlp.pb, OTLP",
        "r.json, JSON",
        "r.speedscope.json, SPEEDSCOPE",
        "r.HTML, HTML",
        "r.log, HTML",
        "txt, HTML",
        "r.JSON, JSON"
    })
    void theFormFollowsTheExtension(String name, ReportFormat format) {
        outputer.setFile(folder.resolve(name).toString());
        assertThat(outputer.getFormat()).isEqualTo(format);
        outputer.setFormat(ReportFormat.TOP);
        assertThat(outputer.getFormat()).as("what is set comes first").isEqualTo(ReportFormat.TOP);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "r-%x|file may have %t, %n, %p, %h and %%, not %x, got r-%x",
                "r-%|file may have %t, %n, %p, %h and %%, not %, got r-%",
                "%n-%n|file must have %n once, got %n-%n",
                "%t/r|file must have %t and %n in the file's own name only, got %t/r",
                "/|file must name a file, got /",
                "r/|file must name a file, got r/",
                ".|file must name a file, got .",
                "java|file must name a file, got java",
            })
    void wrongNamesAreRefusedAtOnce(String file, String message) {
        outputer.setFile("before");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setFile(file))
                .withMessage(message);
        assertThat(outputer.getFile()).isEqualTo("before");
    }

    @Test
    void wrongValuesAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new FileSamplingOutputer(" "))
                .withMessage("file must not be blank");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setFile(null))
                .withMessage("file must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setFile("a\0b"))
                .withMessageStartingWith("file must be a path");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setFormat(null))
                .withMessage("format must not be null");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setMaxFiles(0))
                .withMessage("maxFiles must be between 1 and 1000000, got 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> outputer.setMaxTotalBytes(0))
                .withMessage("maxTotalBytes must be at least 1, got 0");
    }

    @Test
    void isABean() {
        assertThat(outputer.getFile()).isNull();
        assertThat(outputer.getFormat()).isEqualTo(ReportFormat.HTML);
        assertThat(outputer.getMeasure()).isNull();
        assertThat(outputer.getMaxFiles()).isEqualTo(100);
        assertThat(outputer.getMaxTotalBytes()).isEqualTo(256L << 20);
        outputer.setMaxFiles(5);
        outputer.setMaxTotalBytes(6);
        assertThat(outputer.getMaxFiles()).isEqualTo(5);
        assertThat(outputer.getMaxTotalBytes()).isEqualTo(6);
    }

    @Test
    void textCallsDoNothing() throws IOException {
        outputer.setFile(folder.resolve("r").toString());
        outputer.printIntervalTitle("title");
        outputer.printThreadRecord("thread", "rows");
        outputer.flush();
        outputer.close();
        assertThat(files()).isEmpty();
        write("x");
        assertThat(files()).containsExactly("r");
    }
}
