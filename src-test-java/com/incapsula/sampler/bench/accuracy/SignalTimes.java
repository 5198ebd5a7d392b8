// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * How long a profiler's signal handlers take on one thread. In a JVM that has loaded
 * {@link com.incapsula.sampler.bench.ObservedLibrary}.
 */
public final class SignalTimes {

    private SignalTimes() {}

    /**
     * Begins; after the profiler was started, because the handlers of that moment are measured.
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
            return false; // it has ended
        }
    }

    private static native void start(int tid);

    /**
     * Ends; before the profiler is stopped.
     *
     * @return nanoseconds of each signal
     */
    public static native int[] stop();
}
