// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Makes folders. */
public final class Folders {

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
}
