// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.torture.TortureJvm.LONG;
import static com.incapsula.sampler.torture.TortureJvm.MILLIS;
import static com.incapsula.sampler.torture.TortureJvm.MORE_MILLIS;
import static com.incapsula.sampler.torture.TortureJvm.PATIENCE;
import static com.incapsula.sampler.torture.TortureJvm.survives;
import static com.incapsula.sampler.torture.TortureJvm.with;
import static com.incapsula.sampler.torture.TortureJvm.withCollector;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The hybrid engine at an interval of a millisecond, in JVMs under conditions that are hard for it: for a moment each,
 * or with {@code -Dsampler.test.long=true} for a minute each, and all at once for an hour. Nothing crashes, the engine
 * stays the hybrid, each poll has one outcome, and no time is lost.
 */
class HybridTortureIT {

    private static final String CYCLES = LONG ? "2000" : "25";

    @TempDir
    private Path folder;

    @ParameterizedTest
    @MethodSource(TortureJvm.MOST_COLLECTORS)
    void collector(String collector) throws Exception {
        survives(withCollector(collector), "PROGRAMS", MILLIS);
    }

    @Test
    void withoutCompiler() throws Exception {
        survives(with("-Xint"), "PROGRAMS", MILLIS);
    }

    @Test
    void withTheFirstCompilerOnly() throws Exception {
        survives(with("-XX:TieredStopAtLevel=1"), "PROGRAMS", MILLIS);
    }

    @Test
    void deoptimisation() throws Exception {
        survives(with("-XX:CompileThresholdScaling=0.1"), "DEOPTIMISATION", MILLIS);
    }

    @Test
    void fullCodeCache() throws Exception {
        survives(
                withCollector("G1").option("-XX:ReservedCodeCacheSize=5m", "-XX:CompileThresholdScaling=0.1"),
                "CODE_CACHE",
                MILLIS);
    }

    @Test
    void redefinition() throws Exception {
        survives(with("-javaagent:" + Redefinition.agent(folder)), "REDEFINITION", MILLIS);
    }

    @Test
    void churn() throws Exception {
        survives(with(), "CHURN", MILLIS);
    }

    /* The heap has its final size from the start, so growth has another cause. */
    @Test
    void allAtOnce() throws Exception {
        survives(
                with(
                                "-Xms256m",
                                "-Xmx256m",
                                "-XX:+AlwaysPreTouch",
                                "-XX:CompileThresholdScaling=0.1",
                                "-XX:NativeMemoryTracking=summary")
                        .longer(PATIENCE.multipliedBy(LONG ? 3 : 1)),
                "MIXED",
                LONG ? "3600000" : MORE_MILLIS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POSIX_SPAWN", "VFORK", "FORK"})
    void forks(String mechanism) throws Exception {
        survives(with("-Djdk.lang.Process.launchMechanism=" + mechanism), "FORKS", MILLIS);
    }

    @Test
    void signalChainingWithoutItsLibrary() throws Exception {
        survives(with("-XX:+UseSignalChaining"), "PROGRAMS", MILLIS);
    }

    @Test
    void signalChainingWithItsLibrary() throws Exception {
        Path library = Path.of(System.getProperty("java.home"), "lib", "libjsig.so");
        survives(with("-XX:+UseSignalChaining").environment("LD_PRELOAD", library.toString()), "PROGRAMS", MILLIS);
    }

    @Test
    void startAndStopUnderFullLoad() throws Exception {
        survives(with(), "START_STOP", CYCLES);
    }

    @Test
    void otherSamplersRunBesideTheSampler() throws Exception {
        survives(with(), "BESIDE", MILLIS);
    }
}
