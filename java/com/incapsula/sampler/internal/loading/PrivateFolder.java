// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import com.incapsula.sampler.internal.report.Folders;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;

/**
 * A folder that only this user can change, and files in it whose content is checked before they are used. Native code
 * must not come from a folder that others can write to.
 *
 * <p>Files are read and written through streams, not channels: an interrupt of the thread would close a channel.
 */
final class PrivateFolder {

    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
    private static final FileAttribute<Set<PosixFilePermission>> MODE =
            PosixFilePermissions.asFileAttribute(OWNER_ONLY);
    private static final int WRITABLE_BY_OTHERS = 0002;
    private static final int STICKY = 01000;

    private final Path base;
    private final boolean isNamed;
    private final Path folder;

    /**
     * Names the folder; creates nothing.
     *
     * @param base the parent of the folder; {@link #place} creates it if it is missing
     * @param user the user's name, part of the folder's name
     * @param isNamed true: an option of the JVM names the base, so it is as trusted as other options are. Others may be
     *     able to write to it, as to the volumes that Kubernetes makes for a pod
     */
    PrivateFolder(Path base, String user, boolean isNamed) {
        this.base = base.toAbsolutePath();
        this.isNamed = isNamed;
        this.folder = this.base.resolve("threads-sampler-" + asName(user));
    }

    /**
     * Makes a text that can be a part of a file's name. Without a regular expression, as the first one in a JVM takes
     * 8 ms.
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
     * Makes sure that a file with this content is in the folder.
     *
     * @return the file
     * @throws IOException the message is the reason, without the folder's name
     */
    Path place(String name, byte[] content) throws IOException {
        try {
            makeFolder();
            Path temporary = makeTemporary(name);
            try {
                checkFolder(temporary);
                Path file = folder.resolve(name);
                if (!holds(file, content)) {
                    write(temporary, content);
                    Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
                }
                return file;
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (FileSystemException e) {
            throw new IOException(e.getReason() == null ? e.getClass().getSimpleName() : e.getReason(), e);
        }
    }

    /** Removes a file that cannot be used here, and the folder if it is empty then. */
    void discard(Path file) {
        try {
            Files.deleteIfExists(file);
            Files.deleteIfExists(folder);
        } catch (IOException inUse) {
            // the folder has another file in it, or was removed meanwhile
        }
    }

    private void makeFolder() throws IOException {
        Folders.make(base);
        int mode = (Integer) Files.getAttribute(base, "unix:mode");
        if (!isNamed && (mode & WRITABLE_BY_OTHERS) != 0 && (mode & STICKY) == 0) {
            throw new IOException("others can write to " + base + " and its sticky bit is not set");
        }
        try {
            Files.createDirectory(folder, MODE);
        } catch (FileAlreadyExistsException ofAnEarlierRun) {
            // the checks below are for a new folder and an old one
        }
        PosixFileAttributes found = attributes(folder);
        if (!found.isDirectory()) {
            throw new IOException(folder + " is not a folder");
        }
        if (!found.permissions().equals(OWNER_ONLY)) {
            throw new IOException(folder + " has mode " + PosixFilePermissions.toString(found.permissions())
                    + " and must have " + PosixFilePermissions.toString(OWNER_ONLY));
        }
    }

    /* Not createTempFile, whose random numbers take 30 ms in a JVM that has just started. Only the owner can create files
     * here, and createFile never takes an existing one. */
    private Path makeTemporary(String name) throws IOException {
        while (true) {
            try {
                return Files.createFile(
                        folder.resolve(name + "." + Long.toHexString(System.nanoTime()) + ".tmp"), MODE);
            } catch (FileAlreadyExistsException ofAnotherJvm) {
                // another JVM made it in the same nanosecond: try the next one
            }
        }
    }

    /* A new file belongs to the user of this JVM; root can create one in a folder of any user. */
    private void checkFolder(Path madeByUs) throws IOException {
        if (!attributes(folder).owner().equals(attributes(madeByUs).owner())) {
            throw new IOException(folder + " belongs to " + attributes(folder).owner());
        }
    }

    private static boolean holds(Path file, byte[] content) throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        PosixFileAttributes found = attributes(file);
        if (!found.isRegularFile() || !found.permissions().equals(OWNER_ONLY) || found.size() != content.length) {
            return false;
        }
        try (InputStream in = new FileInputStream(file.toFile())) {
            return Arrays.equals(in.readAllBytes(), content);
        }
    }

    private static void write(Path file, byte[] content) throws IOException {
        try (OutputStream out = new FileOutputStream(file.toFile())) {
            out.write(content);
        }
    }

    private static PosixFileAttributes attributes(Path path) throws IOException {
        return Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    }
}
