// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.AvailabilityProgram;
import com.incapsula.sampler.testing.ChildJvm;
import com.incapsula.sampler.testing.Container;
import com.incapsula.sampler.testing.Preload;
import com.incapsula.sampler.testing.Tool;
import com.incapsula.sampler.testing.TwoLoadersProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.io.TempDir;

/** Ways to find and load the native library, each in a JVM of its own. */
class LoadingIT {

    private static final String NAME = "libthreads-sampler\\.so|libthreads-sampler-.*-[0-9a-f]{16}\\.so";

    @TempDir
    Path folder;

    private Path temporary;
    private Path library;

    @BeforeEach
    void findFolders() throws IOException {
        temporary = Files.createDirectory(folder.resolve("tmp"));
        Path built = ChildJvm.placeOf(ThreadsSampler.class)
                .resolve("META-INF/native/linux-"
                        + System.getProperty("os.arch").replace("amd64", "x86_64") + "/libthreads-sampler.so");
        library = Files.copy(built, folder.resolve("libmine.so"));
    }

    private ChildJvm child() {
        return ChildJvm.of(AvailabilityProgram.class).option("-Djava.io.tmpdir=" + temporary);
    }

    private static String mappedIn(String output) {
        return output.replaceFirst("(?s).*mapped: ([^\n]*)\n.*", "$1");
    }

    private static void assertSampled(String output, Path file) {
        assertThat(output).startsWith("available: true\nmapped: ").endsWith("polls: some\n");
        assertThat(Path.of(mappedIn(output))).isEqualTo(file);
    }

    private static void assertUnavailable(String output, String message) {
        assertThat(output).isEqualTo("available: false\ncause: " + message + "\ninit: " + message + "\n");
    }

    private static Path extracted(Path base) throws IOException {
        try (Stream<Path> files = Files.walk(base)) {
            List<Path> found = files.filter(Files::isRegularFile).toList();
            assertThat(found).hasSize(1);
            return found.get(0);
        }
    }

    @Test
    void theJarsLibraryIsExtractedOnceToAPrivateFolder() throws Exception {
        String output = child().run().assertFine().output();
        Path file = extracted(temporary);
        assertSampled(output, file);
        assertThat(file.getFileName().toString()).matches(NAME);
        assertThat(file).hasSameBinaryContentAs(library);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())))
                .isEqualTo("rwx------");
        Object written = Files.getLastModifiedTime(file);
        assertSampled(child().run().assertFine().output(), file);
        assertThat(Files.getLastModifiedTime(extracted(temporary)))
                .as("used again")
                .isEqualTo(written);
    }

    @Test
    void anExtractedFileThatWasChangedIsNotRun() throws Exception {
        child().run().assertFine();
        Path file = extracted(temporary);
        Files.writeString(file, "something else");
        assertSampled(child().run().assertFine().output(), file);
        assertThat(file).hasSameBinaryContentAs(library);
    }

    @Test
    void theLibraryOfThePropertyIsUsedAndNoOther() throws Exception {
        assertSampled(
                child().option("-Dcom.incapsula.sampler.library=" + library)
                        .run()
                        .assertFine()
                        .output(),
                library);
        assertThat(temporary).as("nothing is extracted").isEmptyDirectory();
    }

    @Test
    void aLibraryThatIsNotThereIsNamed() throws Exception {
        Path nowhere = folder.resolve("nowhere.so");
        assertUnavailable(
                child().option("-Dcom.incapsula.sampler.library=" + nowhere)
                        .run()
                        .assertFine()
                        .output(),
                "-Dcom.incapsula.sampler.library=" + nowhere + ": there is no such file");
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void aForeignLibraryIsNamed() throws Exception {
        Path other = Path.of(System.getProperty("java.home"), "lib", "libextnet.so");
        assertUnavailable(
                child().option("-Dcom.incapsula.sampler.library=" + other)
                        .run()
                        .assertFine()
                        .output(),
                other + " is not the library of threads-sampler");
    }

    @Test
    void workdirIsMadeAndUsed() throws Exception {
        Path workdir = folder.resolve("my/work");
        String output = child().option("-Dcom.incapsula.sampler.workdir=" + workdir)
                .run()
                .assertFine()
                .output();
        assertSampled(output, extracted(workdir));
        assertThat(temporary).isEmptyDirectory();
    }

    /** The folder is on a file system that is mounted with noexec. Needs such a mount, or the right to make one. */
    @Test
    void aFolderWithoutExecutionIsPassedOverAndNamed() throws Exception {
        Noexec mounted = findNoexec();
        Tool.require(mounted != null, "no file system can be mounted without execution here, and none is");
        assertPassedOverAndNamed(mounted);
    }

    /** The same without a mount: a library pretends it. */
    @Test
    void aFolderThatSeemsToAllowNoExecutionIsSkippedAndNamed() throws Exception {
        assertPassedOverAndNamed(pretendedNoexec());
    }

    private void assertPassedOverAndNamed(Noexec noexec) throws Exception {
        Path home = Files.createDirectory(folder.resolve("home"));
        try {
            String output = noexec.child(home).run().assertFine().output();
            assertThat(output).endsWith("polls: some\nleft:\n");
            assertSampled(output.replace("left:\n", ""), extracted(home.resolve(".cache")));
            String reason = ": is on a file system that does not allow execution (noexec)";
            String message = "no folder can be used for the native library (" + noexec.folder + reason + "; "
                    + noexec.folder + "/.cache" + reason + "); name one that can be written to and that allows"
                    + " execution with -Dcom.incapsula.sampler.workdir=FOLDER,"
                    + " or the library itself with -Dcom.incapsula.sampler.library=FILE";
            assertThat(noexec.child(noexec.folder).run().assertFine().output())
                    .isEqualTo("available: false\ncause: " + message + "\ninit: " + message + "\nleft: .cache\n");
        } finally {
            Files.deleteIfExists(noexec.folder.resolve(".cache"));
            Files.deleteIfExists(noexec.folder);
        }
    }

    /* A folder that does not allow execution for programs that a shell with this prefix starts. */
    private record Noexec(Path folder, List<String> prefix, String preload) {

        ChildJvm child(Path home) {
            List<String> command = new ArrayList<>(prefix);
            String script = "{ \"$@\"; status=$?; echo left: $(ls -A '" + folder + "'); exit $status; }";
            command.set(command.size() - 1, command.get(command.size() - 1) + script);
            command.add("sh");
            return ChildJvm.of(AvailabilityProgram.class)
                    .by(command.toArray(String[]::new))
                    .option("-Djava.io.tmpdir=" + folder, "-Duser.home=" + home)
                    .environment("XDG_CACHE_HOME", "")
                    .environment("LD_PRELOAD", preload)
                    .environment("NOEXEC_FOLDER", folder.toString());
        }
    }

    /* An ordinary folder, and a preloaded library that refuses to execute files there. */
    private Noexec pretendedNoexec() throws Exception {
        return new Noexec(
                Files.createDirectory(folder.resolve("pretended")),
                List.of("sh", "-c", ""),
                Preload.compile("noexec_folder.c", folder).toString());
    }

    /*
     * Mounts it in a mount namespace of the child; if that is forbidden, finds an existing mount. Null if there is
     * none.
     */
    private Noexec findNoexec() throws Exception {
        Path mountPoint = Files.createDirectory(folder.resolve("noexec"));
        List<String> prefix = Container.inOwnMounts("mount -t tmpfs -o noexec none '" + mountPoint + "' && ");
        List<String> probe = new ArrayList<>(prefix);
        probe.set(probe.size() - 1, probe.get(probe.size() - 1) + "true");
        if (Tool.refusalOf(probe) == null) {
            return new Noexec(mountPoint, prefix, "");
        }
        for (String mount : Files.readAllLines(Path.of("/proc/self/mounts"))) {
            String[] fields = mount.split(" ");
            Path place = Path.of(fields[1]);
            if (fields[2].equals("tmpfs")
                    && List.of(fields[3].split(",")).contains("noexec")
                    && Files.isDirectory(place)
                    && Files.isWritable(place)) {
                return new Noexec(Files.createTempDirectory(place, "threads-sampler-it"), List.of("sh", "-c", ""), "");
            }
        }
        return null;
    }

    /** The first copy's samplers are closed, but its class loader still exists. */
    @Test
    void aSecondCopyInAnotherClassLoaderIsLoadedFromAFileOfItsOwn() throws Exception {
        String output = ChildJvm.of(TwoLoadersProgram.class)
                .option("-Djava.io.tmpdir=" + temporary)
                .run("both")
                .assertFine()
                .output();
        assertThat(output)
                .matches("(?s)available: true\nmapped: (\\S+)\\.so\npolls: some\n"
                        + "available: true\nmapped: \\1-2\\.so \\1\\.so\npolls: some\nfirst loader: there\n");
        assertThat(temporary
                        .resolve("threads-sampler-" + System.getProperty("user.name"))
                        .toFile()
                        .list())
                .hasSize(2);
    }

    @Test
    void whenTheFirstCopyIsGoneItsFileIsUsedAgain() throws Exception {
        String output = ChildJvm.of(TwoLoadersProgram.class)
                .option("-Djava.io.tmpdir=" + temporary)
                .option(TwoLoadersProgram.OPENED)
                .run("first gone")
                .assertFine()
                .output();
        assertThat(output)
                .contains("polls: some\nfirst loader gone: true\navailable: true\nmapped: " + extracted(temporary))
                .endsWith("polls: some\nfirst loader: gone\n");
    }

    @Test
    void theLibraryOfTheJvmItselfServesAllClassLoaders() throws Exception {
        String output = ChildJvm.of(TwoLoadersProgram.class)
                .option("-Djava.io.tmpdir=" + temporary)
                .option("-agentpath:" + library)
                .run("both")
                .assertFine()
                .output();
        String sampled = "available: true\nmapped: " + library + "\npolls: some\n";
        assertThat(output).isEqualTo(sampled + sampled + "first loader: there\n");
    }

    @Test
    void theLibraryMayBeLoadedAsAnAgent() throws Exception {
        String output =
                child().option("-agentpath:" + library).run().assertFine().output();
        assertThat(output).isEqualTo("available: true\nmapped: " + library + "\npolls: some\n");
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void theLibraryWorksAsAModule() throws Exception {
        String output = ChildJvm.bare(AvailabilityProgram.class.getName())
                .with(AvailabilityProgram.class)
                .option(
                        "--module-path",
                        ChildJvm.placeOf(ThreadsSampler.class).toString(),
                        "--add-modules",
                        "com.incapsula.sampler",
                        "--enable-native-access=com.incapsula.sampler",
                        "-Djava.io.tmpdir=" + temporary)
                .run()
                .assertFine()
                .output();
        assertSampled(output, extracted(temporary));
    }

    @Test
    void withoutSlf4jReportsGoToTheJdksLogging() throws Exception {
        String output = child().run("to the logger").assertFine().output();
        assertThat(output)
                .contains("INFO: Report interval: from ")
                .contains("Aggregated thread: main. Max depth: ")
                .contains("Sampler account.\npolls: ")
                .contains("polls: some\n");
    }

    @Test
    @EnabledForJreRange(minVersion = 24)
    void theCureIsNamedIfNativeAccessIsDenied() throws Exception {
        String output = child().option("--illegal-native-access=deny")
                .run()
                .assertFine()
                .output();
        assertUnavailable(output, "this JVM forbids native access: start it with --enable-native-access=ALL-UNNAMED");
        assertSampled(
                child().option("--illegal-native-access=deny", "--enable-native-access=ALL-UNNAMED")
                        .run()
                        .assertFine()
                        .output(),
                extracted(temporary));
    }

    @Test
    void anotherSystemIsRefusedWithItsName() throws Exception {
        assertUnavailable(
                child().option("-Dos.name=Mac OS X").run().assertFine().output(),
                "threads-sampler needs Linux, this is Mac OS X");
        assertUnavailable(
                child().option("-Dos.arch=riscv64").run().assertFine().output(),
                "threads-sampler needs x86-64 or aarch64, this is riscv64");
        assertThat(temporary).isEmptyDirectory();
    }
}
