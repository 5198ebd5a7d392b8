// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.testing.Measures;
import counted.Work;
import java.io.IOException;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Times per call are those of the program's own clock. {@link CallsTruthIT} compares two trees of one report, whatever the
 * machine does beside. Here ticks must come evenly: if ticks wait for a CPU too, some of them carry many times the time of the
 * others, and chance is larger than their number says.
 */
@Measures
class CallTimesTruthIT {

    /*
     * Percent of the time of a method that so many ticks find in it. Each finds it or does not, so the number has a
     * variance of n * share * (1 - share). Ticks in a row find the same long call, and are closer than that.
     */
    private static double allowedPercent(double share, long ticks) {
        double chance = 100 * CallsTruthIT.DEVIATIONS * Math.sqrt((1 - share) / (share * ticks));
        return CallsTruthIT.LONG ? CallsTruthIT.BAR : Math.max(CallsTruthIT.BAR, chance);
    }

    /* With so many ticks chance is no more than the bar. */
    private static long ticksNeeded(double share) {
        return (long) Math.ceil(Math.pow(100 * CallsTruthIT.DEVIATIONS / CallsTruthIT.BAR, 2) * (1 - share) / share);
    }

    /** The methods take a microsecond, ten, a millisecond and a tenth of a second, and have equal parts of the time. */
    @ParameterizedTest
    @EnumSource(names = {"SAMPLED", "EXACT"})
    void timesPerCallAreThoseOfTheProgramsClock(MethodTiming timing) throws IOException {
        boolean isSampled = timing == MethodTiming.SAMPLED;
        try (ThreadsSampler sampler = CallsTruthIT.counting(timing, "counted.Work.known")) {
            Work.Known known = new Work.Known();
            CallsTruthIT.warmUp(sampler, () -> Work.known(new Work.Known()));
            /* Exact times need no ticks, but waits for a CPU even out as long. */
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
                        double waits = known.waitsOfCall(i) / 1000;
                        double perCall = CallsTruthIT.counted(text, method, "Time per call\\(us\\): ([0-9.]+)");
                        System.out.printf(
                                "%s %s: %.3f us by its own clock, %.3f counted, %+.2f %%, allowed %.2f,"
                                        + " %.3f us around it, %d ticks%n",
                                timing, method, took, perCall, 100 * (perCall / took - 1), allowed, waits, ticks);
                        /* A wait for a CPU between a stamp and the method's own reading is in one of both clocks only. */
                        softly.assertThat(perCall)
                                .as(method)
                                .isBetween(took * (1 - allowed / 100), took * (1 + allowed / 100) + waits);
                    }
                });
            }
        }
    }
}
