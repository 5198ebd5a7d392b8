// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.price;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;

/** What the kernel tells of the threads of this process. */
final class Tasks {

    private static final Path TASKS = Path.of("/proc/self/task");

    private Tasks() {
    }

    /** Reads one figure of one thread. */
    @FunctionalInterface
    private interface Reader {
        long read(Path task) throws IOException;
    }

    /** CPU time in nanoseconds by thread id, but of the thread that asks. */
    static Map<String, Long> cpuNanos() throws IOException {
        String self = Path.of("/proc/thread-self").toRealPath().getFileName().toString();
        Map<String, Long> times = read("", task -> Long.parseLong(firstWord(task.resolve("schedstat"))));
        times.remove(self);
        return times;
    }

    /** How often threads went off a processor, by thread id; only of threads whose name has that beginning. */
    static Map<String, Long> switches(String name) throws IOException {
        return read(name, task -> Files.readAllLines(task.resolve("status")).stream()
                .filter(line -> line.contains("_ctxt_switches"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).trim())).sum());
    }

    /** Growth, of threads that are in both and of threads that are new. */
    static long grown(Map<String, Long> before, Map<String, Long> after) {
        return after.entrySet().stream()
                .mapToLong(entry -> entry.getValue() - before.getOrDefault(entry.getKey(), 0L)).sum();
    }

    /** A figure of /proc/self/status in kilobytes. */
    static long statusKilobytes(String key) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith(key + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).findFirst().orElseThrow();
    }

    private static Map<String, Long> read(String name, Reader reader) throws IOException {
        Map<String, Long> figures = new HashMap<>();
        try (Stream<Path> tasks = Files.list(TASKS)) {
            for (Path task : (Iterable<Path>) tasks::iterator) {
                try {
                    if (Files.readString(task.resolve("comm")).startsWith(name)) {
                        figures.put(task.getFileName().toString(), reader.read(task));
                    }
                } catch (IOException e) {
                    /* The thread has ended. */
                    continue;
                }
            }
        }
        return figures;
    }

    private static String firstWord(Path file) throws IOException {
        String text = Files.readString(file);
        return text.substring(0, text.indexOf(' '));
    }
}
