// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.HelloProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The classes that a JVM loads only because of the agent, from its start to the last report. Loading them is most of
 * the agent's cost. The counts differ by a few between JDKs, and hardly between runs.
 */
class AgentStartIT {

    /** Limits of loaded classes: the agent's own, the JDK's, and those of the JDK that are not in its archive. */
    private static final int MOST_OWN = 125;

    private static final int MOST_OF_JDK = 200;
    private static final int MOST_OF_JDK_FROM_ELSEWHERE = 125;

    /* The agent loads these only for options that need them, because a program may never use them itself. */
    private static final List<String> UNUSED = List.of(
            "com.incapsula.sampler.remote.",
            "com.incapsula.sampler.internal.server.",
            "com.sun.net.httpserver.",
            "java.lang.invoke.InnerClassLambdaMetafactory",
            "java.net.http.",
            "java.time.format.DateTimeFormatter",
            "java.util.Formatter",
            "java.util.logging.",
            "java.util.stream.ReferencePipeline",
            "javax.management.",
            "jdk.jfr.Event",
            "sun.util.calendar.ZoneInfo",
            "java.lang.ProcessHandleImpl");

    private static final int TRIES = 10;

    @TempDir
    Path folder;

    private List<String> loadedWith(String agent) throws Exception {
        Path log = folder.resolve("classes.log");
        ChildJvm.bare(HelloProgram.class.getName())
                .option("-cp", AgentJar.hello(folder).toString())
                .option("-Xlog:class+load:file=" + log + ":none", "-javaagent:" + agent)
                .run()
                .assertFine();
        List<String> lines = new ArrayList<>();
        for (String line : Files.readAllLines(log)) {
            if (line.contains(" source: ")) {
                lines.add(line);
            }
        }
        return lines;
    }

    /* Repeated, because on a busy machine the JVM may exit before the report is written. */
    private List<String> loadedUpToTheReport() throws Exception {
        String agent = AgentJar.in(folder) + "=file=" + folder + "/%p-%t.html";
        loadedWith(agent); // extracts the library
        for (int i = 0; i < TRIES; i++) {
            List<String> lines = loadedWith(agent);
            try (Stream<Path> files = Files.list(folder)) {
                if (files.anyMatch(file -> file.toString().endsWith(".html"))) {
                    return lines;
                }
            }
        }
        throw new AssertionError("no report");
    }

    private static String nameOf(String line) {
        return line.substring(0, line.indexOf(' '));
    }

    @Test
    void fewClassesAreLoaded() throws Exception {
        Set<String> before = new HashSet<>();
        for (String line : loadedWith(AgentJar.empty(folder).toString())) {
            before.add(nameOf(line));
        }
        List<String> own = new ArrayList<>();
        List<String> ofJdk = new ArrayList<>();
        List<String> fromElsewhere = new ArrayList<>();
        for (String line : loadedUpToTheReport()) {
            String name = nameOf(line);
            if (name.startsWith("com.incapsula.sampler.") && !name.contains(".testing.")) {
                own.add(name);
            } else if (!before.contains(name)) {
                ofJdk.add(name);
                if (!line.contains("source: shared objects file")) {
                    fromElsewhere.add(name);
                }
            }
        }
        assertThat(own).as("own").hasSizeLessThanOrEqualTo(MOST_OWN).contains(SamplingReport.class.getName());
        assertThat(own).noneMatch(name -> name.contains("$$") || UNUSED.stream().anyMatch(name::startsWith));
        assertThat(ofJdk)
                .as("of the JDK")
                .hasSizeLessThanOrEqualTo(MOST_OF_JDK)
                .noneMatch(name -> UNUSED.stream().anyMatch(name::startsWith));
        assertThat(fromElsewhere).as("not from the archive").hasSizeLessThanOrEqualTo(MOST_OF_JDK_FROM_ELSEWHERE);
    }
}
