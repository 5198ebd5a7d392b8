// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The profiler, run by JMH itself. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class SamplerProfilerIT {

    private static final String LINE = ProfiledBenchmark.class.getName() + ".spin(ProfiledBenchmark.java:";

    @TempDir
    Path folder;

    /*
     * JMH refuses to run while another process on this machine runs it, as the tests of another checkout may. The
     * measured values do not matter here.
     */
    @BeforeAll
    static void runBesideOthers() {
        System.setProperty("jmh.ignoreLock", "true");
    }

    private RunResult run(int forks, String options) throws RunnerException {
        ChainedOptionsBuilder chosen = new OptionsBuilder()
                .include("\\." + ProfiledBenchmark.class.getSimpleName() + "\\.")
                .forks(forks)
                .warmupIterations(1)
                .warmupTime(TimeValue.milliseconds(50))
                .measurementIterations(2)
                .measurementTime(TimeValue.milliseconds(300))
                .verbosity(VerboseMode.SILENT)
                .addProfiler(SamplerProfiler.class, options + ";folder=" + folder);
        Collection<RunResult> results = new Runner(chosen.build()).run();
        assertThat(results).hasSize(1);
        return results.iterator().next();
    }

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void iterationsOfAForkAreOneResultAndOneFile() throws Exception {
        RunResult run = run(1, "interval=5;lines=3");
        Result<?> lines = run.getSecondaryResults().get("sampler");
        assertThat(lines.extendedInfo())
                .startsWith("The hottest lines of the worker threads")
                .contains(LINE)
                .contains("The whole report: " + folder);
        assertThat(lines.extendedInfo().lines().filter(line -> line.contains(" % ")))
                .hasSizeBetween(1, 3);
        assertThat(files()).singleElement().asString().endsWith(".html");
        Path file = folder.resolve(files().get(0));
        assertThat(file.getFileName().toString())
                .contains("ProfiledBenchmark.spin")
                .contains("seed-17");
        assertThat(file).content().contains("threads-sampler/1").contains("\"method\":\"spin\"");
    }

    @Test
    void withoutAForkNothingIsLeftBehind() throws Exception {
        RunResult run = run(0, "interval=5;format=none");
        assertThat(run.getSecondaryResults().get("sampler").extendedInfo())
                .contains(LINE)
                .doesNotContain("The whole report");
        assertThat(files()).isEmpty();
    }
}
