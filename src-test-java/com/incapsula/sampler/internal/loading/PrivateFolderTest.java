// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.incapsula.sampler.internal.report.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateFolderTest {

    private static final byte[] CONTENT = {1, 2, 3};
    private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000_000_000L);

    @TempDir
    Path base;

    private PrivateFolder folder;

    @BeforeEach
    void makeFolder() {
        folder = new PrivateFolder(base, "me", false);
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private static void chmod(Path path, String mode) throws IOException {
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
    }

    private static void assertRefused(PrivateFolder folder, String reason) {
        assertThatIOException()
                .isThrownBy(() -> folder.place("c.so", Resource.of(CONTENT)))
                .withMessageStartingWith(reason);
    }

    private void assertOnly(Path file) throws IOException {
        try (Stream<Path> files = Files.list(folder.path())) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void charactersThatAFileNameCannotHaveAreReplaced() {
        assertThat(PrivateFolder.asName("1.0-b_9AZaz")).isEqualTo("1.0-b_9AZaz");
        assertThat(PrivateFolder.asName("a/b\\c d:e@f[g`h{i\u00e9")).isEqualTo("a_b_c_d_e_f_g_h_i_");
        assertThat(PrivateFolder.asName("")).isEmpty();
    }

    @Test
    void fileIsPlacedForTheOwnerOnly() throws IOException {
        Path file = folder.place("a.so", Resource.of(CONTENT));
        assertThat(file).isEqualTo(base.resolve("threads-sampler-me/a.so")).hasBinaryContent(CONTENT);
        assertThat(mode(file)).isEqualTo("rwx------");
        assertThat(mode(file.getParent())).isEqualTo("rwx------");
        assertOnly(file);
    }

    @Test
    void missingParentsAreMade() throws IOException {
        PrivateFolder deep = new PrivateFolder(base.resolve("x/y"), "me", false);
        assertThat(deep.place("a.so", Resource.of(CONTENT))).hasBinaryContent(CONTENT);
    }

    @Test
    void fileOfTheSameContentIsUsedAsItIs() throws IOException {
        Path file = folder.place("a.so", Resource.of(CONTENT));
        Files.setLastModifiedTime(file, LONG_AGO);
        assertThat(folder.place("a.so", Resource.of(CONTENT))).isEqualTo(file);
        assertThat(Files.getLastModifiedTime(file)).isEqualTo(LONG_AGO);
        assertOnly(file);
    }

    @Test
    void fileOfOtherContentOrModeIsReplaced() throws IOException {
        Path file = folder.place("a.so", Resource.of(CONTENT));
        Files.write(file, new byte[] {1, 2, 4});
        assertThat(folder.place("a.so", Resource.of(CONTENT))).hasBinaryContent(CONTENT);

        chmod(file, "rw-------");
        folder.place("a.so", Resource.of(CONTENT));
        assertThat(mode(file)).isEqualTo("rwx------");
        assertOnly(file);
    }

    @Test
    void linkInPlaceOfTheFileIsReplacedNotFollowed() throws IOException {
        Path target = Files.write(base.resolve("target"), CONTENT);
        chmod(target, "rwx------");
        Path file = folder.place("a.so", Resource.of(CONTENT));
        Files.delete(file);
        Files.createSymbolicLink(file, target);

        folder.place("a.so", Resource.of(CONTENT));
        assertThat(file).isRegularFile();
        assertThat(Files.isSymbolicLink(file)).isFalse();
    }

    @Test
    void folderThatOthersMayUseIsRefused() throws IOException {
        folder.place("a.so", Resource.of(CONTENT));
        chmod(folder.path(), "rwxr-xr-x");
        assertRefused(folder, folder.path() + " has mode rwxr-xr-x and must have rwx------");
    }

    @Test
    void linkInPlaceOfTheFolderIsRefused() throws IOException {
        Path elsewhere = Files.createDirectory(base.resolve("elsewhere"));
        chmod(elsewhere, "rwx------");
        Files.createSymbolicLink(folder.path(), elsewhere);
        assertRefused(folder, folder.path() + " is not a folder");
        assertThat(elsewhere).isEmptyDirectory();
    }

    @Test
    void folderOfAnotherUserIsRefused() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can give files away");
        folder.place("a.so", Resource.of(CONTENT));
        Files.setAttribute(folder.path(), "unix:uid", 65534);
        assertRefused(folder, folder.path() + " belongs to ");
        assertOnly(folder.path().resolve("a.so"));
    }

    @Test
    void baseThatOthersCanRenameInIsRefused() throws IOException {
        chmod(base, "rwxrwxrwx");
        assertRefused(folder, "others can write to " + base + " and its sticky bit is not set");
        Files.setAttribute(base, "unix:mode", 01777);
        assertThat(folder.place("a.so", Resource.of(CONTENT))).exists();
    }

    /** The owner of such a folder could replace our library, even if the private folder itself is safe. */
    @Test
    void foldersAboveTheBaseThatOthersCanRenameInAreRefused() throws IOException {
        Path above = Files.createDirectory(base.resolve("above"));
        PrivateFolder deep = new PrivateFolder(above.resolve("x/y"), "me", false);
        deep.place("a.so", Resource.of(CONTENT));
        Files.setAttribute(above, "unix:mode", 02775);
        assertRefused(deep, "others can write to " + above + " and its sticky bit is not set");
        Files.setAttribute(above, "unix:mode", 03775);
        deep.place("a.so", Resource.of(CONTENT));
    }

    @Test
    void foldersAboveTheBaseThatBelongToOthersAreRefused() throws IOException {
        assumeTrue("root".equals(System.getProperty("user.name")), "only root can give files away");
        Path above = Files.createDirectory(base.resolve("above"));
        PrivateFolder deep = new PrivateFolder(above.resolve("x"), "me", false);
        deep.place("a.so", Resource.of(CONTENT));
        Files.setAttribute(above, "unix:uid", 65534);
        assertRefused(deep, above + " belongs to ");
        assertThat(new PrivateFolder(above.resolve("x"), "me", true).place("a.so", Resource.of(CONTENT)))
                .hasBinaryContent(CONTENT);
    }

    @Test
    void baseThatAnOptionNamesIsTrusted() throws IOException {
        chmod(base, "rwxrwxrwx");
        Path file = new PrivateFolder(base, "me", true).place("a.so", Resource.of(CONTENT));
        assertThat(file).hasBinaryContent(CONTENT);
        assertThat(mode(file.getParent())).isEqualTo("rwx------");
    }

    @Test
    void baseMayBeALinkToAFolder() throws IOException {
        Path link = Files.createSymbolicLink(base.resolve("link"), Files.createDirectory(base.resolve("real")));
        assertThat(new PrivateFolder(link, "me", false).place("a.so", Resource.of(CONTENT)))
                .isEqualTo(base.resolve("real/threads-sampler-me/a.so"))
                .hasBinaryContent(CONTENT);
    }

    @Test
    void fileInPlaceOfTheBaseIsRefused() throws IOException {
        Path file = Files.createFile(base.resolve("file"));
        assertRefused(new PrivateFolder(file, "me", false), "FileAlreadyExistsException");
    }

    @Test
    void strangeUserNamesMakeSafeFolderNames() {
        assertThat(new PrivateFolder(base, "../DOM\\a b", false).path().toString())
                .isEqualTo(base + "/threads-sampler-.._DOM_a_b");
    }

    @Test
    void placesOnAnInterruptedThread() throws IOException {
        Thread.currentThread().interrupt();
        try {
            Path file = folder.place("a.so", Resource.of(CONTENT));
            folder.place("a.so", Resource.of(CONTENT));
            assertThat(Files.size(file)).isEqualTo(3);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void discardRemovesTheFileAndTheEmptyFolderOnly() throws IOException {
        Path first = folder.place("a.so", Resource.of(CONTENT));
        Path second = folder.place("b.so", Resource.of(CONTENT));
        folder.discard(first);
        assertOnly(second);
        folder.discard(second);
        assertThat(folder.path()).doesNotExist();
    }
}
