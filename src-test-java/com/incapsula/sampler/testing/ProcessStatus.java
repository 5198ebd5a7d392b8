// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The kernel's status files of this process and of its threads. */
public final class ProcessStatus {

    private ProcessStatus() {}

    /** @return the value of a line, in kilobytes */
    public static long kilobytes(String key) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(key + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    /** @return the status lines of each live thread whose name begins with this text, by thread id */
    public static Map<String, List<String>> ofThreads(String name) throws IOException {
        Map<String, List<String>> found = new HashMap<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : (Iterable<Path>) tasks::iterator) {
                try {
                    if (Files.readString(task.resolve("comm")).startsWith(name)) {
                        found.put(task.getFileName().toString(), Files.readAllLines(task.resolve("status")));
                    }
                } catch (IOException e) {
                    /* The thread has ended. */
                    continue;
                }
            }
        }
        return found;
    }
}
