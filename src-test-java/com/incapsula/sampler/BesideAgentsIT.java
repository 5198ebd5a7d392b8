// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AddedMembersProgram;
import com.incapsula.sampler.testing.AddingAgent;
import com.incapsula.sampler.testing.BesideAgentProgram;
import com.incapsula.sampler.testing.ChildJvm;
import counted.Work;
import io.opentelemetry.javaagent.OpenTelemetryAgent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import one.profiler.AsyncProfiler;
import org.jacoco.agent.rt.RT;
import org.jacoco.core.analysis.Analyzer;
import org.jacoco.core.analysis.CoverageBuilder;
import org.jacoco.core.tools.ExecFileLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Other agents change the classes whose calls are counted. They work as they do without counting, each call is counted
 * whichever of the two comes first, and in the end the class has its own bytes again.
 */
class BesideAgentsIT {

    /* JaCoCo records coverage at branches and returns, so it does not see methods that end with an exception. */
    private static final String[] COVERED = {"root", "leaf", "apply", "locked", "recurse", "even", "odd", "third"};
    private static final String[] NOT_COVERED = {"deeper", "hot", "mix", "known"};

    @TempDir
    private Path folder;

    private ChildJvm program(String... options) {
        return ChildJvm.of(BesideAgentProgram.class)
                .withTestLibraries()
                .with(AsyncProfiler.class)
                .option("-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading")
                .option(options);
    }

    private String run(ChildJvm program, String agent) throws Exception {
        String output = program.run(agent, folder.toString()).assertFine().output();
        assertThat(output).contains("\nfine\n");
        return output;
    }

    @Test
    void jacoco() throws Exception {
        Path results = folder.resolve("jacoco.exec");
        run(
                program("-javaagent:" + ChildJvm.placeOf(RT.class) + "=includes=counted.*,destfile=" + results),
                "FROM_THE_START");
        Map<String, Integer> covered = coveredInstructions(results);
        for (String method : COVERED) {
            assertThat(covered.get(method)).as(method).isPositive();
        }
        for (String method : NOT_COVERED) {
            assertThat(covered.get(method)).as(method).isZero();
        }
    }

    private static Map<String, Integer> coveredInstructions(Path results) throws IOException {
        ExecFileLoader loader = new ExecFileLoader();
        loader.load(results.toFile());
        CoverageBuilder coverage = new CoverageBuilder();
        new Analyzer(loader.getExecutionDataStore(), coverage)
                .analyzeAll(ChildJvm.placeOf(Work.class).resolve("counted").toFile());
        Map<String, Integer> covered = new TreeMap<>();
        coverage.getClasses().stream()
                .filter(type -> type.getName().equals("counted/Work"))
                .flatMap(type -> type.getMethods().stream())
                .forEach(method -> covered.put(
                        method.getName(), method.getInstructionCounter().getCoveredCount()));
        return covered;
    }

    /**
     * The agent adds a member with another name each time, so the JVM refuses to remove our probes, or to insert them.
     */
    @ParameterizedTest
    @ValueSource(strings = {"", "LATE"})
    void oneThatAddsMembers(String when) throws Exception {
        Path jar = folder.resolve("adding.jar");
        AddingAgent.writeJar(jar);
        String output = ChildJvm.of(AddedMembersProgram.class)
                .withTestLibraries()
                .option("-javaagent:" + jar)
                .run(when.isEmpty() ? new String[0] : new String[] {when})
                .assertFine()
                .output();
        assertThat(output).contains("fine\n");
    }

    /** -Xcheck:jni is off, because async-profiler's own use of JNI would fail it. */
    @Test
    void methodsOfAsyncProfiler() throws Exception {
        run(program("-XX:-CheckJNICalls"), "ASYNC_PROFILER");
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_25)
    void methodTimingOfTheFlightRecorder() throws Exception {
        run(program(), "METHOD_TIMING");
    }

    /** Each call of a method is a span. Long form only: the agent's start takes some seconds of CPU time. */
    @Test
    @EnabledIfSystemProperty(named = "sampler.test.long", matches = "true")
    void openTelemetry() throws Exception {
        String output = run(
                program(
                        "-XX:-CheckJNICalls", // the agent's own JNI
                        "-javaagent:" + ChildJvm.placeOf(OpenTelemetryAgent.class),
                        "-Dotel.instrumentation.common.default-enabled=false",
                        "-Dotel.instrumentation.methods.enabled=true",
                        "-Dotel.instrumentation.methods.include=counted.Work[root]",
                        "-Dotel.bsp.max.queue.size=1000000",
                        "-Dotel.traces.exporter=console",
                        "-Dotel.metrics.exporter=none",
                        "-Dotel.logs.exporter=none"),
                "FROM_THE_START");
        Matcher roots = Pattern.compile("^roots: (\\d+)$", Pattern.MULTILINE).matcher(output);
        assertThat(roots.find()).isTrue();
        assertThat(output.split("'Work.root' : ", -1)).hasSize(1 + Integer.parseInt(roots.group(1)));
    }
}
