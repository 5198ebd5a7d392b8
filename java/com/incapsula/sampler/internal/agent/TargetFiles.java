// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import static java.util.Objects.requireNonNull;

import com.incapsula.sampler.internal.engine.LoadedLibrary;
import com.incapsula.sampler.internal.report.Folders;
import com.incapsula.sampler.internal.report.IoReason;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/**
 * Access to the files of another process, which may have another mount namespace, another root, or another user. Such a
 * process gets copies of the jar and of the native library. They remain while the target runs, because a JVM keeps the
 * jars of its agents open. The target removes them when it ends, if it is allowed to.
 *
 * <p>Paths from such a process are not trusted. Folders are opened one by one, without following links: this process
 * would resolve an absolute link in its own root, and could remove files there that the target cannot even see.
 *
 * <p>Threads: one at a time.
 */
final class TargetFiles {

    private static final int SIGQUIT = 3;
    private static final String LIBRARY_EXTENSION = ".so";

    private final Path process;
    private final List<String> copies = new ArrayList<>();

    /** @param pid the process id in this process's namespace */
    TargetFiles(String pid) {
        process = Path.of("/proc", pid);
    }

    /** @return the copies, by their paths in the target */
    List<String> copies() {
        return copies;
    }

    /** Ensures that the target can read the agent's jar. @return the jar's path in the target */
    String placeJar(Properties properties) throws IOException {
        Path jar = ownJar();
        if (!isForeign()) {
            return jar.toString();
        }
        String before = properties.getProperty(AgentSession.JAR_PROPERTY);
        if (before != null && Files.isRegularFile(here(before), LinkOption.NOFOLLOW_LINKS)) {
            return before;
        }
        return copy(jar, properties);
    }

    /**
     * Ensures that the target can load the native library as an agent.
     *
     * @return the library's path in the target
     * @throws UnsupportedOperationException if there is no folder for it
     */
    String placeLibrary(Properties properties) throws IOException {
        Path library = LoadedLibrary.file();
        return isForeign() ? copy(library, properties) : library.toString();
    }

    private String copy(Path file, Properties properties) throws IOException {
        String named = LoadedLibrary.namedFolder();
        if (named != null) {
            String copy = copyInto(root(), named, file);
            copies.add(copy);
            return copy;
        }
        IOException first = null;
        for (String folder : List.of(properties.getProperty("java.io.tmpdir", "/tmp"), "/tmp")) {
            try {
                Folders.requireSafe(
                        root().resolve("."), absolute(folder), Folders.userOfThisProcess(), userOf(process));
                String copy = copyInto(root(), folder, file);
                copies.add(copy);
                return copy;
            } catch (IOException e) {
                first = first == null ? e : first;
            }
        }
        throw new IOException(
                "no copy of " + file + " can be made for the target: " + IoReason.of(requireNonNull(first))
                        + "; name a folder, if you trust those that can write to it, with -D"
                        + LoadedLibrary.FOLDER_PROPERTY
                        + "=FOLDER",
                first);
    }

    /** Removes the copies if the target has not taken them over. */
    void removeCopies() throws IOException {
        removeCopies("");
    }

    /** Removes the copy of the library if the target cannot load it; else each command would leave another copy. */
    void removeLibrary() throws IOException {
        removeCopies(LIBRARY_EXTENSION);
    }

    private void removeCopies(String end) throws IOException {
        for (String copy : copies) {
            if (!copy.endsWith(end)) {
                continue;
            }
            Path file = absolute(copy);
            try (SecureDirectoryStream<Path> in = open(root(), requireNonNull(file.getParent()))) {
                in.deleteFile(requireNonNull(file.getFileName()));
            }
        }
        copies.removeIf(copy -> copy.endsWith(end));
    }

    /**
     * Copies a file into a folder below the root of another process.
     *
     * @param folder its path in the other process
     * @return the copy's path in the other process
     */
    static String copyInto(Path root, String folder, Path file) throws IOException {
        Path parent = absolute(folder);
        String extension = file.toString().endsWith(LIBRARY_EXTENSION) ? LIBRARY_EXTENSION : ".jar";
        Path name = Path.of("threads-sampler-agent-"
                + Long.toHexString(ThreadLocalRandom.current().nextLong()) + extension);
        Set<PosixFilePermission> readable = PosixFilePermissions.fromString("rw-r--r--");
        Set<OpenOption> created = Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        try (SecureDirectoryStream<Path> in = open(root, parent)) {
            try (OutputStream out = Channels.newOutputStream(
                    in.newByteChannel(name, created, PosixFilePermissions.asFileAttribute(readable)))) {
                fill(out, file, in, name);
            }
            view(in, name).setPermissions(readable); // independently of this process's umask
        }
        return parent.resolve(name).toString();
    }

    /**
     * {@return false if SIGQUIT would end a process; true also if this is not known} The attach API of JDK 17 sends the
     * signal to any process.
     */
    static boolean catchesQuit(String pid) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", pid, "status"))) {
                if (line.startsWith("SigCgt:")) {
                    long caught = Long.parseUnsignedLong(
                            line.substring("SigCgt:".length()).strip(), 16);
                    return (caught >> (SIGQUIT - 1) & 1) != 0;
                }
            }
        } catch (IOException | NumberFormatException unknown) {
            // attaching reports the error
        }
        return true;
    }

    /**
     * {@return true if a process is no JVM; false also if this is not known} Such a process may use SIGQUIT for another
     * purpose: nginx and PostgreSQL end.
     */
    static boolean isNoJvm(String pid) {
        try (Stream<String> mapped = Files.lines(Path.of("/proc", pid, "maps"), StandardCharsets.ISO_8859_1)) {
            return mapped.noneMatch(line -> line.contains("/libjvm.so") || line.endsWith("/java"));
        } catch (IOException | UncheckedIOException unknown) {
            return false;
        }
    }

    static Path ownJar() throws IOException {
        try {
            Path jar = Path.of(TargetFiles.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            if (Files.isRegularFile(jar)) {
                return jar.toAbsolutePath();
            }
            throw new IOException("threads-sampler runs from " + jar + ", which is no jar");
        } catch (URISyntaxException e) {
            throw new IOException(e);
        }
    }

    private static void fill(OutputStream out, Path file, SecureDirectoryStream<Path> folder, Path name)
            throws IOException {
        try {
            Files.copy(file, out);
        } catch (IOException e) {
            folder.deleteFile(name);
            throw e;
        }
    }

    /**
     * Reads and removes a file that the target has made for this process.
     *
     * @throws IOException if it does not exist or does not belong to the target's user
     */
    byte[] take(String path) throws IOException {
        if (isForeign()) {
            return takeFrom(root(), path, Files.getOwner(process, LinkOption.NOFOLLOW_LINKS));
        }
        Path file = Path.of(path);
        try {
            return Files.readAllBytes(file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** As {@link #take}, below the root of another process, whose user must own the file. */
    static byte[] takeFrom(Path root, String path, UserPrincipal owner) throws IOException {
        Path file = absolute(path);
        Path folder = file.getParent();
        Path name = file.getFileName();
        if (folder == null || name == null) {
            throw new IOException("the target's report " + path + " is no file");
        }
        try (SecureDirectoryStream<Path> in = open(root, folder)) {
            PosixFileAttributes found = view(in, name).readAttributes();
            if (!found.isRegularFile() || !found.owner().equals(owner)) {
                throw new IOException("the target's report " + path + " is no file of its user");
            }
            Set<OpenOption> read = Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
            try (InputStream content = Channels.newInputStream(in.newByteChannel(name, read))) {
                return content.readAllBytes();
            } finally {
                in.deleteFile(name);
            }
        }
    }

    /** @return the path in this process of a socket of the target */
    Path socket(String path) throws IOException {
        return here(absolute(path).toString());
    }

    private static PosixFileAttributeView view(SecureDirectoryStream<Path> folder, Path name) {
        return folder.getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    }

    private static Path absolute(String path) throws IOException {
        Path given = Path.of(path);
        if (!given.isAbsolute() || !given.equals(given.normalize())) {
            throw new IOException("the target names " + path + ", which is no plain absolute path");
        }
        return given;
    }

    @SuppressWarnings("StreamResourceLeak") // the caller closes the last one
    private static SecureDirectoryStream<Path> open(Path root, Path folder) throws IOException {
        SecureDirectoryStream<Path> opened = secure(Files.newDirectoryStream(root));
        for (Path part : folder) {
            try (SecureDirectoryStream<Path> outer = opened) {
                opened = outer.newDirectoryStream(part, LinkOption.NOFOLLOW_LINKS);
            }
        }
        return opened;
    }

    private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> folder) throws IOException {
        if (folder instanceof SecureDirectoryStream<Path> secure) {
            return secure;
        }
        folder.close();
        throw new IOException("folders cannot be opened one in the other here");
    }

    private Path root() {
        return hasOtherFiles() ? process.resolve("root") : Path.of("/");
    }

    private boolean isForeign() throws IOException {
        return hasOtherFiles() || hasOtherUser();
    }

    private Path here(String path) {
        return hasOtherFiles() ? process.resolve("root").resolve("." + path).normalize() : Path.of(path);
    }

    private boolean hasOtherFiles() {
        return differs("ns/mnt") || differs("root");
    }

    /* A link that this process must not read counts as equal. */
    private boolean differs(String what) {
        String own = link(Path.of("/proc/self", what));
        String other = link(process.resolve(what));
        return !own.isEmpty() && !other.isEmpty() && !own.equals(other);
    }

    private static String link(Path path) {
        try {
            return Files.readSymbolicLink(path).toString();
        } catch (IOException | SecurityException e) {
            return "";
        }
    }

    private boolean hasOtherUser() throws IOException {
        return userOf(process) != Folders.userOfThisProcess();
    }

    /* A number, because the user may have no name here. */
    private static int userOf(Path path) throws IOException {
        return (Integer) Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }
}
