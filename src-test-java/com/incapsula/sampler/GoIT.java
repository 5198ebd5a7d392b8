// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.GoProgram;
import com.incapsula.sampler.testing.Tool;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A Go library runs Java's threads on small stacks of its own; a signal handler on such a stack would overwrite memory.
 * One JVM runs for a moment, or with {@code -Dsampler.test.long=true} 20 JVMs for 20 s each.
 */
class GoIT {

    private static final boolean LONG = Boolean.getBoolean("sampler.test.long");
    private static final int RUNS = LONG ? 20 : 1;
    private static final int SECONDS = LONG ? 20 : 2;

    @TempDir
    static Path folder;

    private static Path library;

    @BeforeAll
    static void buildTheLibrary() throws Exception {
        String go = Tool.find("go");
        Path source = folder.resolve("go_work.go");
        library = folder.resolve("libgo_work.so");
        try (InputStream in = GoProgram.class.getResourceAsStream("go_work.go")) {
            Files.copy(in, source);
        }
        ProcessBuilder build = new ProcessBuilder(
                        go, "build", "-buildmode=c-shared", "-o", library.toString(), source.toString())
                .inheritIO();
        build.environment().putAll(Map.of("CGO_ENABLED", "1", "GOFLAGS", "", "GO111MODULE", "off"));
        build.environment().putIfAbsent("GOCACHE", folder.resolve("cache").toString());
        assertThat(build.start().waitFor()).as("go build").isZero();
    }

    private static ChildJvm.Running start(String how) throws Exception {
        return ChildJvm.of(GoProgram.class)
                .longer(Duration.ofSeconds(SECONDS))
                .start(library.toString(), String.valueOf(SECONDS), how);
    }

    @ParameterizedTest
    @ValueSource(strings = {"after", "afterCPU", "beforeCPU"})
    void aThreadInGoCodeIsSampled(String how) throws Exception {
        for (int i = 0; i < RUNS; i++) {
            start(how).await().assertSaysFine();
        }
    }

    /** Attaches with all options at their defaults. */
    @Test
    void theCommandLineAttaches() throws Exception {
        Path jar = AgentJar.in(folder);
        for (int i = 0; i < RUNS; i++) {
            ChildJvm.Running target = start("none").awaitOutput("ready");
            List<String> command = List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-jar",
                    jar.toString(),
                    String.valueOf(target.process().pid()),
                    "-d",
                    SECONDS + "s",
                    "-o",
                    folder.resolve("report.html").toString());
            Process attaching = new ProcessBuilder(command).inheritIO().start();
            target.await().assertSaysFine();
            attaching.waitFor();
        }
    }
}
