// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;

/**
 * The files of another process, as this one sees them: the process may have another mount namespace, another root, or
 * belong to another user. Then it gets a copy of the jar, which stays while the target runs and which later commands use
 * again: a JVM keeps the jars of its agents open. The target removes it when it ends, if it is allowed to.
 *
 * <p>Threads: one at a time.
 */
final class TargetFiles {

    private static final int SIGQUIT = 3;

    private final Path process;
    private boolean copied;

    /** @param pid the process, as this one sees it */
    TargetFiles(String pid) {
        process = Path.of("/proc", pid);
    }

    /** @return true: {@link #placeJar} has made a copy */
    boolean hasCopied() {
        return copied;
    }

    /**
     * Makes sure that the target can read the agent's jar.
     *
     * @param properties the target's system properties
     * @return the jar's path for the target
     */
    String placeJar(Properties properties) throws IOException {
        Path jar = ownJar();
        if (!hasOtherFiles() && !hasOtherUser()) {
            return jar.toString();
        }
        String before = properties.getProperty(AgentSession.JAR_PROPERTY);
        if (before != null && Files.isRegularFile(here(before), LinkOption.NOFOLLOW_LINKS)) {
            return before;
        }
        String temporary = properties.getProperty("java.io.tmpdir", "/tmp");
        Path folder = Files.createTempDirectory(here(temporary), "threads-sampler-agent-");
        Path copy = Files.copy(jar, folder.resolve("threads-sampler.jar"));
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        copied = true;
        return Path.of(temporary, folder.getFileName().toString(), "threads-sampler.jar")
                .toString();
    }

    /**
     * Whether a process may be sent SIGQUIT, as the attach API of JDK 17 does with any.
     *
     * @return false if that would end it; true also where this is not known
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
            // attaching says what is wrong
        }
        return true;
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

    /**
     * Moves a file that the target has made for this process: reads it, and removes it.
     *
     * @param path its path for the target
     * @return its content
     * @throws IOException if it is not there, or is not a file of the target's user
     */
    byte[] take(String path) throws IOException {
        Path file = here(path);
        if (path.contains("..")
                || !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
                || !userOf(file).equals(userOf(process))) {
            throw new IOException("the target's report " + file + " is no file of its user");
        }
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            return in.readAllBytes();
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private Path here(String path) {
        return hasOtherFiles() ? process.resolve("root").resolve("." + path).normalize() : Path.of(path);
    }

    private boolean hasOtherFiles() {
        return differs("ns/mnt") || differs("root");
    }

    /* What this process must not see counts as the same. */
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
        return !userOf(process).equals(userOf(Path.of("/proc/self")));
    }

    /* As a number: it may have no name here. */
    private static Object userOf(Path path) throws IOException {
        Path real = path.equals(Path.of("/proc/self")) ? path.toRealPath() : path;
        return Files.getAttribute(real, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }
}
