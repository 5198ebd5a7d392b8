// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.internal.report.HotRows;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rows without the native library. */
class SamplingRowTest {

    private final int liveBefore = FakeSnapshot.LIVE.get();
    private final FakeSnapshot snapshot = new FakeSnapshot();
    private final SamplingReport report = new SamplingReport(snapshot, ReportOptions.standard(), SamplingStatus.NONE);
    private final SamplingGroup main = report.getGroups().get(0);

    @AfterEach
    void nothingIsHeld() {
        report.close();
        assertThat(FakeSnapshot.LIVE.get()).isEqualTo(liveBefore);
    }

    @Test
    void aRowHasItsFigures() {
        SamplingRow run = report.rows(main).get(0);
        assertThat(run.getClassName()).isEqualTo("a.A");
        assertThat(run.getMethodName()).isEqualTo("run");
        assertThat(run.getFileName()).isEqualTo("A.java");
        assertThat(run.getLine()).isEqualTo(7);
        assertThat(run.isPseudo()).isFalse();
        assertThat(run.isNativeMethod()).isFalse();
        assertThat(run.getWallNanos()).isEqualTo(4);
        assertThat(run.getOwnWallNanos()).isEqualTo(1);
        assertThat(run.getCpuNanos()).isEqualTo(3);
        assertThat(run.getOwnCpuNanos()).isEqualTo(1);
        assertThat(run.getSamples()).isEqualTo(2);
        assertThat(run.getOwnSamples()).isEqualTo(1);
        assertThat(run.getCalls()).isZero();
        assertThat(run.getMeasures()).containsExactlyEntriesOf(FakeSnapshot.measures(4, 3, 2, 0, 1));
        assertThat(run.getOwnMeasures()).containsExactlyEntriesOf(FakeSnapshot.measures(1, 1, 1, 0, 1));
        assertThat(run).hasToString("a.A.run(A.java:7)");
    }

    @Test
    void aRowKnowsTheErrorsOfItsTotals() {
        SamplingRow run = report.rows(main).get(0);
        assertThat(run.getError95("wall")).isEqualTo(new ErrorRange(3, 6));
        assertThat(new ErrorRange(3, 6).isExact()).isFalse();
        assertThat(run.getError95("samples")).isEqualTo(new ErrorRange(2, 2));
        assertThat(new ErrorRange(2, 2).isExact()).isTrue();
        assertThat(run.getError95("cpu")).isNull();
        assertThat(run.getError95("idle")).isNull();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> run.getError95("watt"))
                .withMessageStartingWith("measure must be one of [wall, cpu, ")
                .withMessageEndingWith("], got watt");
    }

    @Test
    void aRangeIsFromZeroUp() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ErrorRange(-1, 2))
                .withMessage("a range must be from 0 or more up, got -1 to 2");
        assertThatIllegalArgumentException().isThrownBy(() -> new ErrorRange(3, 2));
    }

    @Test
    void aFrameInBracketsIsNoMethod() {
        SamplingRow ended = report.rows(main).get(1);
        assertThat(ended.isPseudo()).isTrue();
        assertThat(ended.getClassName()).isEmpty();
        assertThat(ended.getMethodName()).isEqualTo("[thread ended]");
        assertThat(ended.getFileName()).isNull();
        assertThat(ended).hasToString("[thread ended]");
    }

    @Test
    void aNativeMethodHasNoLine() {
        SamplingRow read = report.rows(main).get(0).children().get(0);
        assertThat(read.isNativeMethod()).isTrue();
        assertThat(read.getLine()).isNegative();
        assertThat(read).hasToString("b.B.read(Native Method)");
        assertThat(read.children()).isEmpty();
    }

    @Test
    void aCountedGroupHasCalls() {
        assertThat(report.getCountedGroups()).extracting(SamplingGroup::getName).containsExactly("main");
        assertThat(report.rows(report.getCountedGroups().get(0)))
                .singleElement()
                .satisfies(row -> assertThat(row.getCalls()).isEqualTo(6))
                .hasToString("a.A.run(A.java), Calls: 6");
    }

    @Test
    void aStreamHasEachRowBeforeItsChildren() {
        assertThat(report.rows(main).stream().flatMap(SamplingRow::stream))
                .extracting(SamplingRow::getMethodName)
                .containsExactly("run", "read", "[thread ended]");
        assertThat(report.rows(main).stream()
                        .flatMap(SamplingRow::stream)
                        .mapToLong(SamplingRow::getOwnWallNanos)
                        .sum())
                .isEqualTo(main.getWallNanos());
    }

    @Test
    void aStreamReadsNoMoreThanItIsAskedFor() {
        List<SamplingRow> roots = report.rows(main);
        assertThat(snapshot.rowsRead).hasValue(1);
        Iterator<SamplingRow> rows = roots.get(0).stream().iterator();
        assertThat(rows.next().getMethodName()).isEqualTo("run");
        assertThat(snapshot.rowsRead).hasValue(1);
        assertThat(rows.next().getMethodName()).isEqualTo("read");
        assertThat(snapshot.rowsRead).hasValue(2);
        assertThat(rows).isExhausted();
    }

    @Test
    void rowsCanBeReadAfterCloseAndTheirChildrenCannot() {
        SamplingRow run = report.rows(main).get(0);
        Stream<SamplingRow> stream = run.stream();
        report.close();
        assertThat(run.getWallNanos()).isEqualTo(4);
        assertThat(run).hasToString("a.A.run(A.java:7)");
        assertThatIllegalStateException().isThrownBy(run::children).withMessage("the report is closed");
        assertThatIllegalStateException().isThrownBy(() -> stream.forEach(row -> {}));
        assertThatIllegalStateException().isThrownBy(() -> report.rows(main)).withMessage("the report is closed");
        assertThatIllegalStateException()
                .isThrownBy(() -> report.rows(report.getGroups().get(1)))
                .withMessage("the report is closed");
    }

    @Test
    void aGroupWithoutAStackHasNoRows() {
        assertThat(report.rows(report.getGroups().get(1))).isEmpty();
    }

    @Test
    void aGroupOfAnotherReportIsRefused() {
        try (SamplingReport other =
                new SamplingReport(new FakeSnapshot(), ReportOptions.standard(), SamplingStatus.NONE)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> report.rows(other.getGroups().get(0)))
                    .withMessage("group main is of another report");
        }
        assertThatIllegalArgumentException().isThrownBy(() -> report.rows(null)).withMessage("group must not be null");
    }

    @Test
    void hotRowsAddUpWhatRowsHaveThemselves() {
        assertThat(HotRows.of(report, group -> group.getName().equals("main")))
                .isEqualTo(Map.of("a.A.run(A.java:7)", 1L, "b.B.read(Native Method)", 3L, "[thread ended]", 1L));
        assertThat(HotRows.of(report, group -> false)).isEmpty();
    }

    @Test
    void hotRowsOfEqualTimeStandInTheOrderOfTheirTexts() {
        assertThat(HotRows.table(Map.of("a", 25_000_000L, "d", 50_000_000L, "b", 25_000_000L), 2))
                .isEqualTo(" 50.0 %       50.0 ms  d\n 25.0 %       25.0 ms  a\n");
        assertThat(HotRows.table(Map.of(), 2)).isEmpty();
    }

    @Test
    void listsCannotBeChanged() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> report.rows(main).clear());
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> report.getCountedGroups().clear());
    }
}
