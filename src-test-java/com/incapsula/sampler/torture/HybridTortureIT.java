// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import com.incapsula.sampler.testing.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The hybrid engine at a millisecond in JVMs that do what is hard on it: for a moment each, or with
 * {@code -Dsampler.test.long=true} for a minute each, two of them for ten, all at once for an hour. No crash, the engine
 * stays the hybrid, each attempt has one outcome, and no time is lost.
 */
class HybridTortureIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final String MILLIS = LONG ? "60000" : "500";
    private static final String TEN_MINUTES = LONG ? "600000" : MILLIS;
    private static final String CYCLES = LONG ? "2000" : "25";

    private static final Duration PATIENCE = Duration.ofMinutes(LONG ? 30 : 2);

    @TempDir
    private Path folder;

    /* As servers run: with both compilers. Flags that follow win. */
    private static ChildJvm jvm(String... flags) {
        return ChildJvm.of(Torture.class)
                .withTestLibraries()
                .longer(PATIENCE)
                .option("-XX:TieredStopAtLevel=4")
                .option(flags);
    }

    private static void survives(ChildJvm jvm, String storm, String amount) throws Exception {
        jvm.run(storm, amount).assertSaysFine();
    }

    private static ChildJvm withCollector(String collector) throws Exception {
        return jvm().collector(collector);
    }

    /* The long form runs with all of them. */
    private static List<String> collectors(String... byDay) {
        return LONG ? List.of("Serial", "Parallel", "G1", "Z", "Shenandoah") : List.of(byDay);
    }

    static List<String> mostCollectors() {
        return collectors("Serial", "Parallel", "G1", "Z");
    }

    static List<String> collectorsWhileCodeComesAndGoes() {
        return collectors("Serial", "G1", "Z", "Shenandoah");
    }

    @ParameterizedTest
    @MethodSource("mostCollectors")
    void collector(String collector) throws Exception {
        survives(withCollector(collector), "PROGRAMS", MILLIS);
    }

    @Test
    void withoutCompiler() throws Exception {
        survives(jvm("-Xint"), "PROGRAMS", MILLIS);
    }

    @Test
    void withTheFirstCompilerOnly() throws Exception {
        survives(jvm("-XX:TieredStopAtLevel=1"), "PROGRAMS", MILLIS);
    }

    @Test
    void deoptimisation() throws Exception {
        survives(jvm("-XX:CompileThresholdScaling=0.1"), "DEOPTIMISATION", MILLIS);
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
        survives(jvm("-javaagent:" + Redefinition.agent(folder)), "REDEFINITION", MILLIS);
    }

    @Test
    void churn() throws Exception {
        survives(jvm(), "CHURN", MILLIS);
    }

    @ParameterizedTest
    @MethodSource("mostCollectors")
    void waiting(String collector) throws Exception {
        survives(withCollector(collector), "WAITING", MILLIS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1"})
    void waitingInSlowerCode(String flag) throws Exception {
        survives(jvm(flag), "WAITING", MILLIS);
    }

    @ParameterizedTest
    @MethodSource("collectorsWhileCodeComesAndGoes")
    void waitingWhileCodeComesAndGoes(String collector) throws Exception {
        survives(
                withCollector(collector).option("-XX:ReservedCodeCacheSize=5m", "-XX:CompileThresholdScaling=0.1"),
                "WAITING_ON_THE_MOVE",
                MILLIS);
    }

    /* The heap has its final size from the beginning: what grows is something else. */
    @Test
    void allAtOnce() throws Exception {
        survives(
                jvm(
                                "-Xms256m",
                                "-Xmx256m",
                                "-XX:+AlwaysPreTouch",
                                "-XX:CompileThresholdScaling=0.1",
                                "-XX:NativeMemoryTracking=summary")
                        .longer(PATIENCE.multipliedBy(LONG ? 3 : 1)),
                "MIXED",
                LONG ? "3600000" : MILLIS);
    }

    @Test
    void twoShapesOfOneSize() throws Exception {
        survives(jvm(), "SHAPES", TEN_MINUTES);
    }

    @Test
    void threadsThatEndWhileTheyAreRead() throws Exception {
        survives(jvm(), "MORTAL", TEN_MINUTES);
    }

    @ParameterizedTest
    @ValueSource(strings = {"POSIX_SPAWN", "VFORK", "FORK"})
    void forks(String mechanism) throws Exception {
        survives(jvm("-Djdk.lang.Process.launchMechanism=" + mechanism), "FORKS", MILLIS);
    }

    @Test
    void signalChainingWithoutItsLibrary() throws Exception {
        survives(jvm("-XX:+UseSignalChaining"), "PROGRAMS", MILLIS);
    }

    @Test
    void signalChainingWithItsLibrary() throws Exception {
        Path library = Path.of(System.getProperty("java.home"), "lib", "libjsig.so");
        survives(jvm("-XX:+UseSignalChaining").environment("LD_PRELOAD", library.toString()), "PROGRAMS", MILLIS);
    }

    @Test
    void startAndStopUnderFullLoad() throws Exception {
        survives(jvm(), "START_STOP", CYCLES);
    }

    @Test
    void otherSamplersBesideIt() throws Exception {
        survives(jvm(), "BESIDE", MILLIS);
    }
}
