// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the kernel says of this process in /proc/self/status. */
public final class ProcessStatus {

    private ProcessStatus() {}

    /** @return a figure in kilobytes */
    public static long kilobytes(String key) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(key + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }
}
