// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** The counts and times of chosen methods by JDK 25 itself, without a tree. */
public final class MethodTimingPeer {

    /** The name in tables, and of the event. */
    public static final String NAME = "jdk.MethodTiming";

    private final String filter;
    private Recording recording;

    /**
     * Creates one.
     *
     * @param filter classes, or methods as {@code class::method}, separated by semicolons
     */
    public MethodTimingPeer(String filter) {
        this.filter = filter;
    }

    /**
     * Whether this JDK has it.
     *
     * @return true from JDK 25 on
     */
    public static boolean isThere() {
        return FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .anyMatch(type -> type.getName().equals(NAME));
    }

    /** Starts to count. */
    public void start() {
        recording = new Recording();
        recording.enable(NAME).with("filter", filter).with("period", "endChunk");
        recording.start();
    }

    /**
     * Ends.
     *
     * @return the calls of all methods since the start
     */
    public long stop() throws IOException {
        Path file = Files.createTempFile("bench", ".jfr");
        try {
            recording.stop();
            recording.dump(file);
            recording.close();
            long calls = 0;
            for (RecordedEvent event : RecordingFile.readAllEvents(file)) {
                calls += event.getEventType().getName().equals(NAME) ? event.getLong("invocations") : 0;
            }
            return calls;
        } finally {
            Files.delete(file);
        }
    }
}
