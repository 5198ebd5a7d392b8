// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import jdk.jfr.Recording;

/** The JDK's flight recorder. Weights are samples. */
final class JfrPeer implements Peer {

    private final boolean cpuTime;
    private Recording recording;

    /** cpuTime: the CPU-time sampler of JDK 25 instead of the one that looks at a few threads in turn. */
    JfrPeer(boolean cpuTime) {
        this.cpuTime = cpuTime;
    }

    @Override
    public void start() {
        recording = new Recording();
        if (cpuTime) {
            recording.enable("jdk.CPUTimeSample").with("throttle", "1ms");
            recording.enable("jdk.CPUTimeSamplesLost");
        } else {
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(1));
            recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(1));
        }
        recording.start();
    }

    @Override
    public Profile stop(Predicate<String> thread) throws Exception {
        recording.stop();
        Path file = Files.createTempFile("bench", ".jfr");
        try {
            recording.dump(file);
            return Recordings.read(file, thread);
        } finally {
            recording.close();
            Files.delete(file);
        }
    }
}
