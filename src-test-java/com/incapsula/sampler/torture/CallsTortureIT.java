// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.torture;

import static com.incapsula.sampler.torture.TortureJvm.LONG;
import static com.incapsula.sampler.torture.TortureJvm.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls are counted in JVMs under conditions that are hard for that, for a moment each, or with {@code
 * -Dsampler.test.long=true} for a minute each. No call is lost if it can be counted, memory stays within its limit, and
 * at the end no class has probes and no thread or memory is left.
 */
class CallsTortureIT {

    private static final String MILLIS = LONG ? "60000" : "500";
    /* In the short form each scheme runs twice with each timing. */
    private static final String CYCLES = LONG ? "1000" : "18";

    private static final Path LIBRARY = Path.of("target", "native", "maven", "tests", "libprobed_classes.so")
            .toAbsolutePath();

    @TempDir
    private Path folder;

    /* Runs the JVM like a server, with both compilers. */
    private static void survives(String storm, String amount, String... options) throws Exception {
        assertThat(Files.exists(LIBRARY))
                .as(LIBRARY + ", of native/build.sh test --build target/native/maven")
                .isTrue();
        String output = ChildJvm.of(CallTorture.class)
                .withTestLibraries()
                .longer(PATIENCE)
                .likeAServer()
                .option(options)
                .run(storm, amount, LIBRARY.toString())
                .assertFine()
                .output();
        System.out.println(output);
        assertThat(output).endsWith("fine\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"CHURN", "LOADING", "RECURSION", "OVERFLOW"})
    void storm(String storm) throws Exception {
        survives(storm, MILLIS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"REDEFINITION", "MIXED"})
    void stormBesideAnAgentThatRedefinesClasses(String storm) throws Exception {
        survives(storm, MILLIS, "-javaagent:" + Redefinition.agent(folder));
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreads() throws Exception {
        survives("VIRTUAL", MILLIS);
    }

    @Test
    void startAndStopUnderFullLoad() throws Exception {
        survives(
                "START_STOP",
                CYCLES,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"); // has fewer structures to free and to create again
    }
}
