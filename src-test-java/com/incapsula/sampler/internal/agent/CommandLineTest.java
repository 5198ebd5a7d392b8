// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command line where it needs no other JVM. */
class CommandLineTest {

    @TempDir
    Path folder;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... arguments) {
        return new CommandLine(
                        new PrintStream(out, true, StandardCharsets.UTF_8),
                        new PrintStream(err, true, StandardCharsets.UTF_8))
                .run(arguments);
    }

    private String printed() {
        String text = out.toString(StandardCharsets.UTF_8);
        out.reset();
        return text;
    }

    private String complaint() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | there is no option --intervall | 1 --intervall 5ms",
                "2 | there is no option --content | 1 --content top",
                "2 | there is no option -x | 1 -x",
                "2 | -d needs a value | 1 -d",
                "2 | interval is there twice: 1ms and 2ms | 1 -i 1ms --interval=2ms",
                "2 | \"more\" is one word too many | 1 more",
                "2 | which JVM? a process id or a name is missing | start",
                "2 | which JVM? a process id or a name is missing | -d 1s",
                "2 | set needs one KEY=VALUE | set 1",
                "2 | \"x\" is one word too many | set 1 x",
                "2 | diff needs two files, BEFORE and AFTER, got 1 | diff a.collapsed",
                "2 | merge needs two files or more, got 0 | merge",
                "2 | -o must end in .collapsed, got x.html | merge a.collapsed b.collapsed -o x.html",
                "1 | there is no file /nowhere/a.collapsed | merge /nowhere/a.collapsed /nowhere/b.collapsed",
                "3 | no JVM of this user is called NoSuchProgram | NoSuchProgram",
                "3 | cannot attach to 2147483646 | 2147483646"
            })
    void theExitCodeSaysWhatWasWrong(int exit, String message, String arguments) {
        assertThat(run(arguments.split(" "))).isEqualTo(exit);
        assertThat(complaint()).startsWith("threads-sampler: ").contains(message);
        assertThat(complaint().contains("--help explains the options")).isEqualTo(exit == 2);
    }

    @Test
    void aNameThatIsNoPathIsAnErrorOfTheUser() {
        assertThat(run("merge", "a\0.collapsed", "b.collapsed")).isEqualTo(2);
        assertThat(complaint()).startsWith("threads-sampler: ");
    }

    @Test
    void helpAndVersionAreThere() {
        assertThat(run("--help")).isZero();
        assertThat(printed())
                .startsWith("usage: java -jar threads-sampler.jar ")
                .contains("exit: 0 done;");
        assertThat(run("--version")).isZero();
        assertThat(printed()).isEqualTo("threads-sampler dev\n");
        assertThat(complaint()).isEmpty();
    }

    @Test
    void optionsGoToTheAgentAsTheyAre() {
        assertThat(Arguments.parse("7").forAgent()).isEqualTo("run,content=top,duration=10000ms");
        assertThat(Arguments.parse("7", "-o", "a.html", "--packages", "a,b", "-d", "2m")
                        .forAgent())
                .isEqualTo("run,monitoredPackages=a\\,b,duration=120000ms,content=html");
        assertThat(Arguments.parse("dump", "7", "--format", "json").forAgent()).isEqualTo("dump,content=json");
        assertThat(Arguments.parse("stop", "7", "-o", "x.pb.gz").forAgent()).isEqualTo("stop,content=pprof");
        assertThat(Arguments.parse("start", "7", "-o", "/r/x-%p.html", "--log").forAgent())
                .isEqualTo("start,output=log,file=/r/x-%p.html");
        assertThat(Arguments.parse("set", "7", "active=false").forAgent()).isEqualTo("set,active=false");
        assertThat(Arguments.parse("status", "7").forAgent()).isEqualTo("status");
    }

    @Test
    void filesAreAddedUpAndCompared() throws Exception {
        Path a = Files.writeString(folder.resolve("a.collapsed"), "main;x.X.run(X.java:1) 5\nmain;y 7\n");
        Path b = Files.writeString(folder.resolve("b.collapsed"), "main;y 1\nmain;z 2\nmain;y 3\n");
        Path sum = folder.resolve("sum.collapsed");

        assertThat(run("merge", a.toString(), b.toString(), "-o", sum.toString()))
                .isZero();
        assertThat(printed()).isEqualTo("3 stacks, in " + sum + "\n");
        assertThat(sum).hasContent("main;x.X.run(X.java:1) 5\nmain;y 11\nmain;z 2\n");

        assertThat(run("diff", a.toString(), b.toString())).isZero();
        assertThat(printed()).isEqualTo("main;x.X.run(X.java:1) 5 0\nmain;y 7 4\nmain;z 0 2\n");
    }

    @ParameterizedTest
    @CsvSource({"main;y none", "main", "'7'", "main;y -1", "main;y 9223372036854775807"})
    void aLineThatIsNotCollapsedIsNamed(String line) throws Exception {
        Path right = Files.writeString(folder.resolve("right.collapsed"), "main;y 1\n");
        Path wrong = Files.writeString(folder.resolve("wrong.collapsed"), "main;x 1\n" + line + "\n");
        assertThat(run("merge", right.toString(), wrong.toString())).isEqualTo(1);
        assertThat(complaint()).contains(wrong + ", line 2: not the form collapsed, which is STACK WEIGHT");
        assertThat(printed()).isEmpty();
    }
}
