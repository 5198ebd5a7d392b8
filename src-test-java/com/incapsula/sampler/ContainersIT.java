// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AgentJar;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Container;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.UnawareProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The agent in a container with the strictest settings: no capability, no new privileges, a read-only file system, and
 * a system call filter.
 */
class ContainersIT {

    @TempDir
    static Path shared;

    private static Path jar;
    private static Path library;
    private static Path filter;

    @TempDir
    Path writable;

    @BeforeAll
    static void makeFiles() throws Exception {
        jar = AgentJar.in(shared);
        AgentJar.ofPatience(shared);
        String platform = "linux-" + System.getProperty("os.arch").replace("amd64", "x86_64");
        library = Files.copy(
                ChildJvm.placeOf(ThreadsSampler.class)
                        .resolve("META-INF/native/" + platform + "/libthreads-sampler.so"),
                shared.resolve("libthreads-sampler.so"));
        filter = Preload.compile("container_filter.c", shared);
    }

    @BeforeEach
    void needsNamespaces() throws Exception {
        Container.require(Container.as(writable));
    }

    private ChildJvm contained(String... options) {
        return ChildJvm.bare(UnawareProgram.class.getName())
                .with(UnawareProgram.class)
                .by(Container.as(writable).toArray(String[]::new))
                .environment("LD_PRELOAD", filter.toString())
                .option("-javaagent:" + shared.resolve("patience.jar"))
                .option(options);
    }

    private static String runToEnd(ChildJvm child) throws Exception {
        ChildJvm.Running running = child.start().awaitOutput("ready");
        Container.assertContained(running.process().toHandle());
        running.process().getOutputStream().close();
        return running.await().assertFine().output();
    }

    @Test
    void theLibraryAsTheAgentNeedsNoFolder() throws Exception {
        String output = runToEnd(contained("-agentpath:" + library + "=interval=5ms,to=stdout"));
        assertThat(output)
                .contains("threads-sampler: runs since ")
                .contains("Aggregated thread: " + UnawareProgram.WORKER)
                .contains("Sampler account.\n");
        assertThat(writable).isEmptyDirectory();
    }

    @Test
    void theJarAsTheAgentNeedsTheLibraryBesideIt() throws Exception {
        String output = runToEnd(contained(
                "-javaagent:" + jar + "=interval=5ms,to=stdout", "-Dcom.incapsula.sampler.library=" + library));
        assertThat(output).contains("Aggregated thread: " + UnawareProgram.WORKER);
        assertThat(writable).isEmptyDirectory();
    }

    @Test
    void withoutAFolderForTheLibraryTheApplicationGoesOn() throws Exception {
        // these folders are not writable and have no library of an earlier run
        Path empty = Files.createDirectory(shared.resolve("empty"));
        ChildJvm child = contained("-javaagent:" + jar + "=interval=5ms,to=stdout", "-Djava.io.tmpdir=" + empty)
                .environment("XDG_CACHE_HOME", empty.toString());
        assertThat(runToEnd(child))
                .contains("threads-sampler: refused: no folder can be used for the native library (")
                .contains("; name one that can be written to and that allows execution with"
                        + " -Dcom.incapsula.sampler.workdir=FOLDER")
                .endsWith("ready\nend of main\n");
    }

    /** The agent reports at its start that the file cannot be written. The application is not affected. */
    @Test
    void aReportThatCannotBeWrittenIsSaidBefore() throws Exception {
        String output = runToEnd(contained("-agentpath:" + library + "=file=/tmp/report.html"));
        assertThat(output)
                .contains("threads-sampler: refused: cannot open /tmp/report.html for writing: ")
                .endsWith("ready\nend of main\n");
    }

    /** Uses the variables of the manifest unchanged, in a pod whose only writable folder is the agent's. */
    @Test
    void theManifestOfTheReadmeWorks() throws Exception {
        String text = Files.readString(Path.of("java", "REFERENCE.md"));
        Matcher yaml = Pattern.compile("(?s)```yaml\n(.*?)```").matcher(text);
        assertThat(yaml.find()).isTrue();
        assertThat(yaml.group(1)).contains("readOnlyRootFilesystem: true").contains("drop: [ALL]");
        // the mode of an emptyDir
        Files.setPosixFilePermissions(writable, PosixFilePermissions.fromString("rwxrwxrwx"));
        Files.copy(jar, writable.resolve("threads-sampler.jar")); // done by the first container of the pod
        ChildJvm child = contained();
        Matcher variable = Pattern.compile("- name: ([A-Z_]+)\n +value: (.*)\n").matcher(yaml.group(1));
        int count = 0;
        while (variable.find()) {
            child.environment(variable.group(1), variable.group(2).replace("/agent", writable.toString()));
            count++;
        }
        assertThat(count).isEqualTo(3);
        String output = runToEnd(child);
        assertThat(output).contains("threads-sampler: runs since ");
        try (Stream<Path> files = Files.list(writable)) {
            assertThat(files.filter(file -> file.toString().endsWith(".html")))
                    .isNotEmpty()
                    .allSatisfy(file -> assertThat(file).content().startsWith("<!DOCTYPE html>"));
        }
    }
}
