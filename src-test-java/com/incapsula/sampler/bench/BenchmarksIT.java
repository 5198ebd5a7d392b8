// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.bench.accuracy.VirtualThreads;
import com.incapsula.sampler.bench.cost.Unmounted;
import com.incapsula.sampler.bench.peer.Peer;
import com.incapsula.sampler.testing.Measures;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every benchmark runs for a moment with few threads, and fills its table. The measured values are not checked. */
@Measures
class BenchmarksIT {

    private static final Plan MOMENT = new Plan(
            List.of(Path.of(System.getProperty("java.home"))),
            60,
            1,
            0.02,
            Path.of("src-test-java").toAbsolutePath(),
            null);

    /* For these benchmarks only the programs that together run all their code. */
    private static final Map<String, String> ONLY = Map.of(
            "accuracy", "meSoHot.*",
            "cold-start", "BUSY",
            "counting", "PARSER",
            "failures", "SORTING",
            "oracle", "COLLECTIONS.*");

    private static final Set<String> OF_VIRTUAL_THREADS = Set.of("virtual-threads", "switch-rate");

    /* The measured values do not matter, so only C1 compiles. */
    @BeforeAll
    static void compileOnce() {
        System.setProperty(Jvm.FLAG_PROPERTY, "-XX:TieredStopAtLevel=1");
    }

    @AfterAll
    static void compileAsUsual() {
        System.clearProperty(Jvm.FLAG_PROPERTY);
    }

    static List<String> names() {
        int jdk = Runtime.version().feature();
        return Bench.programs().keySet().stream()
                .filter(name -> jdk >= VirtualThreads.FIRST_JDK || !OF_VIRTUAL_THREADS.contains(name))
                .filter(name -> jdk >= Unmounted.FIRST_JDK || !name.equals("unmounted"))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("names")
    void fillsItsTable(String name) throws Exception {
        List<Table> tables = Bench.programs().get(name).run(MOMENT, ONLY.getOrDefault(name, ".*"));
        assertThat(tables).isNotEmpty().allSatisfy(table -> {
            assertThat(table.body()).isNotEmpty();
            assertThat(table.body()).extracting(List::size).containsOnly(table.columns());
            assertThat(table.toString()).contains(Peer.HYBRID);
        });
    }
}
