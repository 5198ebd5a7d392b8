// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.core.Context;
import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.IsolatedLogProgram;
import com.incapsula.sampler.testing.TwoLoadersProgram;
import com.incapsula.sampler.testing.UnawareProgram;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/**
 * The agent ({@code -javaagent}) in programs without the library on their class path. Each program runs in a JVM of its
 * own.
 */
class AgentIT {

    @TempDir
    static Path shared;

    private static Path jar;
    private static Path patience;

    @TempDir
    Path folder;

    @BeforeAll
    static void makeJar() throws IOException {
        jar = AgentJar.in(shared);
        patience = AgentJar.ofPatience(shared);
    }

    private static ChildJvm child() {
        return ChildJvm.bare(UnawareProgram.class.getName())
                .with(UnawareProgram.class)
                .option("-javaagent:" + patience);
    }

    private static ChildJvm child(String options) {
        return child().option("-javaagent:" + jar + options);
    }

    private static ChildJvm.Result runToEnd(ChildJvm child) throws Exception {
        ChildJvm.Running running = child.start().awaitOutput("ready");
        running.process().getOutputStream().close();
        return running.await().assertFine();
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.sorted().toList();
        }
    }

    private void assertOneReport(String namePattern) throws IOException {
        assertThat(files()).hasSize(1);
        assertThat(files().get(0).getFileName().toString()).matches(namePattern);
        assertThat(Files.readString(files().get(0)))
                .contains(UnawareProgram.WORKER + ";java.lang.Thread.run")
                .contains("main;com.incapsula.sampler.testing.UnawareProgram.main");
    }

    @Test
    void theReportIsWrittenWhenTheProgramEnds() throws Exception {
        ChildJvm.Running running = child("=interval=5ms,file=" + folder + "/%p-%n.collapsed")
                .start()
                .awaitOutput("ready");
        long process = running.process().pid();
        running.process().getOutputStream().close();

        String output = running.await().assertFine().output();

        assertOneReport(process + "-1\\.collapsed");
        assertThat(output)
                .contains("threads-sampler: runs since ")
                .contains(", with samplingFrequencyMillis=5ms, reports to " + folder + "/" + process
                        + "-%n.collapsed (collapsed) at the end\nready\n")
                .endsWith("end of main\n");
    }

    /** Environment variables alone start the agent, as an operator sets them for all JVMs of a container. */
    @Test
    void theEnvironmentAloneIsEnough() throws Exception {
        ChildJvm child = child().environment("JAVA_TOOL_OPTIONS", "-javaagent:" + jar)
                .environment("THREADS_SAMPLER_INTERVAL", "5ms")
                .environment("THREADS_SAMPLER_REPORT_CPU_TIME", "true")
                .environment("THREADS_SAMPLER_FILE", folder + "/%h-%t.collapsed")
                .environment("THREADS_SAMPLER_SERVICE_HOST", "10.0.0.1");

        String output = runToEnd(child).output();

        String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        assertOneReport(Pattern.quote(host) + "-\\d{8}-\\d{6}Z\\.collapsed");
        assertThat(output)
                .contains("with reportCpuTime=true, samplingFrequencyMillis=5ms")
                .contains("ignored, as no options: [THREADS_SAMPLER_SERVICE_HOST]");
    }

    @Test
    void theOptionsWinOverTheEnvironmentAndThatOverTheFile() throws Exception {
        Path config = Files.writeString(
                folder.resolve("sampler.properties"),
                "interval=7ms\nmonitoredPackages=com.acme,com.incapsula\noverheadLimitPercent=2.5\nto=none\n");
        ChildJvm child = child("=interval=9ms,config:" + config)
                .environment("THREADS_SAMPLER_INTERVAL", "8ms")
                .environment("THREADS_SAMPLER_OVERHEAD_LIMIT_PERCENT", "3.5");

        assertThat(runToEnd(child).output())
                .contains("with monitoredPackages=com.acme,com.incapsula, overheadLimitPercent=3.5,"
                        + " samplingFrequencyMillis=9ms, reports on demand\n");
    }

    @Test
    void reportsGoToStandardOutputWhereThatIsWanted() throws Exception {
        assertThat(runToEnd(child("=interval=5ms,to=stdout,packages=com.incapsula.sampler.testing"))
                        .output())
                .contains("Report interval: from ")
                .contains("Aggregated thread: " + UnawareProgram.WORKER)
                .contains("Sampler account.\n");
    }

    /** A wrong option stops neither the application nor its exit, and no file is written. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "intervall=10ms -> there is no option \"intervall\"; options are interval, packages,",
                "interval=0ms -> samplingFrequencyMillis must be between 1 and 3600000, got 0",
                "dance -> \"dance\" is neither one of start, run, dump, status, set, stop, mcp nor KEY=VALUE",
                "file=/proc/nowhere/x.html -> cannot open /proc/nowhere/x.html for writing: ",
                "stop -> not running",
                "engine=JVMTI,clock=CPU -> clock CPU needs engine AUTO"
            })
    void wrongOptionsAreReportedAndTheApplicationGoesOn(String options) throws Exception {
        String[] parts = options.split(" -> ");

        String output = runToEnd(child("=" + parts[0])).output();

        assertThat(output).contains("threads-sampler: refused: " + parts[1]).endsWith("ready\nend of main\n");
        assertThat(files()).isEmpty();
    }

    @Test
    void theApplicationGoesOnIfSamplingIsNotPossible() throws Exception {
        String output = runToEnd(
                        child("=file=" + folder + "/x.html").option("-Dcom.incapsula.sampler.library=/nowhere"))
                .output();

        assertThat(output)
                .contains("threads-sampler: refused: -Dcom.incapsula.sampler.library=/nowhere: there is no such file")
                .endsWith("ready\nend of main\n");
    }

    @Test
    void aSecondAgentIsRefusedAndTheFirstOneGoesOn() throws Exception {
        String output = runToEnd(child("=interval=5ms,file=" + folder + "/a.collapsed")
                        .option("-javaagent:" + jar + "=file=" + folder + "/b.collapsed"))
                .output();

        assertThat(output).contains("threads-sampler: refused: it runs since ").contains("/a.collapsed");
        assertOneReport("a\\.collapsed");
    }

    /** Web applications bring the library themselves: all samplers run, and the agent's runs until the end. */
    @Test
    void theAgentRunsBesideTheApplicationsOwnCopies() throws Exception {
        Path file = folder.resolve("a.collapsed");
        String output = ChildJvm.of(TwoLoadersProgram.class)
                .option("-javaagent:" + patience, "-javaagent:" + jar + "=interval=5ms,file=" + file)
                .run("both")
                .assertFine()
                .output();

        assertThat(output)
                .containsPattern(
                        "(?s)available: true\nmapped: \\S+ \\S+\npolls: some\navailable: true\nmapped: \\S+ \\S+ \\S+\npolls: some\n");
        assertThat(file).content().contains("main;");
    }

    /** The program's classes are in a class loader below the agent's, as with Spring Boot. */
    @Test
    void reportsGoToTheApplicationsLog() throws Exception {
        String output = runToEnd(ChildJvm.bare(IsolatedLogProgram.class.getName())
                        .with(UnawareProgram.class)
                        .option("-javaagent:" + patience, "-javaagent:" + jar + "=interval=5ms,to=log")
                        .option("-Dlibraries=" + placesOf(LoggerFactory.class, Logger.class, Context.class)))
                .output();

        assertThat(output)
                .containsPattern("INFO +\\S*LoggerSamplingOutputer -+ Report interval: from ")
                .containsPattern("LoggerSamplingOutputer -+ Aggregated thread: " + UnawareProgram.WORKER);
    }

    /** The agent's own class loader does not see the class path. */
    @Test
    void reportsGoToTheLogOnTheClassPath() throws Exception {
        String output = runToEnd(child("=interval=5ms,to=log").with(LoggerFactory.class, Logger.class, Context.class))
                .output();

        assertThat(output).containsPattern("LoggerSamplingOutputer -+ Aggregated thread: " + UnawareProgram.WORKER);
    }

    private static String placesOf(Class<?>... types) {
        return Stream.of(types)
                .map(type -> ChildJvm.placeOf(type).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** The command lines of java/README.md work as printed, except for the folder of the files. */
    @Test
    void theCommandsOfTheReadmeWork() throws Exception {
        List<String> lines = Files.readAllLines(Path.of("java", "README.md")).stream()
                .filter(line -> line.contains("-javaagent:threads-sampler.jar") && line.endsWith(" -jar app.jar"))
                .toList();
        assertThat(lines).hasSize(2);
        for (String line : lines) {
            ChildJvm child = child();
            String command =
                    line.replace("threads-sampler.jar", jar.toString()).replace("report-", folder + "/report-");
            for (String word : command.split(" ")) {
                if (word.startsWith("-javaagent:")) {
                    child.option(word);
                } else if (word.indexOf('=') > 0) {
                    child.environment(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
                }
            }
            runToEnd(child);
        }
        assertThat(files())
                .hasSize(2)
                .allSatisfy(file ->
                        assertThat(file).content().startsWith("<!DOCTYPE html>").contains(UnawareProgram.WORKER));
    }
}
