// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.work.Programs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** For code whose stacks are hard to walk, few samples fail or do not reach the thread's root. */
@Measures(besideOthers = true)
class FailuresIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = LONG ? 10_000 : 700;
    /* In a short run a single poll may weigh as much as a collection, or a wait for a CPU, that lasted before it. */
    private static final double ONE_LOOK_MILLIS = LONG ? 0 : 50;
    private static final double MOST_PERCENT = 0.5;
    private static final double SIGMAS = 3;

    @TestFactory
    Collection<DynamicTest> programs() {
        List<DynamicTest> tests = new ArrayList<>();
        String plain = Stream.of(Programs.values())
                .filter(program -> program != Programs.ALLOCATION && program != Programs.SORTING)
                .map(Programs::name)
                .collect(Collectors.joining(","));
        tests.add(DynamicTest.dynamicTest("plain", () -> measure(plain, List.of())));
        tests.add(DynamicTest.dynamicTest("sorting, G1", () -> measure(Programs.SORTING.name(), Failures.flags("G1"))));
        for (String collector : Failures.COLLECTORS) {
            tests.add(DynamicTest.dynamicTest(
                    "allocation, " + collector, () -> measure(Programs.ALLOCATION.name(), Failures.flags(collector))));
        }
        return tests;
    }

    private static void measure(String programs, List<String> flags) throws Exception {
        List<String[]> lines = Jvm.of(Path.of(System.getProperty("java.home")), flags)
                .run(Failures.class, programs, MILLIS, 1, Peer.HYBRID);
        assertThat(lines).hasSize(programs.split(",").length);
        SoftAssertions.assertSoftly(softly -> {
            for (String[] cells : lines) {
                double weight = Double.parseDouble(cells[2]);
                double failed = 100 * Double.parseDouble(cells[3]) / weight;
                double unrooted = 100 * Double.parseDouble(cells[4]) / weight;
                long samples = Long.parseLong(cells[8]);
                System.out.printf(
                        "%s %s: of %.0f ms, %d samples, %.2f %% failed, %.2f %% without root %s %s%n",
                        cells[0], flags, weight, samples, failed, unrooted, cells[6], cells[7]);
                softly.assertThat(cells[6]).isEqualTo(" (HYBRID)");
                softly.assertThat(weight).as(cells[0]).isPositive();
                /* The random error if MOST_PERCENT fail in the long run. */
                double chance = SIGMAS * Math.sqrt(100 * MOST_PERCENT / samples) + 100 * ONE_LOOK_MILLIS / weight;
                softly.assertThat(failed)
                        .as("failed %, " + cells[0] + ": " + cells[7])
                        .isLessThanOrEqualTo(MOST_PERCENT + chance);
                softly.assertThat(unrooted)
                        .as("without root %, " + cells[0] + ": " + cells[7])
                        .isLessThanOrEqualTo(LONG ? 0 : 100 * ONE_LOOK_MILLIS / 10 / weight);
            }
        });
    }
}
