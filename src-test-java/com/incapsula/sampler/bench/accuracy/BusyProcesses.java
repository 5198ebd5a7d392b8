// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Processes that only use their processor. They run on the processors of this JVM, and end after a while if nothing
 * else ends them.
 */
final class BusyProcesses implements AutoCloseable {

    private static final String ALLOWED = "Cpus_allowed_list:";

    private final List<Process> processes = new ArrayList<>();

    /** @param seconds the longest run time */
    BusyProcesses(int count, long seconds) throws IOException {
        try {
            for (int i = 0; i < count; i++) {
                processes.add(new ProcessBuilder("timeout", String.valueOf(seconds), "sh", "-c", "while :; do :; done")
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start());
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** The last processor that this JVM may use. The first ones handle most of the interrupts. */
    static int lastCpu() throws IOException {
        String list = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(ALLOWED))
                .findFirst()
                .orElseThrow();
        String[] numbers = list.substring(ALLOWED.length()).trim().split("[,-]");
        return Integer.parseInt(numbers[numbers.length - 1]);
    }

    @Override
    public void close() {
        processes.forEach(Process::destroy);
    }
}
