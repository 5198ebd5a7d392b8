// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Function;
import jdk.jfr.Recording;

/** The JDK's flight recorder. Weights are numbers of samples. */
final class JfrPeer implements GroupedPeer {

    private final boolean cpuTime;
    private final long intervalMillis;
    private Recording recording;

    /** @param cpuTime true for the CPU-time sampler of JDK 25, false for the one that samples a few threads in turn */
    JfrPeer(boolean cpuTime) {
        this(cpuTime, 1);
    }

    JfrPeer(boolean cpuTime, long intervalMillis) {
        this.cpuTime = cpuTime;
        this.intervalMillis = intervalMillis;
    }

    @Override
    public void start() {
        recording = new Recording();
        if (cpuTime) {
            recording.enable("jdk.CPUTimeSample").with("throttle", intervalMillis + "ms");
            recording.enable("jdk.CPUTimeSamplesLost");
        } else {
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(intervalMillis));
            recording.enable("jdk.NativeMethodSample").withPeriod(Duration.ofMillis(intervalMillis));
        }
        recording.start();
    }

    @Override
    public Map<String, Profile> stopByGroup(Function<String, String> group) throws Exception {
        recording.stop();
        Path file = Files.createTempFile("bench", ".jfr");
        try {
            recording.dump(file);
            return Recordings.read(file, group);
        } finally {
            recording.close();
            Files.delete(file);
        }
    }
}
