// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Map;

/**
 * The status of a file or folder, read by one call, because each kind of attributes of {@code java.nio.file} would load
 * classes of its own. Links are not followed.
 *
 * @param mode kind and permissions, as in {@code stat(2)}
 * @param user the owner's number
 * @param size bytes
 */
public record FileStatus(int mode, int user, long size) {

    private static final int KIND = 0170000;
    private static final int FOLDER = 0040000;
    private static final int FILE = 0100000;
    private static final int PERMISSIONS = 0777;

    /**
     * Reads the status.
     *
     * @return its status
     * @throws IOException if there is no such file, or access is denied
     */
    public static FileStatus of(Path path) throws IOException {
        Map<String, Object> found = Files.readAttributes(path, "unix:mode,uid,size", LinkOption.NOFOLLOW_LINKS);
        return new FileStatus((Integer) found.getOrDefault("mode", 0), (Integer) found.getOrDefault("uid", -1), (Long)
                found.getOrDefault("size", -1L));
    }

    /** {@return true for a folder, false for a link to one} */
    public boolean isFolder() {
        return (mode & KIND) == FOLDER;
    }

    /** {@return true for a file with content, false for a link to one} */
    public boolean isFile() {
        return (mode & KIND) == FILE;
    }

    /** {@return the permissions, as the number that chmod takes} */
    public int permissions() {
        return mode & PERMISSIONS;
    }
}
