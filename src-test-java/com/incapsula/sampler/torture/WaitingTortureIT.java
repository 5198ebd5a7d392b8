// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.torture.TortureJvm.LONG;
import static com.incapsula.sampler.torture.TortureJvm.MILLIS;
import static com.incapsula.sampler.torture.TortureJvm.MORE_MILLIS;
import static com.incapsula.sampler.torture.TortureJvm.TEN_MINUTES;
import static com.incapsula.sampler.torture.TortureJvm.collectors;
import static com.incapsula.sampler.torture.TortureJvm.survives;
import static com.incapsula.sampler.torture.TortureJvm.with;
import static com.incapsula.sampler.torture.TortureJvm.withCollector;

import com.incapsula.sampler.testing.NativeWaits;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * As {@link HybridTortureIT}, for threads that wait for moments or end: their stacks are walked from outside while they
 * continue. If a thread has not run meanwhile, its walk is compared with JVMTI's. The last tests take ten minutes in
 * the long form.
 */
class WaitingTortureIT {

    static List<String> collectorsWhileCodeComesAndGoes() {
        return collectors("Serial", "G1", "Z", "Shenandoah");
    }

    @ParameterizedTest
    @MethodSource(TortureJvm.MOST_COLLECTORS)
    void waiting(String collector) throws Exception {
        survives(withCollector(collector), "WAITING", MILLIS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1"})
    void waitingInSlowerCode(String flag) throws Exception {
        survives(with(flag), "WAITING", MILLIS);
    }

    @ParameterizedTest
    @MethodSource("collectorsWhileCodeComesAndGoes")
    void waitingWhileCodeComesAndGoes(String collector) throws Exception {
        survives(
                withCollector(collector).option("-XX:ReservedCodeCacheSize=5m", "-XX:CompileThresholdScaling=0.1"),
                "WAITING_ON_THE_MOVE",
                MORE_MILLIS);
    }

    @Test
    void twoShapesOfOneSize() throws Exception {
        survives(with(), "SHAPES", TEN_MINUTES);
    }

    /* Reflection calls through native code, so that there are Java frames on both sides of it. */
    @ParameterizedTest
    @ValueSource(strings = {"-XX:TieredStopAtLevel=4", "-Xint", "-XX:TieredStopAtLevel=1"})
    void inAndOutOfNativeCode(String flag, @TempDir Path folder) throws Exception {
        survives(
                with(flag)
                        .option("-D" + NativeShapes.LIBRARY + "=" + NativeWaits.compile(folder))
                        .option("-Dsun.reflect.inflationThreshold=2147483647")
                        .option("-Djdk.reflect.useNativeAccessorOnly=true"),
                "NATIVE",
                LONG ? TEN_MINUTES : MORE_MILLIS);
    }

    @Test
    void threadsThatEndWhileTheyAreRead() throws Exception {
        survives(with(), "MORTAL", TEN_MINUTES);
    }
}
