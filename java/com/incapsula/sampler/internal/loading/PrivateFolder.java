// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import com.incapsula.sampler.internal.report.FileStatus;
import com.incapsula.sampler.internal.report.Folders;
import com.incapsula.sampler.internal.report.OpenFolder;
import com.incapsula.sampler.internal.report.Resource;
import com.incapsula.sampler.internal.report.WholeFile;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * A folder that only this user can change, with files whose content is checked before use. Native code must not come
 * from a folder that others can write to or replace.
 *
 * <p>Files are read through streams, because an interrupt of the thread would close a channel.
 */
final class PrivateFolder {

    private static final int OWNER_ONLY = 0700;
    private static final String OWNER_ONLY_TEXT = "rwx------";

    private final Path base;
    private final boolean isNamed;
    private final Path folder;

    /**
     * Determines the folder; creates nothing.
     *
     * @param base the parent of the folder; {@link #place} creates it if it is missing
     * @param user the user's name, part of the folder's name
     * @param isNamed whether an option of the JVM names the base. Then it is trusted like other options, even if others
     *     can write to it, as to volumes of Kubernetes
     */
    PrivateFolder(Path base, String user, boolean isNamed) {
        this.base = base.toAbsolutePath();
        this.isNamed = isNamed;
        this.folder = this.base.resolve("threads-sampler-" + asName(user));
    }

    /**
     * Converts a text to a part of a file's name. Uses no regular expression, as the first one in a JVM takes 8 ms.
     *
     * @return text with {@code _} for everything but ASCII letters, digits, {@code .}, {@code _} and {@code -}
     */
    static String asName(String text) {
        char[] name = text.toCharArray();
        for (int i = 0; i < name.length; i++) {
            char c = name[i];
            boolean isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            boolean isFit = isLetter || (c >= '0' && c <= '9') || c == '.' || c == '-';
            name[i] = isFit ? c : '_';
        }
        return new String(name);
    }

    Path path() {
        return folder;
    }

    /**
     * Ensures that a file with this content is in the folder.
     *
     * @return the file, by a path without links
     * @throws IOException the message is the reason, without the folder's name
     */
    Path place(String name, Resource content) throws IOException {
        try {
            Path made = makeFolder();
            Path file = made.resolve(name);
            if (!holds(file, content)) {
                try (OpenFolder open = OpenFolder.open(made)) {
                    WholeFile.replace(open, Path.of(name), content, ownerOnly());
                }
            }
            return file;
        } catch (FileSystemException e) {
            throw new IOException(e.getReason() == null ? e.getClass().getSimpleName() : e.getReason(), e);
        }
    }

    /** Removes an unusable file, and the folder if it is then empty. */
    void discard(Path file) {
        try {
            Files.deleteIfExists(file);
            Files.deleteIfExists(file.getParent());
        } catch (IOException inUse) {
            // the folder has another file, or was removed meanwhile
        }
    }

    /* Links are resolved first, so that none is left that could be replaced. */
    private Path makeFolder() throws IOException {
        Path real = Folders.make(base).toRealPath();
        int user = Folders.userOfThisProcess();
        if (!isNamed) {
            Folders.requireSafe(real.getRoot(), real, user);
        }
        Path made = real.resolve(folder.getFileName());
        if (!Files.exists(made, LinkOption.NOFOLLOW_LINKS)) {
            makeFolder(made);
        }
        requireOwn(made, user);
        return made;
    }

    private static void makeFolder(Path made) throws IOException {
        try {
            Files.createDirectory(made, ownerOnly());
        } catch (FileAlreadyExistsException ofAnotherJvm) {
            // the checks that follow apply to an existing folder, too
        }
    }

    private static FileAttribute<?> ownerOnly() {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OWNER_ONLY_TEXT));
    }

    private static void requireOwn(Path made, int user) throws IOException {
        FileStatus found = FileStatus.of(made);
        if (!found.isFolder()) {
            throw new IOException(made + " is not a folder");
        }
        if (found.user() != user) {
            throw new IOException(made + " belongs to "
                    + Files.getOwner(made, LinkOption.NOFOLLOW_LINKS).getName());
        }
        if (found.permissions() != OWNER_ONLY) {
            throw new IOException(made + " has mode "
                    + PosixFilePermissions.toString(Files.getPosixFilePermissions(made, LinkOption.NOFOLLOW_LINKS))
                    + " and must have " + OWNER_ONLY_TEXT);
        }
    }

    /* Compares the checksum of the jar, so that a truncated or corrupt file is written again. */
    private static boolean holds(Path file, Resource content) throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        FileStatus found = FileStatus.of(file);
        if (!found.isFile() || found.permissions() != OWNER_ONLY || found.size() != content.size()) {
            return false;
        }
        try (InputStream in = new FileInputStream(file.toFile())) {
            return Resource.of(in.readAllBytes()).crc() == content.crc();
        }
    }
}
