// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Intervals and whole reports, on a fake engine. */
class SnapshotApiTest {

    /** An outputer that does not take whole reports. */
    private static class TextOutputer implements SamplingOutputer {

        final List<String> calls = new ArrayList<>();

        @Override
        public void printIntervalTitle(String title) {
            calls.add("title");
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            calls.add("record");
        }

        @Override
        public void printError(String message, Throwable cause) {
            calls.add("error " + cause.getMessage());
        }

        @Override
        public void flush() {
            calls.add("flush");
        }

        @Override
        public void close() {}
    }

    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = new ThreadsSampler(fake.lifecycle());
    private final TextOutputer outputer = new TextOutputer();
    private final int liveBefore = FakeSnapshot.LIVE.get();

    @BeforeEach
    void useOutputer() {
        sampler.setSamplingOutputer(outputer);
    }

    @AfterEach
    void nothingIsHeld() throws IOException {
        sampler.close();
        assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore);
    }

    @Test
    void windowsAreKeptFromTheStartWhileAReaderIsOpen() throws IOException {
        RecentWindow early = sampler.openRecentWindow();
        assertThatIllegalStateException()
                .isThrownBy(() -> early.report(RecentWindow.Length.LAST_MINUTE))
                .withMessage("report() needs a running sampler: init() comes first");
        sampler.init();
        assertThat(fake.keepsWindows()).as("before a report").isTrue();
        RecentWindow late = sampler.openRecentWindow();
        for (RecentWindow.Length length : RecentWindow.Length.values()) {
            late.report(length).close();
        }
        assertThat(fake.calls())
                .containsExactly("start", "takeWindow 0", "takeWindow 1", "takeWindow 2", "takeWindow 3");
        late.close();
        late.close();
        assertThat(fake.keepsWindows()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> late.report(RecentWindow.Length.SINCE_START))
                .withMessage("the window is closed");
        sampler.close();
        sampler.init();
        assertThat(fake.keepsWindows()).as("started again").isTrue();
        early.report(RecentWindow.Length.SINCE_START).close();
        early.close();
        assertThat(fake.keepsWindows()).isFalse();
    }

    /** Each report tries again until there is memory for it. */
    @Test
    void aWindowThatCouldNotBeginBeginsWithAReport() {
        sampler.init();
        fake.onOpenReader(() -> {
            throw new OutOfMemoryError("for a test");
        });
        try (RecentWindow window = sampler.openRecentWindow()) {
            assertThatThrownBy(() -> window.report(RecentWindow.Length.SINCE_START))
                    .isInstanceOf(OutOfMemoryError.class);
            fake.onOpenReader(() -> {});
            window.report(RecentWindow.Length.SINCE_START).close();
            assertThat(fake.keepsWindows()).isTrue();
        }
    }

    /** Another thread opens the window while the engine starts; the sampler runs all the same. */
    @Test
    void aWindowOfAStartThatCouldNotBeginBeginsWithAReport() throws IOException {
        AtomicReference<RecentWindow> opened = new AtomicReference<>();
        fake.failToKeepWindowsFromStart(() -> opened.set(sampler.openRecentWindow()));
        sampler.init();
        fake.onOpenReader(() -> {});
        try (RecentWindow window = opened.get()) {
            window.report(RecentWindow.Length.SINCE_START).close();
        }
        assertThat(fake.calls()).containsExactly("start", "takeWindow 3");
        sampler.close();
        assertThat(fake.calls()).endsWith("stop", "destroy");
    }

    /** The close of the last window forgets the windows after another thread has opened one. */
    @Test
    void aWindowThatOpensWhileTheLastOneClosesHasReports() {
        sampler.init();
        RecentWindow last = sampler.openRecentWindow();
        AtomicReference<RecentWindow> opened = new AtomicReference<>();
        fake.onForgetWindows(() -> opened.set(sampler.openRecentWindow()));
        last.close();
        fake.onForgetWindows(() -> {});
        try (RecentWindow window = opened.get()) {
            window.report(RecentWindow.Length.SINCE_START).close();
            assertThat(fake.keepsWindows()).isTrue();
        }
        assertThat(fake.keepsWindows()).isFalse();
    }

    @Test
    void aWindowThatClosesDuringTheStartIsForgotten() {
        RecentWindow early = sampler.openRecentWindow();
        fake.onStart(early::close);
        sampler.init();
        assertThat(fake.keepsWindows()).isFalse();
    }

    /** The window closes after its report has begun: the report must not make the engine keep windows again. */
    @Test
    void aReportBesideTheCloseOfItsWindowKeepsNoWindows() {
        sampler.init();
        RecentWindow window = sampler.openRecentWindow();
        fake.onInterval(window::close);
        assertThatIllegalStateException().isThrownBy(() -> window.report(RecentWindow.Length.SINCE_START));
        assertThat(fake.keepsWindows()).isFalse();
    }

    @Test
    void aLengthIsWrittenAsItsCode() {
        assertThat(RecentWindow.Length.of("15m")).isSameAs(RecentWindow.Length.LAST_15_MINUTES);
        assertThat(RecentWindow.Length.LAST_5_MINUTES)
                .hasToString("the last 5 minutes")
                .extracting(RecentWindow.Length::getCode)
                .isEqualTo("5m");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RecentWindow.Length.of("0"))
                .withMessage("window must be one of 1m, 5m, 15m, start, got \"0\"");
    }

    @Test
    void snapshotUsesOneReaderAndACursorItsOwn() {
        sampler.init();
        sampler.snapshot().close();
        SamplingCursor cursor = sampler.openCursor();
        cursor.next().close();
        sampler.snapshot().close();
        cursor.close();
        cursor.close();
        assertThat(fake.calls())
                .containsExactly("start", "takeInterval 1", "takeInterval 2", "takeInterval 1", "closeReader 2");
    }

    /* Documents 1, 2, 3 and so on. The first one cannot be read at first, and the second one cannot be merged. */
    private static Supplier<FakeSnapshot> intervals(Error failureToRead, boolean failsToMerge) {
        AtomicInteger given = new AtomicInteger();
        return () -> {
            FakeSnapshot next = new FakeSnapshot();
            int number = given.incrementAndGet();
            next.document = String.valueOf(number);
            next.failureToRead = number == 1 ? failureToRead : null;
            next.failsToMergeOnce = number == 2 && failsToMerge;
            return next;
        };
    }

    private static void assertNext(Supplier<SamplingReport> call, String document) {
        try (SamplingReport report = call.get()) {
            assertThat(report.toString(ReportFormat.TOP)).isEqualTo(document);
        }
    }

    /** The engine returns each interval only once. */
    @Test
    void anIntervalThatCouldNotBeReadIsInTheNextReport() {
        sampler.init();
        try (SamplingCursor cursor = sampler.openCursor()) {
            for (Supplier<SamplingReport> call : List.<Supplier<SamplingReport>>of(sampler::snapshot, cursor::next)) {
                for (Error failure : List.of(new StackOverflowError("full"), new OutOfMemoryError("full"))) {
                    fake.setInterval(intervals(failure, false));
                    assertThatThrownBy(call::get).isSameAs(failure);
                    assertNext(call, "1+2");
                    assertNext(call, "3");
                }
            }
        }
    }

    @Test
    void intervalsThatCouldNotBeMergedAreInTheNextReport() {
        sampler.init();
        fake.setInterval(intervals(new StackOverflowError("full"), true));
        assertThatThrownBy(sampler::snapshot).hasMessage("full");
        assertThatThrownBy(sampler::snapshot).hasMessage("for a test");
        assertNext(sampler::snapshot, "1+2+3");
        assertNext(sampler::snapshot, "4");
    }

    @Test
    void aPeriodicReportThatCannotBeReadFailsAndIsReleased() {
        TextOutputer whole = new TextOutputer() {
            @Override
            public void report(SamplingReport report) {
                calls.add("report");
            }
        };
        sampler.setSamplingOutputer(whole);
        sampler.init();
        fake.setInterval(intervals(new StackOverflowError("full"), false));
        fake.writeReport();
        assertThat(whole.calls).containsExactly("error full");
    }

    @Test
    void closedCursorSaysSo() {
        sampler.init();
        SamplingCursor cursor = sampler.openCursor();
        cursor.close();
        assertThatIllegalStateException().isThrownBy(cursor::next).withMessage("the cursor is closed");
        assertThat(fake.calls()).doesNotContain("takeInterval 2");
    }

    @Test
    void reportOutlivesTheSampler() throws IOException {
        sampler.init();
        SamplingReport report = sampler.snapshot();
        sampler.close();
        assertThat(report.toString(ReportFormat.TOP)).startsWith("TOP");
        report.close();
    }

    @Test
    void reportsHaveTheOptionsOfTheSamplersOwn() {
        sampler.setReportPercent(true);
        sampler.setReportOrder(ReportOrder.BY_TIME);
        sampler.setReportZeroTimePackages(true);
        sampler.setReportMinPercent(2.5);
        sampler.setReportAccount(ReportAccount.FULL);
        sampler.init();
        try (SamplingReport report = sampler.snapshot()) {
            assertThat(report.toString(ReportFormat.TEXT))
                    .isEqualTo("TEXT 0 " + (FakeSnapshot.FOLDED | (25 << 20) | 11));
        }
    }

    @Test
    void withoutARunningSamplerTheCallsSaySo() throws IOException {
        assertThatIllegalStateException()
                .isThrownBy(sampler::snapshot)
                .withMessage("snapshot() needs a running sampler: init() comes first");
        assertThatIllegalStateException().isThrownBy(sampler::openCursor);
        sampler.init();
        SamplingCursor cursor = sampler.openCursor();
        sampler.close();
        assertThatIllegalStateException().isThrownBy(cursor::next);
        cursor.close();
        assertThatIllegalStateException().isThrownBy(sampler::snapshot);
    }

    @Test
    void outputerThatTakesWholeReportsGetsThemFirst() {
        TextOutputer whole = new TextOutputer() {
            @Override
            public void report(SamplingReport report) {
                calls.add("report " + report.getSamples() + " " + report.toString(ReportFormat.JSON));
            }
        };
        sampler.setSamplingOutputer(whole);
        sampler.init();
        fake.writeReport();
        assertThat(whole.calls)
                .containsExactly("report 14 JSON 0 " + FakeSnapshot.STANDARD_FLAGS, "title", "record", "flush");
    }

    @Test
    void reportIsClosedWhenTheOutputerReturns() {
        List<SamplingReport> kept = new ArrayList<>();
        sampler.setSamplingOutputer(new TextOutputer() {
            @Override
            public void report(SamplingReport report) {
                kept.add(report);
            }
        });
        sampler.init();
        fake.writeReport();
        assertThatIllegalStateException().isThrownBy(() -> kept.get(0).toString(ReportFormat.TEXT));
    }

    @Test
    void forOtherOutputersNoReportIsMade() {
        fake.setInterval(() -> {
            throw new AssertionError("no call needs it");
        });
        sampler.init();
        fake.writeReport();
        assertThat(outputer.calls).containsExactly("title", "record", "flush");
    }

    @Test
    void outputerThatFailsWithTheWholeReportGetsOneErrorAndNoText() {
        TextOutputer failing = new TextOutputer() {
            @Override
            public void report(SamplingReport report) {
                throw new StackOverflowError("deep");
            }
        };
        sampler.setSamplingOutputer(failing);
        sampler.init();
        fake.writeReport();
        assertThat(failing.calls).containsExactly("error deep");
    }

    @Test
    void fromTheOutputerTheyAreRefused() {
        List<Throwable> thrown = new ArrayList<>();
        List<SamplingCursor> cursors = new ArrayList<>();
        sampler.setSamplingOutputer(new TextOutputer() {
            @Override
            public void printIntervalTitle(String title) {
                for (Runnable call : List.<Runnable>of(
                        sampler::snapshot,
                        sampler::openCursor,
                        () -> cursors.get(0).next())) {
                    try {
                        call.run();
                    } catch (IllegalStateException e) {
                        thrown.add(e);
                    }
                }
            }
        });
        sampler.init();
        cursors.add(sampler.openCursor());
        fake.writeReport();
        assertThat(thrown).hasSize(3).allSatisfy(e -> assertThat(e).hasMessageContaining("would wait for itself"));
    }

    @Test
    void namesAreFixedWhileItRuns() throws IOException {
        sampler.setJmxName("  ");
        assertThat(sampler.getJmxName()).isNull();
        sampler.init();
        assertThatIllegalStateException()
                .isThrownBy(() -> sampler.setJmxName("x"))
                .withMessage("jmxName cannot be changed while the sampler runs");
        assertThatIllegalStateException()
                .isThrownBy(() -> sampler.setJfrEvents(true))
                .withMessage("jfrEvents cannot be changed while the sampler runs");
        sampler.close();
        sampler.setJfrEvents(true);
        assertThat(sampler.isJfrEvents()).isTrue();
    }
}
