// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.testing.Measures;
import counted.Work;
import java.io.IOException;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Times per call equal those of the program's own clock. {@link CallsTruthIT}, which compares two trees of one report,
 * holds beside other processes. This test needs evenly spaced ticks: a tick that waits for a CPU carries a multiple of
 * the time of others, so the random error exceeds what the number of ticks suggests.
 */
@Measures
class CallTimesTruthIT {

    /*
     * The random error in percent of a method's time. Each of n ticks hits the method or not, so the number of hits has
     * a variance of n * share * (1 - share). Successive ticks often hit the same long call, which makes the variance
     * smaller.
     */
    private static double allowedPercent(double share, long ticks) {
        double chance = 100 * CallsTruthIT.DEVIATIONS * Math.sqrt((1 - share) / (share * ticks));
        return CallsTruthIT.LONG ? CallsTruthIT.BAR : Math.max(CallsTruthIT.BAR, chance);
    }

    /* With this many ticks the random error is within the bar. */
    private static long ticksNeeded(double share) {
        return (long) Math.ceil(Math.pow(100 * CallsTruthIT.DEVIATIONS / CallsTruthIT.BAR, 2) * (1 - share) / share);
    }

    /** The methods take 1 us, 10 us, 1 ms and 100 ms a call, and each has the same share of the time. */
    @ParameterizedTest
    @EnumSource(names = {"SAMPLED", "EXACT"})
    void timesPerCallAreThoseOfTheProgramsClock(MethodTiming timing) throws IOException {
        boolean isSampled = timing == MethodTiming.SAMPLED;
        try (ThreadsSampler sampler = CallsTruthIT.counting(timing, "counted.Work.known")) {
            Work.Known known = new Work.Known();
            CallsTruthIT.warmUp(sampler, () -> Work.known(new Work.Known()));
            /* Exact times need no ticks, but the same time is needed to average out waits for a CPU. */
            long ticks = CallsTruthIT.run(sampler, ticksNeeded(1.0 / Work.METHODS.length), () -> Work.known(known));
            try (SamplingReport report = sampler.snapshot()) {
                String text = report.toString(ReportFormat.TEXT);
                double all = CallsTruthIT.countedMillis(report, "known");
                SoftAssertions.assertSoftly(softly -> {
                    for (int i = 0; i < Work.METHODS.length; i++) {
                        String method = Work.METHODS[i];
                        double allowed = isSampled
                                ? allowedPercent(CallsTruthIT.countedMillis(report, method) / all, ticks)
                                : CallsTruthIT.BAR;
                        double took = known.nanosOfCall(i) / 1000;
                        /*
                         * A wait for a CPU between a time stamp and the method's own reading is in only one of the two
                         * clocks. The time between two stamps also contains what the probes do between them, which is
                         * a part of all that is around the call: 45 ns were measured, of a call of a microsecond.
                         */
                        double around = (isSampled ? known.waitsOfCall(i) : known.aroundCall(i)) / 1000;
                        double perCall = CallsTruthIT.counted(text, method, "Time per call\\(us\\): ([0-9.]+)");
                        System.out.printf(
                                "%s %s: %.3f us by its own clock, %.3f counted, %+.2f %%, allowed %.2f,"
                                        + " %.3f us around it, %d ticks%n",
                                timing, method, took, perCall, 100 * (perCall / took - 1), allowed, around, ticks);
                        softly.assertThat(perCall)
                                .as(method)
                                .isBetween(took * (1 - allowed / 100), took * (1 + allowed / 100) + around);
                    }
                });
            }
        }
    }
}
