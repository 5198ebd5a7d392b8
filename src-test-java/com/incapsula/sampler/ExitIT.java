// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.ExitingProgram;
import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ways in which programs end; each time the last report is written. Each program runs in a JVM of its own. */
class ExitIT {

    private static final int COLD_STARTS = Boolean.getBoolean("sampler.test.long") ? 200 : 12;
    private static final int AT_ONCE = 2;

    @TempDir
    Path folder;

    private Path file(Object name) {
        return folder.resolve("report-" + name + ".log");
    }

    private ChildJvm.Running start(Path file, String end) throws IOException {
        return ChildJvm.of(ExitingProgram.class).start(file.toString(), end);
    }

    private static void assertWholeReport(Path file) throws IOException {
        String text = Files.readString(file);
        List<Report> reports = Report.parse(text);
        assertThat(reports).as(text).hasSize(1);
        Group main = reports.get(0).group("main");
        assertThat(main.cumulativeMillis()).as(text).isGreaterThanOrEqualTo(ExitingProgram.WORK_MILLIS - 1);
        assertThat(main.millisIn("java.lang.Thread.sleep")).as(text).isPositive();
        assertThat(reports.get(0).figure("polls")).isPositive();
        assertThat(text).contains(" % of the interval\n\n").matches("(?s).*time\\(ms\\): \\d+\n\n");
    }

    /**
     * close() directly after the work in a fresh JVM, which is then halted: only close() can have written the report.
     */
    @Test
    void theFileHoldsTheWholeReportAfterEachColdStart() throws Exception {
        for (int i = 0; i < COLD_STARTS; i += AT_ONCE) {
            List<ChildJvm.Running> running = new ArrayList<>();
            for (int j = i; j < i + AT_ONCE; j++) {
                running.add(start(file(j), "close and halt"));
            }
            for (int j = i; j < i + AT_ONCE; j++) {
                running.get(j - i).await().assertFine();
                assertWholeReport(file(j));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "close,           0",
        "end of main,     0",
        "exit,            3",
        "uncaught,        1",
        "close in a hook, 0",
    })
    void theLastReportIsWrittenOnceHoweverTheProgramEnds(String end, int status) throws Exception {
        ChildJvm.Result result = start(file(1), end).await();
        assertThat(result.exit()).as(result.output()).isEqualTo(status);
        assertWholeReport(file(1));
    }

    @Test
    void theLastReportIsWrittenAtSigterm() throws Exception {
        ChildJvm.Running running = start(file(1), "wait").awaitOutput("ending");
        running.process().destroy();
        assertThat(running.await().exit()).isEqualTo(128 + 15);
        assertWholeReport(file(1));
    }

    @Test
    void aStuckOutputerDoesNotKeepTheJvmFromItsExit() throws Exception {
        endWithAStuckOutputer();
    }

    @Test
    @Measures
    void aStuckOutputerHoldsTheExitUpForTwoSeconds() throws Exception {
        assertThat(endWithAStuckOutputer()).isBetween(1_900L, 4_000L);
    }

    /* Returns how long the end took, in milliseconds. */
    private long endWithAStuckOutputer() throws Exception {
        ChildJvm.Running running = start(file(1), "stuck").awaitOutput("ending");
        long start = System.nanoTime();
        ChildJvm.Result result = running.await();
        assertThat(result.exit()).as(result.output()).isZero();
        return (System.nanoTime() - start) / 1_000_000;
    }

    /**
     * The exit waits for the last report, which waits for the outputer, which waits for the exit: the wait ends after
     * two seconds.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {"periodic, exit in the outputer", "exit in the manipulator"})
    void exitInACallbackIsAnExit(String end) throws Exception {
        ChildJvm.Result result = start(file(1), end).await();
        assertThat(result.exit()).as(result.output()).isEqualTo(5);
    }
}
