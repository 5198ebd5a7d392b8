// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.incapsula.sampler.internal.report.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeLibraryTest {

    /* CRC-32 and length of "library". */
    private static final String NAME = "libthreads-sampler-1.2-a18098bc00000007.so";

    private static final int NEEDED_ABI = 7;

    @TempDir
    Path folder;

    private final World world = new World();

    private static final class World implements NativeLibrary.Surroundings, NativeLibrary.Bound {

        final Properties properties = new Properties();
        final Map<String, String> environment = new HashMap<>();
        final Map<String, byte[]> resources = new HashMap<>();
        final List<String> loaded = new ArrayList<>();
        final Map<String, Throwable> refusals = new HashMap<>();
        boolean bound;
        boolean bindsOnLoad = true;
        int abi = NEEDED_ABI;
        Integer abiOnLoad;
        final Map<String, Integer> abis = new HashMap<>(); // versions of the interface by file
        String version = "1.2";
        boolean noExecution;
        String refusal;
        int joins;

        @Override
        public Properties properties() {
            return properties;
        }

        @Override
        public String environment(String name) {
            return environment.get(name);
        }

        @Override
        public Resource resource(String name) {
            byte[] content = resources.get(name);
            return content == null ? null : Resource.of(content);
        }

        @Override
        public String version() {
            return version;
        }

        @Override
        public String join() {
            joins++;
            return refusal;
        }

        @Override
        public void load(String path) {
            for (Map.Entry<String, Throwable> refusal : refusals.entrySet()) {
                if (path.startsWith(refusal.getKey())) {
                    refuse(Path.of(path), refusal.getValue());
                }
            }
            loaded.add(path);
            bound = bindsOnLoad;
            abi = abis.getOrDefault(path, abiOnLoad == null ? abi : abiOnLoad);
        }

        private void refuse(Path path, Throwable refusal) {
            if (noExecution) {
                dropExecutePermission(path);
            }
            if (refusal instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) refusal;
        }

        /* For access(2), also of root, this looks like a mount with noexec, which a test cannot create. */
        private static void dropExecutePermission(Path path) {
            try {
                Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public int abi() {
            if (!bound) {
                throw new UnsatisfiedLinkError("int abi()");
            }
            return abi;
        }
    }

    private Path temporary;
    private Path home;

    @BeforeEach
    void describeWorld() throws IOException {
        temporary = Files.createDirectory(folder.resolve("tmp"));
        home = Files.createDirectory(folder.resolve("home"));
        world.properties.setProperty("os.name", "Linux");
        world.properties.setProperty("os.arch", "amd64");
        world.properties.setProperty("java.vm.name", "OpenJDK 64-Bit Server VM");
        world.properties.setProperty("java.io.tmpdir", temporary.toString());
        world.properties.setProperty("user.home", home.toString());
        world.properties.setProperty("user.name", "me");
        world.resources.put("/META-INF/native/linux-x86_64/libthreads-sampler.so", "library".getBytes(UTF_8));
    }

    private String load() {
        NativeLibrary library = new NativeLibrary(world, NEEDED_ABI, world);
        library.load();
        return library.loaded();
    }

    private void assertUnavailable(String message) {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(this::load)
                .withMessage(message);
    }

    private String in(Path base) {
        return base.resolve("threads-sampler-me").resolve(NAME).toString();
    }

    private static UnsatisfiedLinkError noexec() {
        return new UnsatisfiedLinkError("failed to map segment from shared object");
    }

    @Test
    void isExtractedUnderAStableNameToTheTemporaryFolder() {
        assertThat(load()).isEqualTo(in(temporary));
        assertThat(world.loaded).containsExactly(in(temporary));
        assertThat(Path.of(in(temporary))).hasContent("library");
        assertThat(world.joins).isEqualTo(1);
    }

    /* CRC-32 of nothing is 0. */
    @Test
    void figuresAreWrittenWithTheirLeadingZeros() {
        world.resources.replaceAll((name, content) -> new byte[0]);
        assertThat(load()).endsWith("/libthreads-sampler-1.2-0000000000000000.so");
    }

    @Test
    void workdirComesFirstAndIsMade() {
        Path workdir = folder.resolve("work/dir");
        world.properties.setProperty("com.incapsula.sampler.workdir", workdir.toString());
        load();
        assertThat(world.loaded).containsExactly(in(workdir));
    }

    @Test
    void unusableFoldersArePassedOver() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        world.properties.setProperty("com.incapsula.sampler.workdir", file.toString());
        world.refusals.put(temporary.toString(), noexec());
        world.noExecution = true;
        load();
        assertThat(world.loaded).containsExactly(in(home.resolve(".cache")));
        assertThat(temporary).as("nothing is left behind").isEmptyDirectory();
    }

    /** The mode of volumes of a Kubernetes pod ({@code emptyDir}) is drwxrwxrwx. */
    @Test
    void aFolderThatTheUserNamesMayBeOpenToOthersAndNoOther() throws IOException {
        Path volume = Files.createDirectory(folder.resolve("volume"));
        Files.setPosixFilePermissions(volume, PosixFilePermissions.fromString("rwxrwxrwx"));
        world.properties.setProperty("java.io.tmpdir", volume.toString());
        assertThat(load()).isEqualTo(in(home.resolve(".cache")));
        world.bound = false;
        world.properties.setProperty("com.incapsula.sampler.workdir", volume.toString());
        assertThat(load()).isEqualTo(in(volume));
    }

    /** A home with an umlaut is not a path in the locale C. */
    @Test
    void aFolderThatIsNoPathKeepsNoOtherFromUse() {
        world.properties.setProperty("user.home", "/home/j\0rgen");
        assertThat(load()).isEqualTo(in(temporary));
        world.bound = false;
        world.properties.setProperty("java.io.tmpdir", "/t\0mp");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(this::load)
                .withMessageContaining("(/t\0mp: is no path in this locale; /home/j\0rgen/.cache: is no path in");
    }

    @Test
    void noHomeIsUsedIfTheSystemDoesNotKnowTheUser() {
        world.properties.setProperty("user.home", "?");
        world.properties.remove("java.io.tmpdir");
        assertUnavailable(
                "no folder for the native library is known: name one with -Dcom.incapsula.sampler.workdir=FOLDER");
        assertThat(Path.of("?")).doesNotExist();
    }

    @Test
    void cacheOfTheEnvironmentIsPreferred() {
        world.refusals.put(temporary.toString(), noexec());
        world.noExecution = true;
        world.environment.put("XDG_CACHE_HOME", folder.resolve("cache").toString());
        load();
        assertThat(world.loaded).containsExactly(in(folder.resolve("cache")));
    }

    @Test
    void whenNoFolderIsLeftTheMessageNamesAllAndTheCure() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        world.properties.setProperty("com.incapsula.sampler.workdir", file.toString());
        world.refusals.put(folder.toString(), noexec());
        world.noExecution = true;
        assertUnavailable("no folder can be used for the native library ("
                + file + ": cannot be used: FileAlreadyExistsException; "
                + temporary + ": is on a file system that does not allow execution (noexec); "
                + home + "/.cache: is on a file system that does not allow execution (noexec));"
                + " name one that can be written to and that allows execution"
                + " with -Dcom.incapsula.sampler.workdir=FOLDER,"
                + " or the library itself with -Dcom.incapsula.sampler.library=FILE");
    }

    @Test
    void libraryThatCannotBeLinkedIsNotTriedElsewhere() {
        world.refusals.put(folder.toString(), new UnsatisfiedLinkError("version `GLIBC_9.9' not found"));
        assertUnavailable(in(temporary) + " cannot be loaded: version `GLIBC_9.9' not found");
        assertThat(home).isEmptyDirectory();
    }

    @Test
    void explicitFileIsLoadedFromWhereItIs() throws IOException {
        Path file = Files.createFile(folder.resolve("mine.so"));
        world.properties.setProperty("com.incapsula.sampler.library", file.toString());
        world.bound = true;
        load();
        assertThat(world.loaded).containsExactly(file.toString());
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void explicitFileHasNoFallback() throws IOException {
        Path file = folder.resolve("mine.so");
        world.properties.setProperty("com.incapsula.sampler.library", file.toString());
        assertUnavailable("-Dcom.incapsula.sampler.library=" + file + ": there is no such file");
        Files.createFile(file);
        world.refusals.put(file.toString(), noexec());
        assertUnavailable("-Dcom.incapsula.sampler.library=" + file + ": failed to map segment from shared object");
        assertThat(world.loaded).isEmpty();
    }

    @Test
    void libraryOfAgentpathIsUsedAsItIs() {
        world.bound = true;
        assertThat(load()).isEqualTo("-agentpath");
        assertThat(world.loaded).isEmpty();
        assertThat(world.joins).isEqualTo(1);
    }

    @Test
    void aFileForAnotherJvmIsPlacedAndNotLoaded() {
        Path placed = new NativeLibrary(world, NEEDED_ABI, world).place();
        assertThat(placed).hasToString(in(temporary)).isExecutable();
        assertThat(world.loaded).isEmpty();
    }

    @Test
    void staleLibraryIsNamed() {
        world.abi = 77;
        assertUnavailable(in(temporary) + " is stale: it was built for version 77 of the seam between Java and C,"
                + " these classes need version " + NEEDED_ABI);
    }

    @Test
    void aLibraryOfAgentpathOfAnotherVersionIsLeftAlone() {
        world.bound = true;
        world.abi = 77;
        world.abiOnLoad = NEEDED_ABI;
        assertThat(load()).isEqualTo(in(temporary));
    }

    private String loadAttached(String file) {
        NativeLibrary library = new NativeLibrary(world, NEEDED_ABI, world);
        library.load(file);
        return library.loaded();
    }

    @Test
    void anAttachedFileIsUsed() throws IOException {
        Path file = Files.writeString(folder.resolve("attached.so"), "library");
        assertThat(loadAttached(file.toString())).isEqualTo(file.toString());
        world.refusals.put(file.toString(), inUse());
        assertThat(loadAttached(file.toString()))
                .as("the application's copy has it")
                .isEqualTo(in(temporary));
    }

    /** The application's class path has another version of the agent's classes than the command line that attaches. */
    @Test
    void anAttachedFileOfAnotherVersionIsLeftAlone() throws IOException {
        Path file = Files.writeString(folder.resolve("attached.so"), "another");
        world.abis.put(file.toString(), 77);
        world.abis.put(in(temporary), NEEDED_ABI);
        assertThat(loadAttached(file.toString())).isEqualTo(in(temporary));
        assertThat(world.joins).isEqualTo(1);
    }

    @Test
    void aCoreThatCannotBeUsedIsNamed() {
        world.refusal = "out of memory";
        assertUnavailable(in(temporary) + " cannot be used: out of memory");
    }

    @Test
    void aStaleLibraryIsNotConnected() {
        world.abi = 77;
        assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this::load);
        assertThat(world.joins).isZero();
    }

    @Test
    void otherLibraryIsNamed() {
        world.bindsOnLoad = false;
        assertUnavailable(in(temporary) + " is not the library of threads-sampler");
    }

    private static UnsatisfiedLinkError inUse() {
        return new UnsatisfiedLinkError("Native Library x already loaded in another classloader");
    }

    private String copy(int number) {
        return in(temporary).replace(".so", "-" + number + ".so");
    }

    @Test
    void aCopyIsLoadedIfAnotherClassLoaderHasLoadedTheFile() {
        world.refusals.put(in(temporary), inUse());
        assertThat(load()).isEqualTo(copy(2));
        assertThat(Path.of(copy(2))).hasContent("library");
        world.refusals.put(copy(2), inUse());
        world.bound = false;
        assertThat(load()).isEqualTo(copy(3));
        world.refusals.remove(in(temporary));
        world.bound = false;
        assertThat(load()).as("its class loader has been collected").isEqualTo(in(temporary));
    }

    @Test
    void anExplicitFileIsCopiedLikewise() throws IOException {
        Path file = Files.writeString(folder.resolve("mine.so"), "library");
        world.properties.setProperty("com.incapsula.sampler.library", file.toString());
        world.refusals.put(file.toString(), inUse());
        assertThat(load()).isEqualTo(in(temporary));
    }

    @Test
    void classLoadersThatAreNeverCollectedDoNotFillTheMemory() {
        world.refusals.put(folder.toString(), inUse());
        assertUnavailable(
                "64 copies of threads-sampler are loaded in this JVM, by other class loaders that have not been"
                        + " collected: keep one copy, in a class loader that all its users share");
        assertThat(temporary.resolve("threads-sampler-me").toFile().list()).hasSize(64);
    }

    @Test
    void forbiddenNativeAccessIsExplained() {
        world.refusals.put(folder.toString(), new IllegalCallerException("Illegal native access"));
        assertUnavailable("this JVM forbids native access: start it with --enable-native-access=ALL-UNNAMED");
    }

    @Test
    void jarWithoutThisPlatformSaysSo() {
        world.properties.setProperty("os.arch", "aarch64");
        assertUnavailable("the jar of threads-sampler carries no library for this platform:"
                + " /META-INF/native/linux-aarch64/libthreads-sampler.so is missing");
    }

    @Test
    void otherSystemIsRefusedBeforeAnythingIsTried() {
        world.properties.setProperty("os.name", "Mac OS X");
        assertUnavailable("threads-sampler needs Linux, this is Mac OS X");
        assertThat(temporary).isEmptyDirectory();
    }

    @Test
    void withoutAnyKnownFolderTheCureIsNamed() {
        world.properties.remove("java.io.tmpdir");
        world.properties.setProperty("user.home", "");
        assertUnavailable(
                "no folder for the native library is known: name one with" + " -Dcom.incapsula.sampler.workdir=FOLDER");
    }
}
