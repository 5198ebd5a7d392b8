// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Creates folders, and checks that other users cannot replace them. */
public final class Folders {

    private static final int WRITABLE_BY_OTHERS = 0022;
    private static final int STICKY = 01000;

    private Folders() {}

    /**
     * Creates a folder and its parents, if they are missing. A link to a folder counts as a folder;
     * {@link Files#createDirectories} refuses it in early updates of JDK 17.
     *
     * @throws IOException if it cannot be made
     */
    public static Path make(Path folder) throws IOException {
        return Files.isDirectory(folder) ? folder : Files.createDirectories(folder);
    }

    /**
     * Requires that only root and these users can replace a folder. The folder and each of its parents must belong to
     * one of them, and no other user may write to it, unless its sticky bit prevents renaming. The owner of the root
     * folder counts as root, who has another number in some namespaces.
     *
     * @param root the root folder, which may be that of another process
     * @param folder a path below the root, without links
     * @param users trusted users besides root
     * @throws IOException the message is the reason
     */
    public static void requireSafe(Path root, Path folder, int... users) throws IOException {
        Set<Integer> trusted = new HashSet<>(List.of(0, FileStatus.of(root).user()));
        for (int user : users) {
            trusted.add(user);
        }
        Path at = root;
        requireSafe(at, trusted);
        for (Path part : folder) {
            at = at.resolve(part);
            requireSafe(at, trusted);
        }
    }

    private static void requireSafe(Path folder, Set<Integer> trusted) throws IOException {
        FileStatus found = FileStatus.of(folder);
        if (!found.isFolder()) {
            throw new IOException(folder + " is not a folder");
        }
        if (!trusted.contains(found.user())) {
            throw new IOException(folder + " belongs to "
                    + Files.getOwner(folder, LinkOption.NOFOLLOW_LINKS).getName());
        }
        if ((found.mode() & WRITABLE_BY_OTHERS) != 0 && (found.mode() & STICKY) == 0) {
            throw new IOException("others can write to " + folder + " and its sticky bit is not set");
        }
    }

    /**
     * The user who owns new files of this process.
     *
     * @return the user's number
     * @throws IOException if it is not known
     */
    public static int userOfThisProcess() throws IOException {
        String user = ProcessStatus.last("Uid"); // real, effective, saved, file system
        if (user.isEmpty()) {
            throw new IOException("the system does not say which user this process has");
        }
        return (int) Long.parseLong(user);
    }
}
