// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.internal.engine.RawStatistics;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

class SamplerStatisticsTest {

    private final SamplerStatistics statistics = new SamplerStatistics(
            new RawStatistics(
                    "jvmti",
                    List.of("JVMTI", "ASYNC_WALK_REFUSED", "because"),
                    List.of(
                            "total.outcome.WALKED",
                            "total.outcome.THREAD_ENDED",
                            "interval.outcome.WALKED",
                            "total.counter.TICKS",
                            "total.counter.LATE_TICKS",
                            "interval.counter.TICKS",
                            "gauge.polls",
                            "gauge.intervalPolls",
                            "gauge.threads",
                            "gauge.nodes",
                            "gauge.locations",
                            "gauge.reportsWritten",
                            "gauge.memoryUsedBytes",
                            "gauge.memoryPeakBytes",
                            "gauge.memoryLimitBytes",
                            "gauge.ownCpuNanos",
                            "gauge.elapsedNanos",
                            "gauge.handlerSamplesTimed",
                            "gauge.handlerNanosTimed",
                            "gauge.handlerNanosMedian",
                            "figure.of.tomorrow"),
                    List.of(
                            11L, 0L, 3L, 7L, 1L, 2L, 12L, 4L, 5L, 6L, 8L, 9L, 10L, 13L, 14L, 15L, 16L, 17L, 34L, 1L,
                            99L)),
            SamplingClock.CPU);

    @Test
    void everyFigureHasItsGetter() {
        SoftAssertions.assertSoftly(softly -> {
            softly.assertThat(statistics.getEngine()).isEqualTo("jvmti");
            softly.assertThat(statistics.getPolls()).isEqualTo(12);
            softly.assertThat(statistics.getIntervalPolls()).isEqualTo(4);
            softly.assertThat(statistics.getThreads()).isEqualTo(5);
            softly.assertThat(statistics.getNodes()).isEqualTo(6);
            softly.assertThat(statistics.getLocations()).isEqualTo(8);
            softly.assertThat(statistics.getReportsWritten()).isEqualTo(9);
            softly.assertThat(statistics.getMemoryUsedBytes()).isEqualTo(10);
            softly.assertThat(statistics.getMemoryPeakBytes()).isEqualTo(13);
            softly.assertThat(statistics.getMemoryLimitBytes()).isEqualTo(14);
            softly.assertThat(statistics.getOwnCpuNanos()).isEqualTo(15);
            softly.assertThat(statistics.getElapsedNanos()).isEqualTo(16);
            softly.assertThat(statistics.getHandlerSamplesTimed()).isEqualTo(17);
            softly.assertThat(statistics.getHandlerNanosPerSample()).isEqualTo(2);
            softly.assertThat(statistics.getHandlerMedianNanos()).isEqualTo(1);
        });
    }

    @Test
    void outcomesAndCountersKeepTheOrderOfTheCore() {
        assertThat(statistics.getOutcomes().keySet()).containsExactly("WALKED", "THREAD_ENDED");
        assertThat(statistics.getOutcomes().values()).containsExactly(11L, 0L);
        assertThat(statistics.getIntervalOutcomes()).containsOnlyKeys("WALKED").containsValue(3L);
        assertThat(statistics.getCounters().keySet()).containsExactly("TICKS", "LATE_TICKS");
        assertThat(statistics.getIntervalCounters()).containsOnlyKeys("TICKS").containsValue(2L);
    }

    @Test
    void isImmutable() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> statistics.getOutcomes().put("WALKED", 1L));
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> statistics.getCounters().clear());
    }

    @Test
    void readsAsOneLineWithoutZeros() {
        assertThat(statistics)
                .hasToString(
                        "SamplerStatistics[engine=jvmti, polls=12, intervalPolls=4, threads=5,"
                                + " nodes=6, locations=8, reportsWritten=9, memoryUsedBytes=10, memoryPeakBytes=13,"
                                + " memoryLimitBytes=14, ownCpuNanos=15, elapsedNanos=16, handlerSamplesTimed=17, handlerNanosTimed=34,"
                                + " handlerNanosMedian=1, outcomes={WALKED=11}, intervalOutcomes={WALKED=3}, counters={TICKS=7, LATE_TICKS=1}, intervalCounters={TICKS=2}]");
    }

    @Test
    void theModeAndTheLimitationsAreData() {
        assertThat(statistics.getMode()).isEqualTo(SamplingMode.JVMTI);
        assertThat(statistics.isInert()).isFalse();
        assertThat(statistics.getClock()).isEqualTo(SamplingClock.CPU);
        assertThat(statistics.getLimitations())
                .containsExactly(new SamplingLimitation(SamplingLimitation.Code.ASYNC_WALK_REFUSED, "because"));
    }

    @Test
    void beforeTheStartAllIsZero() {
        SamplerStatistics none = new ThreadsSampler().getStatistics();
        assertThat(none.getEngine()).isEmpty();
        assertThat(none.getMode()).isEqualTo(SamplingMode.INERT);
        assertThat(none.getLimitations()).isEmpty();
        assertThat(none.getPolls()).isZero();
        assertThat(none.getHandlerNanosPerSample()).isZero();
        assertThat(none.getOutcomes()).isEmpty();
        assertThat(none).hasToString("SamplerStatistics[engine=]");
    }
}
