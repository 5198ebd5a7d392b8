// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Joined outputers and actions in a real sampler. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class ComposedOutputersIT {

    @TempDir
    Path folder;

    private static final class Full extends Recorder {

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            throw new IllegalStateException("full");
        }
    }

    /** An interrupted action leaves its interrupt flag set. The flag must not affect the next report. */
    @Test
    void theReportAfterAnInterruptIsNotInterrupted() throws IOException {
        List<Boolean> interrupted = new ArrayList<>();
        try (ThreadsSampler sampler = quick(SamplingOutputer.of(report -> {
            interrupted.add(Thread.currentThread().isInterrupted());
            throw new InterruptedException("late");
        }))) {
            sampler.init();
            awaitTicks(sampler, 3);
            sampler.printReport();
            awaitTicks(sampler, 3);
        }
        assertThat(interrupted).containsExactly(false, false);
    }

    @Test
    void oneThatFailsKeepsNoOtherFromItsReport() throws IOException {
        Full full = new Full();
        Recorder healthy = new Recorder();
        List<Long> polls = new ArrayList<>();
        FileSamplingOutputer file =
                new FileSamplingOutputer(folder.resolve("report.html").toString());
        try (ThreadsSampler sampler =
                quick(full.and(healthy).and(file).and(SamplingOutputer.of(report -> polls.add(report.getPolls()))))) {
            sampler.init();
            awaitTicks(sampler, 3);
            sampler.printReport();
            assertThat(sampler.getStatistics().getCounters()).containsEntry("FAILED_REPORTS", 1L);
            awaitTicks(sampler, 3);
        }
        assertThat(healthy.reports()).hasSize(2);
        assertThat(healthy.failures()).isEmpty();
        assertThat(healthy.calls()).contains("account").endsWith("record", "flush", "close");
        assertThat(full.calls()).containsExactly("title", "error", "title", "error", "close");
        assertThat(full.failures())
                .allSatisfy(failure -> assertThat(failure.cause()).hasMessage("full"));
        assertThat(polls).hasSize(2).allMatch(number -> number > 0);
        assertThat(folder.resolve("report.html")).content().contains("threads-sampler/1");
    }

    @Test
    void noWholeReportIsMadeIfNoPartTakesOne() throws IOException {
        Recorder first = new Recorder();
        Recorder second = new Recorder();
        try (ThreadsSampler sampler = quick(first.and(second))) {
            sampler.init();
            awaitTicks(sampler, 3);
        }
        assertThat(first.calls()).startsWith("title").isEqualTo(second.calls());
        assertThat(first.only().title()).isEqualTo(second.only().title());
    }

    @Test
    void anActionReadsRowsWhileItRuns() throws IOException {
        List<String> roots = new ArrayList<>();
        try (ThreadsSampler sampler = quick(SamplingOutputer.of(report ->
                report.getGroups().forEach(group -> report.rows(group).forEach(row -> roots.add(row.toString())))))) {
            sampler.init();
            awaitTicks(sampler, 3);
        }
        assertThat(roots).anyMatch(root -> root.startsWith("java.lang.Thread.run("));
    }

    /**
     * The warning of init() is passed to the part that prints. It is in the log already, so the part that logs does not
     * get it.
     */
    @Test
    void aWarningGoesToThePartsThatDoNotLogIt() throws IOException {
        Recorder printed = new Recorder();
        try (Logged library = new Logged();
                Logged actions = new Logged(SamplingOutputer.class.getName());
                ThreadsSampler sampler = quick(printed.and(SamplingOutputer.of(report -> {})))) {
            Thread ended = new Thread(() -> {});
            ended.start();
            ended.join();
            sampler.setThreadToBeSampled(ended);
            sampler.init();
            assertThat(library.messages()).anyMatch(message -> message.contains("all chosen threads have ended"));
            assertThat(actions.messages()).isEmpty();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        assertThat(printed.failures()).hasSize(1);
        assertThat(printed.failures().get(0).message()).contains("all chosen threads have ended");
    }
}
