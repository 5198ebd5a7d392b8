// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Tool;
import com.incapsula.sampler.testing.UnawareProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The native library as the agent, {@code -agentpath} and attached, in a runtime image with the module {@code
 * java.base} only: without {@code java.instrument}, {@code java.management}, {@code jdk.attach}.
 */
class NativeAgentIT {

    @TempDir
    static Path shared;

    private static Path image;
    private static Path jar;
    private static Path library;

    @TempDir
    Path folder;

    @BeforeAll
    static void makeImages() throws Exception {
        image = makeImage("image", "--add-modules", "java.base");
        Path installed = Files.createDirectory(shared.resolve("in stalled")); // jar and library, side by side
        jar = AgentJar.in(installed);
        library = copyOfLibrary(installed);
    }

    private static Path makeImage(String name, String... options) throws Exception {
        Path made = shared.resolve(name);
        List<String> command = new ArrayList<>(List.of(options));
        command.add(0, Path.of(System.getProperty("java.home"), "bin", "jlink").toString());
        command.addAll(List.of("--output", made.toString()));
        Process jlink = new ProcessBuilder(command).inheritIO().start();
        assertThat(jlink.waitFor()).isZero();
        return made;
    }

    private static Path copyOfLibrary(Path to) throws IOException {
        String platform = "linux-" + System.getProperty("os.arch").replace("amd64", "x86_64");
        return Files.copy(
                ChildJvm.placeOf(ThreadsSampler.class)
                        .resolve("META-INF/native/" + platform + "/libthreads-sampler.so"),
                to.resolve("libthreads-sampler.so"));
    }

    private static ChildJvm target(String... options) {
        return ChildJvm.bare(UnawareProgram.class.getName())
                .with(UnawareProgram.class)
                .in(image)
                .option(options);
    }

    private static String runToEnd(ChildJvm child) throws Exception {
        return end(child.start().awaitOutput("ready"));
    }

    /*
     * Stops the sampler explicitly: at the exit the last report has two seconds only, which may be too short on a busy
     * machine.
     */
    private static String runToReport(ChildJvm child) throws Exception {
        ChildJvm.Running running =
                child.option("-XX:+EnableDynamicAgentLoading").start().awaitOutput("ready");
        assertThat(done(running, "stop")).contains("stopped, reports are in ");
        return end(running);
    }

    private static String end(ChildJvm.Running running) throws Exception {
        running.process().getOutputStream().close();
        return running.await().assertFine().output();
    }

    private static ChildJvm.Result command(ChildJvm.Running to, String verb, String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of(more));
        arguments.addAll(
                0, List.of(jar.toString(), verb, String.valueOf(to.process().pid())));
        return ChildJvm.bare("-jar").run(arguments.toArray(String[]::new));
    }

    private static String done(ChildJvm.Running to, String verb, String... more) throws Exception {
        return command(to, verb, more).assertFine().output();
    }

    @Test
    void theReportIsWritten() throws Exception {
        Path report = folder.resolve("a b,c.collapsed");
        String output = runToReport(target("-agentpath:" + library + "=interval=5ms,threads=unaware|main,file="
                + report.toString().replace(",", "\\,")));
        assertThat(output)
                .contains("threads-sampler: runs since ")
                .contains("reports to " + report + " (collapsed) at the end\nready\n")
                .endsWith("end of main\n");
        assertThat(report).content().contains(UnawareProgram.WORKER + ";java.lang.Thread.run");
    }

    /**
     * The command of java/README.md and the one for the library in java/REFERENCE.md work as printed, except for the
     * folders.
     */
    @Test
    void theCommandsOfTheReadmeWork() throws Exception {
        Path bare = Files.createDirectory(folder.resolve("opt"));
        AgentJar.in(bare);
        Matcher unzip = Pattern.compile("`(unzip -j threads-sampler.jar \\S+)`")
                .matcher(Files.readString(Path.of("java", "REFERENCE.md")));
        assertThat(unzip.find()).isTrue();
        Tool.find("unzip");
        String platform = "linux-" + System.getProperty("os.arch").replace("amd64", "x86_64");
        Process unpacking = new ProcessBuilder(
                        unzip.group(1).replace("linux-x86_64", platform).split(" "))
                .directory(bare.toFile())
                .inheritIO()
                .start();
        assertThat(unpacking.waitFor()).isZero();

        List<String> options = Files.readAllLines(Path.of("java", "README.md")).stream()
                .filter(line -> line.startsWith("java -agentpath:") && line.endsWith(" -jar app.jar"))
                .map(line -> line.split(" ")[1].replace("/opt/", bare + "/").replace("report-", folder + "/report-"))
                .toList();
        assertThat(options).hasSize(1);
        ChildJvm.Running target =
                target(options.get(0), "-XX:+EnableDynamicAgentLoading").start().awaitOutput("ready");
        done(target, "stop");
        end(target);
        assertThat(folder.resolve("report-" + target.process().pid() + ".html"))
                .content()
                .startsWith("<!DOCTYPE html>")
                .contains(UnawareProgram.WORKER);
    }

    @Test
    void theJarMayBeElsewhere() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("else, where"));
        Path elsewhereJar = AgentJar.in(elsewhere);
        Path alone = copyOfLibrary(folder);
        Path report = folder.resolve("x.html");
        String options = "start,jar:" + elsewhereJar.toString().replace(",", "\\,") + ",file:" + report;
        assertThat(runToReport(target("-agentpath:" + alone + "=" + options))).contains("runs since ");
        assertThat(report).content().startsWith("<!DOCTYPE html>").contains(UnawareProgram.WORKER);
    }

    /** A wrong option does not stop the application; one line names the error. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "intervall=10ms -> refused: there is no option \"intervall\"; options are interval, packages,",
                "file=/proc/nowhere/x.html -> refused: cannot open /proc/nowhere/x.html for writing: ",
                "jar=/no/where.jar -> the agent cannot start: /no/where.jar cannot be read; the option jar=FILE names",
                "jar=/proc/self/cmdline -> the agent cannot start: java.lang.ClassNotFoundException: com.incapsula"
            })
    void wrongOptionsAreReportedAndTheApplicationGoesOn(String text) throws Exception {
        String[] parts = text.split(" -> ");
        String output = runToEnd(target("-agentpath:" + library + "=" + parts[0]));
        assertThat(output).startsWith("threads-sampler: " + parts[1]).endsWith("\nready\nend of main\n");
        assertThat(output.lines()).hasSize(3);
    }

    @Test
    void withoutOptionsNothingHappens() throws Exception {
        assertThat(runToEnd(target("-agentpath:" + library))).isEqualTo("ready\nend of main\n");
    }

    @Test
    void aSecondOneIsRefusedAndTheFirstOneGoesOn() throws Exception {
        Path report = folder.resolve("x.collapsed");
        String output = runToReport(
                target("-agentpath:" + library + "=interval=5ms,file=" + report, "-agentpath:" + library + "=to=none"));
        assertThat(output).contains("refused: it runs since ").contains("" + report);
        assertThat(report).content().contains(UnawareProgram.WORKER);
    }

    @Test
    void commandLinesReachTheAgentThatWasThereFromTheStart() throws Exception {
        Path report = folder.resolve("x y.collapsed");
        ChildJvm.Running target = target(
                        "-agentpath:" + library + "=interval=5ms,file=" + report, "-XX:+EnableDynamicAgentLoading")
                .start()
                .awaitOutput("ready");
        assertThat(done(target, "status")).contains("runs since ").contains("engine: ");
        assertThat(done(target, "set", "interval=6ms")).contains("samplingFrequencyMillis is 6ms");
        assertThat(done(target, "dump", "--format", "json")).contains("\"threads-sampler/1\"");
        assertThat(done(target, "stop")).contains("stopped, reports are in " + report);
        assertThat(done(target, "status")).isEqualTo("not running\n");
        end(target);
        assertThat(report).content().contains(UnawareProgram.WORKER);
    }

    /** The target has no agent and no module for one. Nothing is written to its temporary folder. */
    @Test
    void commandLinesNeedNothingInTheTarget() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Path report = folder.resolve("x.collapsed");
        ChildJvm.Running target = target("-XX:+EnableDynamicAgentLoading", "-Djava.io.tmpdir=" + temporary)
                .start()
                .awaitOutput("ready");
        assertThat(done(target, "status")).isEqualTo("not running\n");
        done(target, "run", "-d", "300ms", "-i", "5ms", "-o", report.toString());
        assertThat(done(target, "start", "-i", "5ms")).contains("reports on demand");
        assertThat(done(target, "stop", "--format", "collapsed")).contains(UnawareProgram.WORKER + ";");
        assertThat(end(target)).isEqualTo("ready\nend of main\n");
        assertThat(report).content().contains(UnawareProgram.WORKER);
        assertThat(temporary).isEmptyDirectory();
    }

    /** The image has no jar that the agent's own class loader could read. */
    @Test
    void theLibraryMayBeAModuleOfTheImage() throws Exception {
        String module = ThreadsSampler.class.getPackageName();
        Path withModule = makeImage(
                "image with module",
                "--module-path",
                ChildJvm.placeOf(ThreadsSampler.class).toString(),
                "--add-modules",
                module);
        ChildJvm.Running target = target(
                        "-XX:+EnableDynamicAgentLoading",
                        "--add-modules",
                        module,
                        "--enable-native-access=ALL-UNNAMED," + module)
                .in(withModule)
                .start()
                .awaitOutput("ready");
        assertThat(done(target, "start", "-i", "5ms")).contains("reports on demand");
        assertThat(done(target, "stop", "--format", "collapsed")).contains(UnawareProgram.WORKER + ";");
        end(target);
    }

    @Test
    @EnabledForJreRange(minVersion = 21)
    void theJvmWarnsOfTheFirstCommandOnly() throws Exception {
        ChildJvm.Running target = target().start().awaitOutput("ready");
        for (int i = 0; i < 3; i++) {
            assertThat(done(target, "status")).isEqualTo("not running\n");
        }
        assertThat(end(target).lines().filter(line -> line.startsWith("WARNING: A ")))
                .satisfiesExactly(line -> assertThat(line).contains("agent has been loaded dynamically"));
    }
}
