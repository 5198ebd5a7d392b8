// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/** Reads the samples of a .jfr file, as JFR and async-profiler write it. */
final class Recordings {

    private static final Set<String> SAMPLES =
            Set.of("jdk.ExecutionSample", "jdk.NativeMethodSample", "jdk.CPUTimeSample", "profiler.WallClockSample");
    private static final Set<String> FAILURES = Set.of(
            "unknown_state",
            "unknown_Java",
            "unknown_not_Java",
            "not_walkable_Java",
            "not_walkable_not_Java",
            "no_Java_frame",
            "no_class_load",
            "GC_active",
            "deoptimization",
            "safepoint",
            "thread_exit",
            "unknown_nmethod",
            "unknown_recovery");

    private Recordings() {}

    static Map<String, Profile> read(Path file, Function<String, String> group) throws IOException {
        Map<String, Profile> profiles = new HashMap<>();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                String type = event.getEventType().getName();
                boolean lost = type.equals("jdk.CPUTimeSamplesLost");
                String key = lost || SAMPLES.contains(type) ? group.apply(threadName(event)) : null;
                if (key == null) {
                    continue;
                }
                Profile profile = profiles.computeIfAbsent(key, made -> new Profile());
                if (lost) {
                    profile.addFailed("lost", event.getLong("lostSamples"));
                } else {
                    addSample(profile, event);
                }
            }
        }
        return profiles;
    }

    static String threadName(RecordedEvent event) {
        RecordedThread thread = event.getThread(event.hasField("sampledThread") ? "sampledThread" : "eventThread");
        return thread == null || thread.getJavaName() == null ? "" : thread.getJavaName();
    }

    private static void addSample(Profile profile, RecordedEvent event) {
        double weight = event.hasField("samples") ? event.getInt("samples") : 1;
        boolean failed = event.getStackTrace() == null || event.hasField("failed") && event.getBoolean("failed");
        if (failed) {
            profile.addFailed("no stack", weight);
            return;
        }
        profile.add(frames(event), weight);
    }

    /** The frames of an event, leaf first. The event must have a stack. */
    static List<Frame> frames(RecordedEvent event) {
        List<Frame> frames = new ArrayList<>();
        for (RecordedFrame frame : event.getStackTrace().getFrames()) {
            frames.add(frame(frame));
        }
        return frames;
    }

    /** Whether a wall clock sample is of a thread that is neither running nor runnable. */
    static boolean isSleeping(RecordedEvent event) {
        return event.getString("state").equals("STATE_SLEEPING");
    }

    private static Frame frame(RecordedFrame frame) {
        String type = frame.getMethod().getType() == null
                ? ""
                : frame.getMethod().getType().getName();
        String name = frame.getMethod().getName();
        if (type == null || type.isEmpty()) {
            boolean failed = name.startsWith("break_") || FAILURES.contains(name);
            return new Frame(failed ? Frame.Kind.FAILED : Frame.Kind.CODE, "[" + name + "]", 0);
        }
        return new Frame(Frame.Kind.JAVA, type.replace('/', '.') + "." + name, Math.max(0, frame.getLineNumber()));
    }
}
