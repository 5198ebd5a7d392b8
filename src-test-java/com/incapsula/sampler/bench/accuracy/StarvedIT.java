// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/**
 * Beside eight busy processes per processor, the phases have the same shares in the program's own clocks and in two
 * samplers at once, within two points at 3,000 stacks. No time is reported as a signal that was not answered.
 */
@Measures
class StarvedIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = LONG ? 20_000 : 4_000;
    private static final int STACKS = LONG ? 3_000 : 150;
    /* The bar is two and a half standard errors. A short run has 24 shares, one of which would exceed it too often. */
    private static final double CHANCE = LONG ? 1 : 2;

    private final Map<String, Map<String, double[]>> phases = new LinkedHashMap<>();
    private final Map<String, double[]> sums = new LinkedHashMap<>();
    private final Map<String, Double> rows = new LinkedHashMap<>();
    private final Map<String, Double> walks = new LinkedHashMap<>();

    @Test
    void sharesAreThoseOfTheProgramsOwnClocks() throws Exception {
        List<String> engines = new ArrayList<>();
        for (String[] cells : Jvm.of(Path.of(System.getProperty("java.home")), Starved.FLAGS)
                .on(BusyProcesses.lastCpu())
                .run(Starved.class, MILLIS, Starved.PROCESSES, STACKS)) {
            if (cells[0].equals(Starved.WALKS)) {
                engines.add(cells[2]);
                walks.merge(cells[1], Double.parseDouble(cells[3]), Double::sum);
            } else {
                add(cells);
            }
        }
        assertThat(engines).isNotEmpty().containsOnly("HYBRID");
        assertThat(walks).containsOnlyKeys(Peer.HYBRID, Starved.SECOND);
        assertThat(phases).hasSize(2 * walks.size());
        SoftAssertions.assertSoftly(softly -> phases.forEach((key, rows) -> check(softly, key, rows)));
    }

    private void add(String... cells) {
        String key = cells[0] + "\t" + cells[1];
        if (cells[2].startsWith("[")) {
            rows.merge(key + "\t" + cells[2], Double.parseDouble(cells[4]), Double::sum);
            return;
        }
        double[] row = phases.computeIfAbsent(key, name -> new LinkedHashMap<>())
                .computeIfAbsent(cells[2], phase -> new double[2]);
        double[] sum = sums.computeIfAbsent(key, name -> new double[2]);
        for (int i = 0; i < sum.length; i++) {
            row[i] += Double.parseDouble(cells[3 + i]);
            sum[i] += Double.parseDouble(cells[3 + i]);
        }
    }

    private double percentOf(String key, String row) {
        double of = rows.get(key + "\t" + row);
        return 100 * of / (sums.get(key)[1] + of);
    }

    private void check(SoftAssertions softly, String key, Map<String, double[]> phasesOfKey) {
        double[] sum = sums.get(key);
        double taken = walks.get(key.split("\t")[0]);
        double points = Starved.bar(taken);
        double unanswered = percentOf(key, Starved.UNANSWERED);
        double collected = percentOf(key, Starved.COLLECTED);
        double allowed = CHANCE * points + collected;
        System.out.printf(
                "%s: %.0f stacks, within %.2f points, %.2f %% not answered, %.2f %% collected%n",
                key, taken, CHANCE * points, unanswered, collected);
        softly.assertThat(unanswered).as("not answered, " + key).isLessThanOrEqualTo(Starved.UNANSWERED_BAR);
        phasesOfKey.forEach((phase, row) -> {
            double truth = 100 * row[0] / sum[0];
            double seen = 100 * row[1] / sum[1];
            System.out.printf("  %s: %.2f %% of the truth, %.2f %% seen%n", phase, truth, seen);
            softly.assertThat(seen - truth)
                    .as("error in points, " + key + " " + phase)
                    .isBetween(-allowed, allowed);
        });
    }
}
