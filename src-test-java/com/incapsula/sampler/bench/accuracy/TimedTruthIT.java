// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/** The sampler and the program's own clocks agree on the shares of phases, within a point at 10,000 polls. */
@Measures
class TimedTruthIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = LONG ? 12_000 : 3_000;
    private static final double POLLS_OF_A_POINT = 10_000;

    @Test
    void sharesAreThoseOfTheProgramsOwnClocks() throws Exception {
        List<String[]> lines = Jvm.of(Path.of(System.getProperty("java.home")), List.of())
                .run(TimedTruth.class, MILLIS, 1, "hybrid only");
        double polls = 0;
        Map<String, double[]> sums = new HashMap<>();
        for (String[] cells : lines) {
            if (cells[0].equals(TimedTruth.POLLS)) {
                assertThat(cells[2]).isEqualTo("HYBRID");
                polls = Double.parseDouble(cells[3]);
                continue;
            }
            double[] sum = sums.computeIfAbsent(cells[1], clock -> new double[2]);
            sum[0] += Double.parseDouble(cells[3]);
            sum[1] += Double.parseDouble(cells[4]);
        }
        assertThat(sums).containsOnlyKeys("wall", "CPU");
        /* The error of a share falls with the square root of the number of polls. */
        double points = Math.max(1, Math.sqrt(POLLS_OF_A_POINT / polls));
        /* Time in which a thread waits for a processor belongs to no phase. This is its share of the whole time. */
        double waited = LONG ? 0 : waited(lines);
        System.out.printf("%.0f polls, within %.2f points, waited %.2f %%%n", polls, points, waited);
        SoftAssertions.assertSoftly(softly -> {
            for (String[] cells : lines) {
                if (!cells[0].equals(TimedTruth.POLLS)) {
                    double[] sum = sums.get(cells[1]);
                    double allowed = points + (cells[1].equals("wall") ? waited : 0);
                    double truth = 100 * Double.parseDouble(cells[3]) / sum[0];
                    double seen = 100 * Double.parseDouble(cells[4]) / sum[1];
                    System.out.printf("%s %s: %.2f %% of the truth, %.2f %% seen%n", cells[1], cells[2], truth, seen);
                    softly.assertThat(seen - truth)
                            .as("error in points, " + cells[1] + " " + cells[2])
                            .isBetween(-allowed, allowed);
                }
            }
        });
    }

    private static double waited(List<String[]> lines) {
        double wall = 0;
        double work = 0;
        double cpu = 0;
        for (String[] cells : lines) {
            if (!cells[0].equals(TimedTruth.POLLS)) {
                wall += cells[1].equals("wall") ? Double.parseDouble(cells[3]) : 0;
                work += cells[1].equals("wall") && !cells[2].equals("sleep") ? Double.parseDouble(cells[3]) : 0;
                cpu += cells[1].equals("CPU") ? Double.parseDouble(cells[3]) : 0;
            }
        }
        return 100 * Math.max(0, work - cpu) / wall;
    }
}
