// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Plan;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.work.Programs;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No stack of a running thread has a call that the byte code excludes: with both compilers, with C1 only, and
 * interpreted. If a frame were missing, the test would notice it.
 */
@Measures(besideOthers = true)
class OracleIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = LONG ? 10_000 : 1_000;
    private static final double MOST_PERCENT = 0.01;
    private static final double SIGMAS = 4;
    private static final double LEAST_WALKED_PERCENT = 99;
    private static final double LEAST_NOTICED_PERCENT = 50;
    private static final List<String> PROGRAMS = LONG
            ? Stream.concat(Stream.of(Programs.values()), Stream.of(MorePrograms.values()))
                    .map(Enum::name)
                    .toList()
            : List.of(
                    Programs.COLLECTIONS.name(),
                    Programs.SORTING.name(),
                    MorePrograms.DEOPTIMISATION.name(),
                    MorePrograms.CONTENTION.name());

    static List<String> settings() {
        return List.copyOf(Oracle.SETTINGS.keySet());
    }

    @ParameterizedTest
    @MethodSource("settings")
    void callsExist(String setting) throws Exception {
        Path jdk = Path.of(System.getProperty("java.home"));
        Plan plan = new Plan(List.of(jdk), MILLIS, 1, 1, Path.of("src-test-java"), null);
        List<String[]> lines = Oracle.measure(jdk, Oracle.SETTINGS.get(setting), PROGRAMS, plan, Peer.HYBRID);
        assertThat(lines).hasSize(PROGRAMS.size());
        SoftAssertions.assertSoftly(softly -> lines.forEach(cells -> check(softly, cells)));
    }

    private static void check(SoftAssertions softly, String... cells) {
        String name = String.join(" | ", cells);
        System.out.println(name);
        double stacks = Double.parseDouble(cells[Oracle.STACKS]);
        double calls = Double.parseDouble(cells[Oracle.CALLS]);
        double lost = Double.parseDouble(cells[Oracle.FAILED]) + Double.parseDouble(cells[Oracle.UNROOTED]);
        double changed = Double.parseDouble(cells[Oracle.CHANGED]);
        softly.assertThat(cells[2]).isEqualTo(" (HYBRID)");
        softly.assertThat(stacks).as(name).isPositive();
        /* The random error if MOST_PERCENT are impossible in the long run. */
        double most = calls * MOST_PERCENT / 100;
        softly.assertThat(Double.parseDouble(cells[Oracle.IMPOSSIBLE]))
                .as("impossible calls, " + name)
                .isLessThanOrEqualTo(1 + most + SIGMAS * Math.sqrt(most));
        softly.assertThat(stacks - lost)
                .as("walked to the root, " + name)
                .isGreaterThanOrEqualTo(stacks * LEAST_WALKED_PERCENT / 100 - 1);
        softly.assertThat(changed).as("stacks with a frame taken out, " + name).isPositive();
        softly.assertThat(Double.parseDouble(cells[Oracle.NOTICED]))
                .as("stacks with a frame missing that are noticed, " + name)
                .isGreaterThanOrEqualTo(changed * LEAST_NOTICED_PERCENT / 100);
    }
}
