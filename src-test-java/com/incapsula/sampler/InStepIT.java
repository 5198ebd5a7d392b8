// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Group;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Recorder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A program whose loop takes exactly one sampling interval. */
@ExtendWith(NothingLeft.class)
class InStepIT {

    private static final int INTERVAL_MILLIS = 20;
    private static final long HALF_NANOS = INTERVAL_MILLIS * 500_000L;

    /* With -Dsampler.test.long=true ten runs of 20 s instead of thirty of a second. */
    private static final boolean IS_LONG = Boolean.getBoolean("sampler.test.long");
    private static final int RUNS = IS_LONG ? 10 : 30;
    private static final int RUN_MILLIS = IS_LONG ? 20_000 : 1000;

    /*
     * The standard deviation of one run's share of the first half, simulated with gaps of 0.9 to 1.1 intervals. With
     * gaps of 0.5 to 1.5 it is 0.016 (long) and 0.071. test_schedule.c simulates more.
     */
    private static final double OF_A_TENTH = IS_LONG ? 0.075 : 0.293;

    private static void loop(AtomicBoolean end) {
        long begin = System.nanoTime();
        while (!end.get()) {
            first(begin + HALF_NANOS);
            second(begin + 2 * HALF_NANOS);
            begin += 2 * HALF_NANOS;
        }
    }

    private static void first(long end) {
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private static void second(long end) {
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    private static double deviation(List<Double> shares) {
        double mean = shares.stream().mapToDouble(Double::doubleValue).average().orElseThrow();
        double squares = shares.stream()
                .mapToDouble(share -> (share - mean) * (share - mean))
                .sum();
        return Math.sqrt(squares / (shares.size() - 1));
    }

    @Test
    @Measures
    void isMetInAllItsPhases() throws Exception {
        Recorder recorder = new Recorder();
        AtomicBoolean end = new AtomicBoolean();
        Thread thread = new Thread(() -> loop(end), "in step");
        thread.start();
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setSamplingFrequencyMillis(INTERVAL_MILLIS);
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingOutputer(recorder);
            sampler.setThreadToBeSampled(thread);
            sampler.init();
            for (int run = 0; run < RUNS; run++) {
                Thread.sleep(RUN_MILLIS);
                sampler.printReport();
            }
        } finally {
            end.set(true);
            thread.join();
        }
        List<Double> shares = new ArrayList<>();
        for (int run = 0; run < RUNS; run++) {
            Group group = recorder.reports().get(run).group("in step");
            double first = group.millisIn(InStepIT.class.getName() + ".first");
            shares.add(first / (first + group.millisIn(InStepIT.class.getName() + ".second")));
        }
        System.out.println("deviation " + deviation(shares) + " of " + shares);
        assertThat(deviation(shares)).isLessThanOrEqualTo(OF_A_TENTH / 3);
    }
}
