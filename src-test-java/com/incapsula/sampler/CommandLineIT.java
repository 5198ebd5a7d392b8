// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Measures;
import com.incapsula.sampler.testing.Tool;
import com.incapsula.sampler.testing.UnawareProgram;
import counted.Rounds;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code java -jar threads-sampler.jar} as a user types it, for a program that does not use the sampler itself. */
class CommandLineIT {

    private static final int OTHER_USER = 65_534;

    @TempDir
    static Path shared;

    private static Path jar;
    private static ChildJvm.Running target;
    private static String process;

    @TempDir
    Path folder;

    @BeforeAll
    static void startTarget() throws IOException {
        jar = AgentJar.in(shared);
        target = target().start().awaitOutput("ready");
        process = String.valueOf(target.process().pid());
    }

    /** The target has run on undisturbed, and ends normally. */
    @AfterAll
    static void endTarget() throws Exception {
        target.process().getOutputStream().close();
        String output = target.await().assertFine().output();
        assertThat(output).isEqualTo("ready\nend of main\n");
    }

    /* Without the option, JDK 21 and later print a warning for each attached agent. */
    private static ChildJvm target() {
        return ChildJvm.bare(UnawareProgram.class.getName())
                .with(UnawareProgram.class)
                .option("-XX:+EnableDynamicAgentLoading");
    }

    private static ChildJvm commandLine() {
        return ChildJvm.bare("-jar " + jar);
    }

    private static String done(String... arguments) throws Exception {
        return commandLine().run(arguments).assertFine().output();
    }

    private static void assertFails(int exit, String message, ChildJvm child, String... arguments) throws Exception {
        ChildJvm.Result result = child.run(arguments);
        assertThat(result.output()).contains(message);
        assertThat(result.exit()).as(result.output()).isEqualTo(exit);
    }

    @Test
    void theJvmsAreListed() throws Exception {
        assertThat(done()).containsPattern("(?m)^ *" + process + " " + UnawareProgram.class.getName());
    }

    @Test
    void oneCommandGivesAFlameGraph() throws Exception {
        Path file = folder.resolve("report-" + process + ".html");
        assertThat(done(process, "-d", "500ms", "-i", "5ms", "-o", folder + "/report-%p.html"))
                .contains("sampling " + process + " (" + UnawareProgram.class.getName() + ") for 500 ms\n")
                .contains("\nSummary.\n")
                .containsPattern("\nSampler \\S+ s|, sampler \\S+ s")
                .containsPattern(" of a CPU\\)\\.\n\n\\d+ samples in \\d+ ms, in " + file + "\n$");
        assertThat(file).content().startsWith("<!DOCTYPE html>").contains("unaware-worker");
    }

    /** The command line reads answers from system properties of the target. */
    @Test
    void nothingStaysInThePropertiesOfTheTarget() throws Exception {
        ChildJvm.Running own = target().start().awaitOutput("ready");
        String pid = String.valueOf(own.process().pid());
        done("status", pid);
        done(pid, "-d", "100ms");
        assertFails(1, "not running", commandLine(), "stop", pid);
        try (InputStream properties = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(), pid, "VM.system_properties")
                .start()
                .getInputStream()) {
            assertThat(new String(properties.readAllBytes(), StandardCharsets.UTF_8))
                    .contains("java.class.path=")
                    .doesNotContain("sampler.agent.answer");
        }
        own.process().getOutputStream().close();
        own.await().assertFine();
    }

    /** The two seconds beyond the ten are for starting a JVM, attaching, writing the page and the way back. */
    @Test
    @Measures
    void aFlameGraphOfTenSecondsTakesTwelveAtMost() throws Exception {
        ChildJvm.Running own = target().likeAServer().start().awaitOutput("ready");
        Path file = folder.resolve("x.html");
        ChildJvm.Result result = commandLine()
                .likeAServer()
                .run(String.valueOf(own.process().pid()), "-d", "10s", "-o", file.toString())
                .assertFine();
        own.process().getOutputStream().close();
        own.await().assertFine();
        System.out.println("one command, -d 10s, to the file: " + result.millis() + " ms on JDK "
                + Runtime.version().feature());
        assertThat(file).content().startsWith("<!DOCTYPE html>").contains(UnawareProgram.WORKER);
        assertThat(Files.readString(file).stripTrailing()).endsWith("</html>");
        assertThat(result.millis()).isBetween(10_000L, 12_000L);
    }

    @Test
    void withoutAFileTheHottestMethodsArePrinted() throws Exception {
        /* On a busy machine the thread may have no CPU in that time, or not at a tick. */
        patiently().until(() -> {
            String output = done(process, "--duration=300ms", "--interval=5ms", "--threads", "unaware-worker");
            assertThat(output).contains("methods of ").containsOnlyOnce("Summary.\n");
            return output.contains(UnawareProgram.class.getName() + ".work")
                    && Pattern.compile(
                                    "(?:running|runnable)(?: \\d+ %)? +UnawareProgram\\.work\\(UnawareProgram\\.java:")
                            .matcher(output)
                            .find();
        });
    }

    /** Root methods are named on the command line; the table is printed on standard output. */
    @Test
    void countedCallsAreATable() throws Exception {
        ChildJvm.Running own = ChildJvm.bare(Rounds.class.getName())
                .with(Rounds.class)
                .option("-XX:+EnableDynamicAgentLoading")
                .start()
                .awaitOutput("ready");
        String pid = String.valueOf(own.process().pid());
        String[] options = {
            "-d",
            "2s",
            "--root-methods",
            "counted.Rounds.round",
            "--overhead-limit-percent",
            "100",
            "--format",
            "calls",
            "--measure",
            "calls"
        };
        String[] command = Stream.concat(Stream.of(pid), Stream.of(options)).toArray(String[]::new);
        Pattern rows = Pattern.compile("Counted methods: .*, by calls, over .*\n.*  method <- callers\n"
                + ".*  counted\\.Rounds\\.step <- counted\\.Rounds\\.round \\d+.*\n"
                + ".*  counted\\.Rounds\\.round <- \\[root\\] \\d+.*\n");
        patiently().until(() -> rows.matcher(done(command)).find());
        own.process().getOutputStream().close();
        own.await();
    }

    @Test
    void aMeasureAndTheOptionsOfTheTableAreChecked() throws Exception {
        assertThat(done(process, "-d", "100ms", "--format", "collapsed", "--measure", "wall"))
                .contains("unaware-worker;");
        assertFails(1, "measure must be one of time, wall, cpu, ", commandLine(), process, "-d", "100ms", "--by", "x");
        assertFails(1, "per must be one of method, class, ", commandLine(), process, "-d", "100ms", "--per", "x");
    }

    /** The data is printed on standard output, the summary on standard error. */
    @Test
    void aProfileIsFollowedByTheSummary() throws Exception {
        assertThat(done(process, "-d", "300ms", "-i", "5ms", "--format", "collapsed"))
                .containsPattern("(?s)unaware-worker;.*\nSummary\\.\n.* of a CPU\\)\\.\n\n\\d+ samples in \\d+ ms\n$");
    }

    @Test
    void theSummaryCanBeLeftOut() throws Exception {
        assertThat(done(process, "-d", "100ms", "-i", "5ms", "--no-report-summary", "-o", folder + "/x.txt"))
                .doesNotContain("Summary.");
        assertThat(folder.resolve("x.txt")).content().doesNotContain("Summary.");
    }

    @Test
    void aSamplerIsStartedReadAndStopped() throws Exception {
        Path file = folder.resolve("a, b.collapsed");
        assertThat(done(
                        "start",
                        process,
                        "-i",
                        "5ms",
                        "-o",
                        file.toString(),
                        "--packages",
                        "com.incapsula,org.acme",
                        "--report-percent"))
                .contains("monitoredPackages=com.incapsula,org.acme, reportPercent=true, samplingFrequencyMillis=5ms,"
                        + " reports to " + file + " (collapsed) at the end\n");
        assertFails(1, "threads-sampler: it runs since ", commandLine(), "start", process);
        assertThat(done("status", process)).contains("polls: ");
        assertThat(done("set", process, "interval=6ms")).contains("samplingFrequencyMillis is 6ms");
        assertThat(done("dump", process, "--format", "json")).contains("\"threads-sampler/1\"");
        assertThat(done("stop", process, "--format", "collapsed"))
                .contains("stopped, reports are in " + file)
                .contains("unaware-worker;");
        assertThat(file).content().contains("unaware-worker;");
        assertFails(1, "threads-sampler: not running\n", commandLine(), "stop", process);
    }

    @Test
    void anOptionThatTheTargetRefusesIsReported() throws Exception {
        assertFails(
                1,
                "threads-sampler: samplingFrequencyMillis must be between 1 and 3600000, got 0\n",
                commandLine(),
                process,
                "-i",
                "0ms",
                "-d",
                "100ms");
        assertFails(
                1,
                "threads-sampler: cannot make the folder /proc/nowhere",
                commandLine(),
                process,
                "-o",
                "/proc/nowhere/x.html");
    }

    @Test
    void aJvmThatAllowsNoAttachIsNamedWithAWay() throws Exception {
        ChildJvm.Running closed =
                target().option("-XX:+DisableAttachMechanism").start().awaitOutput("ready");
        try {
            assertFails(
                    3,
                    "it runs with -XX:+DisableAttachMechanism, so start it with -javaagent:threads-sampler.jar",
                    commandLine(),
                    String.valueOf(closed.process().pid()));
        } finally {
            closed.process().getOutputStream().close();
            closed.await().assertFine();
        }
    }

    @Test
    void aJvmThatAllowsNoAgentIsNamedWithAWay() throws Exception {
        ChildJvm.Running closed = ChildJvm.bare(UnawareProgram.class.getName())
                .with(UnawareProgram.class)
                .option("-XX:-EnableDynamicAgentLoading")
                .start()
                .awaitOutput("ready");
        try {
            assertFails(
                    3,
                    "Dynamic agent loading is not enabled",
                    commandLine(),
                    String.valueOf(closed.process().pid()));
        } finally {
            closed.process().getOutputStream().close();
            closed.await().assertFine();
        }
    }

    @Test
    void withoutTheModuleOfTheAttachApiAWayIsNamed() throws Exception {
        assertFails(
                3,
                "this Java runs without the module jdk.attach: take a JDK, or start the application with"
                        + " -javaagent:threads-sampler.jar",
                commandLine().option("--limit-modules", "java.base"),
                process);
    }

    /** The signal that begins an attach would end this process. */
    @Test
    void aProcessThatIsNoJvmSurvives() throws Exception {
        Process other = new ProcessBuilder("sleep", "600").start();
        try {
            assertFails(3, other.pid() + " is no JVM", commandLine(), String.valueOf(other.pid()));
            assertThat(other.isAlive()).isTrue();
        } finally {
            other.destroy();
            assertThat(other.waitFor(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    /** Some servers use that signal for a command of their own. */
    @Test
    void aProcessThatCatchesTheSignalAndIsNoJvmGetsNone() throws Exception {
        Process other =
                new ProcessBuilder("sh", "-c", "trap 'exit 7' QUIT; echo ready; while :; do sleep 0.1; done").start();
        try {
            assertThat(other.inputReader().readLine()).isEqualTo("ready");
            assertFails(3, other.pid() + " is no JVM", commandLine(), String.valueOf(other.pid()));
            assertThat(other.isAlive()).isTrue();
        } finally {
            other.destroy();
            assertThat(other.waitFor(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    /** The target is in its own mount and process namespace, as in a container. */
    @Test
    void aJvmInNamespacesOfItsOwnIsSampledFromOutside() throws Exception {
        List<String> unshare = List.of("unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork");
        List<String> probe = new ArrayList<>(unshare);
        probe.add("true");
        Tool.requireAllowed("making namespaces by unshare", probe);
        try (FileChannel turn =
                        FileChannel.open(turnOfProcessOne(), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock mine = turn.lock()) {
            assertThat(mine.isValid()).isTrue();
            sampleInNamespaces(unshare);
        }
    }

    /*
     * The JVM is process 1 of its namespace, and the attach files in /tmp are named after that number. Other checkouts
     * share /tmp, so only one test at a time may use it.
     */
    private static Path turnOfProcessOne() {
        return Path.of("/tmp", "threads-sampler-test-process-1-" + System.getProperty("user.name") + ".lock");
    }

    private void sampleInNamespaces(List<String> unshare) throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        ChildJvm.Running inside = target().option("-Djava.io.tmpdir=" + temporary)
                .by(unshare.toArray(String[]::new))
                .start()
                .awaitOutput("ready");
        ProcessHandle seen = inside.process().toHandle().children().findFirst().orElseThrow();
        Path file = folder.resolve("inside.collapsed");
        done(String.valueOf(seen.pid()), "-d", "300ms", "-i", "5ms", "-o", file.toString());
        done(String.valueOf(seen.pid()), "-d", "300ms", "-i", "5ms", "-o", file.toString());
        inside.process().getOutputStream().close();
        inside.await().assertFine();
        assertThat(file).content().contains("unaware-worker;");
        assertThat(temporary).isEmptyDirectory();
    }

    /** The jar is in a folder that the target's user cannot read, so the target gets copies. */
    @Test
    void rootSamplesAJvmOfAnotherUser() throws Exception {
        Tool.require("root".equals(System.getProperty("user.name")), "only root can sample a JVM of another user");
        Path temporary =
                readableByAll(Files.createDirectory(readableByAll(folder).resolve("tmp")));
        Files.setAttribute(temporary, "unix:uid", OTHER_USER);
        ChildJvm.Running theirs = targetOfAnotherUser(temporary).start().awaitOutput("ready");
        String pid = String.valueOf(theirs.process().pid());
        assertThat(Files.getAttribute(Path.of("/proc", pid), "unix:uid")).isEqualTo(OTHER_USER);
        Path file = folder.resolve("theirs.html");
        assertThat(done(pid, "-d", "300ms", "-i", "5ms", "-o", file.toString())).contains(", in " + file);
        assertThat(file).content().startsWith("<!DOCTYPE html>").contains(UnawareProgram.WORKER);
        done("start", pid, "-i", "5ms");
        assertThat(done("stop", pid, "--format", "collapsed")).contains(UnawareProgram.WORKER + ";");
        theirs.process().getOutputStream().close();
        theirs.await().assertFine();
        assertThat(temporary).isEmptyDirectory();
    }

    /*
     * Its classes, its working folder and the JVM's own log are in places which that user can open; the build's folder
     * may not be readable.
     */
    private ChildJvm targetOfAnotherUser(Path temporary) throws Exception {
        List<String> command = List.of(
                "env",
                "-C",
                temporary.toString(),
                "setpriv",
                "--reuid=" + OTHER_USER,
                "--regid=" + OTHER_USER,
                "--clear-groups");
        Path classes = folder.resolve("classes");
        String program = UnawareProgram.class.getName().replace('.', '/') + ".class";
        Path copy = classes.resolve(program);
        for (Path each = Files.createDirectories(copy.getParent()); !each.equals(folder); each = each.getParent()) {
            readableByAll(each);
        }
        readableByAll(Files.copy(ChildJvm.placeOf(UnawareProgram.class).resolve(program), copy));
        List<String> probe = new ArrayList<>(command);
        probe.addAll(List.of("test", "-r", copy.toString(), "-a", "-w", temporary.toString()));
        Tool.requireAllowed("a process of user " + OTHER_USER + " by setpriv", probe);
        return ChildJvm.bare(UnawareProgram.class.getName())
                .by(command.toArray(String[]::new))
                .option("-XX:+EnableDynamicAgentLoading", "-Djava.io.tmpdir=" + temporary)
                .option("-XX:+UnlockDiagnosticVMOptions", "-XX:-LogVMOutput")
                .option("-cp", classes.toString());
    }

    private static Path readableByAll(Path file) throws IOException {
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void anEndOfTheTargetIsReported() throws Exception {
        ChildJvm.Running ending = target().start().awaitOutput("ready");
        ChildJvm.Running command =
                commandLine().start(String.valueOf(ending.process().pid()), "-d", "10s");
        command.awaitOutput("sampling ");
        /* The command is stopped meanwhile, so it asks the target only after its end, however long that takes. */
        signal("STOP", command.process());
        try {
            ending.process().getOutputStream().close();
            ending.await().assertFine();
        } finally {
            signal("CONT", command.process());
        }
        ChildJvm.Result result = command.await();
        assertThat(result.output()).contains("the JVM has ended meanwhile");
        assertThat(result.exit()).isEqualTo(1);
    }

    private static void signal(String name, Process process) throws Exception {
        Process kill = new ProcessBuilder("sh", "-c", "kill -s " + name + " " + process.pid())
                .inheritIO()
                .start();
        assertThat(kill.waitFor()).as(name).isZero();
    }

    /** The command line has placed the native library in another folder. */
    @Test
    void nothingIsLeftInTheTemporaryFolder() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        ChildJvm.Running own =
                target().option("-Djava.io.tmpdir=" + temporary).start().awaitOutput("ready");
        done(String.valueOf(own.process().pid()), "-d", "100ms");
        own.process().getOutputStream().close();
        own.await().assertFine();
        assertThat(temporary).isEmptyDirectory();
    }

    /** The commands of java/README.md work as printed, except for names and times. */
    @Test
    void theCommandsOfTheReadmeWork() throws Exception {
        String program = "java -jar threads-sampler.jar";
        List<String> commands = Files.readAllLines(Path.of("java", "README.md")).stream()
                .filter(line -> line.startsWith(program))
                .toList();
        assertThat(commands).hasSize(4);
        for (String command : commands) {
            String arguments = command.substring(program.length())
                    .strip()
                    .replace("PID", process)
                    .replace("10s", "300ms")
                    .replace("flame.html", folder + "/flame.html")
                    .replace("report-", folder + "/report-");
            done(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        }
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files.map(file -> file.getFileName().toString()).sorted())
                    .hasSize(2)
                    .satisfiesExactly(
                            name -> assertThat(name).isEqualTo("flame.html"),
                            name -> assertThat(name).matches("report-" + process + "-\\d{8}-\\d{6}Z\\.html"));
        }
    }

    /** As in java/REFERENCE.md; jcmd would cut the options at an equals sign. */
    @Test
    void jcmdStartsAndStopsIt() throws Exception {
        ChildJvm.Running own = target().start().awaitOutput("ready");
        Path file = folder.resolve("x.html");
        jcmd(own, "start,interval:10ms,file:" + file);
        own.awaitOutput("threads-sampler: runs since ");
        jcmd(own, "interval=10ms,file=" + file);
        jcmd(own, "stop");
        own.process().getOutputStream().close();
        assertThat(own.await().assertFine().output())
                .contains("with samplingFrequencyMillis=10ms, reports to " + file + " (html) at the end\n")
                .contains("threads-sampler: refused: ")
                .contains("threads-sampler: stopped, reports are in " + file);
        assertThat(file).content().contains("unaware-worker");
    }

    /**
     * One has the agent's classes from the native library, the other from java.instrument. Both use the same session.
     */
    @Test
    void jcmdMeetsTheSessionOfTheCommandLine() throws Exception {
        ChildJvm.Running own = target().start().awaitOutput("ready");
        String pid = String.valueOf(own.process().pid());
        assertThat(done("start", pid, "-i", "10ms")).contains("reports on demand");
        jcmd(own, "status");
        own.awaitOutput("threads-sampler: runs since ");
        jcmd(own, "stop");
        own.awaitOutput("threads-sampler: stopped");
        assertThat(done("status", pid)).isEqualTo("not running\n");
        own.process().getOutputStream().close();
        own.await().assertFine();
    }

    /** A program may pass its system properties on to a JVM that it starts. */
    @Test
    void thePropertiesOfAnotherTargetDoNotMislead() throws Exception {
        ChildJvm.Running own = target().option("-Dcom.incapsula.sampler.agent.library=" + folder + "/gone.so")
                .start()
                .awaitOutput("ready");
        String pid = String.valueOf(own.process().pid());
        assertThat(done("start", pid, "-i", "10ms")).contains("reports on demand");
        assertThat(done("stop", pid)).contains("\nstopped\n");
        own.process().getOutputStream().close();
        assertThat(own.await().assertFine().output()).endsWith("end of main\n");
    }

    private static void jcmd(ChildJvm.Running to, String options) throws Exception {
        Process jcmd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        "-J" + ChildJvm.PATIENT_ATTACHING,
                        String.valueOf(to.process().pid()),
                        "JVMTI.agent_load",
                        jar.toString(),
                        options)
                .redirectErrorStream(true)
                .start();
        String output = new String(jcmd.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(jcmd.waitFor()).as(output).isZero();
    }
}
