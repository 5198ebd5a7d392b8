// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * The time in a profiler's signal handlers on one thread. Needs a JVM that has loaded {@link
 * com.incapsula.sampler.bench.ObservedLibrary}.
 */
public final class SignalTimes {

    private SignalTimes() {}

    /**
     * Begins to measure the handlers that are installed now, so the profiler must have been started.
     *
     * @param thread its name, at most 15 characters
     * @throws IOException if there is none
     */
    public static void startOf(String thread) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            start(tasks.filter(task -> isNamed(task, thread))
                    .mapToInt(task -> Integer.parseInt(task.getFileName().toString()))
                    .findFirst()
                    .orElseThrow(() -> new IOException("no thread " + thread)));
        }
    }

    private static boolean isNamed(Path task, String name) {
        try {
            return Files.readString(task.resolve("comm")).strip().equals(name);
        } catch (IOException e) {
            return false; // the thread has ended
        }
    }

    private static native void start(int tid);

    /**
     * Ends. Must be called before the profiler is stopped.
     *
     * @return nanoseconds of each signal
     */
    public static native int[] stop();
}
