// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.Jvm;
import com.incapsula.sampler.bench.accuracy.MostlySleeping.Found;
import com.incapsula.sampler.bench.accuracy.MostlySleeping.Kind;
import com.incapsula.sampler.bench.accuracy.MostlySleeping.Phase;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * All work of threads that mostly sleep is found, however long they slept before. A ratio may differ from 1 by the
 * random error that follows from the number of samples in the measured time. The error is larger if ticks are rare,
 * because other processes use the processors.
 */
@Measures
class MostlySleepingIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int MILLIS = 10_000;
    private static final int LONG_MILLIS = 100_000;
    /* Enough threads for some hundred requests in a moment. */
    private static final String THREADS = "ONE=30,TWO=30";
    private static final double BAR = 0.05;
    private static final double SIGMAS = 4;
    private static final double SIGMAS_OF_ALL = 3;
    private static final double SIGMAS_OF_95_PERCENT = 1.96;
    /* The part of the total for which a thread was in another state than the one found at its last poll. */
    private static final double SHARE_UNDER_WAY = 0.02;

    /** The printed figures of one run. */
    private static final class Run {
        private final Map<Kind, Map<String, Found>> wall = new EnumMap<>(Kind.class);
        private double intervals = 1;
        private double elapsed;

        private Run(List<String[]> lines) {
            for (String[] cells : lines) {
                if (cells[0].equals(MostlySleeping.ACCOUNT)) {
                    System.out.println(cells[1]);
                    assertThat(cells[1]).contains("(HYBRID)");
                    elapsed = Double.parseDouble(cells[3]);
                    intervals = Math.max(1, elapsed / Double.parseDouble(cells[2]) / MostlySleeping.INTERVAL_MILLIS);
                    continue;
                }
                Found found = new Found(Double.parseDouble(cells[4]), Double.parseDouble(cells[5]));
                if (cells[3].equals(MostlySleeping.WALL)) {
                    wall.computeIfAbsent(Kind.valueOf(cells[1]), kind -> new HashMap<>())
                            .put(cells[2], found);
                }
                System.out.printf(
                        "%s %s, %s: truth %.0f ms, found %.0f ms, %.3f%n",
                        cells[1], cells[2], cells[3], found.truth(), found.found(), found.ratio());
            }
        }

        private Found of(Kind kind, Phase... phases) {
            Found sum = new Found(0, 0);
            for (Phase phase : phases) {
                sum = sum.plus(wall.get(kind).get(phase.name()));
            }
            return sum;
        }

        private double allowed(Found found, double sigmas) {
            return sigmas / SIGMAS_OF_95_PERCENT * found.chance() * Math.sqrt(intervals);
        }
    }

    private static Run run(int millis, String threads) throws Exception {
        Run run = new Run(Jvm.of(Path.of(System.getProperty("java.home")), List.of())
                .run(MostlySleeping.class, millis, threads, Peer.HYBRID));
        assertThat(run.wall).isNotEmpty();
        return run;
    }

    @TestFactory
    Collection<DynamicTest> idleTimes() {
        List<DynamicTest> tests = new ArrayList<>();
        tests.add(DynamicTest.dynamicTest(
                "in a moment", MostlySleepingIT::queriesAfterASleepAreFoundAndTotalsAreTheElapsedTime));
        if (LONG) {
            tests.add(DynamicTest.dynamicTest("quiet", MostlySleepingIT::requestsAfterAnySleepAreFound));
            tests.add(DynamicTest.dynamicTest(
                    "beside busy processes", MostlySleepingIT::requestsAfterAnySleepAreFoundBesideBusyProcesses));
        }
        return tests;
    }

    /** The exact amount depends on what else the machine does, so only the long forms check it. */
    private static void queriesAfterASleepAreFoundAndTotalsAreTheElapsedTime() throws Exception {
        Run run = run(MILLIS, THREADS);
        assertThat(run.of(Kind.ONE, Phase.QUERY)
                        .plus(run.of(Kind.TWO, Phase.QUERY))
                        .found())
                .isPositive();
        run.wall.forEach((kind, phases) -> {
            Found total = phases.values().stream().reduce(new Found(0, 0), Found::plus);
            assertThat(total.found())
                    .as("all time of " + kind)
                    .isBetween((1 - SHARE_UNDER_WAY) * total.truth(), (1 + SHARE_UNDER_WAY) * 30 * run.elapsed);
        });
    }

    private static void requestsAfterAnySleepAreFound() throws Exception {
        assertFound(run(LONG_MILLIS, MostlySleeping.ofEach(6)));
    }

    private static void requestsAfterAnySleepAreFoundBesideBusyProcesses() throws Exception {
        try (BusyProcesses busy =
                new BusyProcesses(Runtime.getRuntime().availableProcessors(), MostlySleeping.LONGEST_LOAD_SECONDS)) {
            assertFound(run(LONG_MILLIS, MostlySleeping.ofEach(6)));
        }
    }

    private static void assertFound(Run run) {
        SoftAssertions.assertSoftly(softly -> {
            Found queries = new Found(0, 0);
            Found requests = new Found(0, 0);
            for (Kind kind : Kind.values()) {
                if (kind == Kind.BURST) {
                    Found bursts = run.of(kind, Phase.COMPUTE);
                    assertFound(softly, "bursts", bursts, run.allowed(bursts, SIGMAS));
                    continue;
                }
                Found query = run.of(kind, Phase.QUERY);
                Found request = run.of(kind, Phase.PARSE, Phase.QUERY, Phase.RENDER);
                assertFound(softly, "queries, " + kind, query, run.allowed(query, SIGMAS));
                assertFound(softly, "requests, " + kind, request, run.allowed(request, SIGMAS));
                if (kind != Kind.TENTH) {
                    queries = queries.plus(query);
                    requests = requests.plus(request);
                }
            }
            assertFound(softly, "all queries", queries, run.allowed(queries, SIGMAS_OF_ALL));
            assertFound(softly, "all requests", requests, run.allowed(requests, SIGMAS_OF_ALL));
        });
    }

    private static void assertFound(SoftAssertions softly, String name, Found found, double allowed) {
        double most = Math.max(BAR, allowed);
        System.out.printf("%s: %.3f, allowed ± %.3f%n", name, found.ratio(), most);
        softly.assertThat(found.ratio()).as(name + ", found / truth").isBetween(1 - most, 1 + most);
    }
}
