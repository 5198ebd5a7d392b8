// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Makes folders, and says which ones are safe from other users. */
public final class Folders {

    private static final int WRITABLE_BY_OTHERS = 0022;
    private static final int STICKY = 01000;

    private Folders() {}

    /**
     * Makes a folder, and those above it, where they are missing. A link to a folder is one, too, which
     * {@link Files#createDirectories} of early updates of JDK 17 refuses.
     *
     * @param folder the folder
     * @return the same
     * @throws IOException if it cannot be made
     */
    public static Path make(Path folder) throws IOException {
        return Files.isDirectory(folder) ? folder : Files.createDirectories(folder);
    }

    /**
     * Makes sure that only root and these users can put another folder in the place of this one: each folder above it, and
     * itself, belongs to one of them, and no other user can write to it, unless its sticky bit keeps others from renaming
     * what is in it. The owner of the root folder counts as root, who has another number in some namespaces.
     *
     * @param root the root folder; of another process, perhaps
     * @param folder a path below the root, without links
     * @param users who are trusted besides root
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
     * The user that owns the files which this process makes.
     *
     * @return a number
     * @throws IOException if the system does not say it
     */
    public static int userOfThisProcess() throws IOException {
        String user = ProcessStatus.last("Uid"); // real, effective, saved, file's
        if (user.isEmpty()) {
            throw new IOException("the system does not say which user this process has");
        }
        return (int) Long.parseLong(user);
    }
}
