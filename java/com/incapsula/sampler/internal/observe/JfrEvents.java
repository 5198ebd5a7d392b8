// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.observe;

import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.internal.engine.RawReport;
import com.incapsula.sampler.internal.engine.RawReport.Figure;
import com.incapsula.sampler.internal.engine.Snapshot;
import java.util.List;
import java.util.Map;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;

/**
 * The sampler's events in the flight recorder. By default they are off; a recording's settings can switch them on:
 * {@code +threadsampler.Interval#enabled=true}. From {@link #enable()} to {@link #disable()} they are switched on in
 * every recording whose settings do not name them.
 *
 * <p>Only this class and the event classes need the module {@code jdk.jfr}. If it is absent, they fail to load.
 *
 * <p>Threads: any.
 */
final class JfrEvents {

    static final int MAX_HOT_LINES = 20;

    private static final List<String> NAMES = List.of(IntervalEvent.NAME, HotLineEvent.NAME);
    private static final List<Class<? extends jdk.jfr.Event>> TYPES = List.of(IntervalEvent.class, HotLineEvent.class);

    private final FlightRecorderListener listener = new FlightRecorderListener() {
        @Override
        public void recordingStateChanged(Recording recording) {
            if (recording.getState() == RecordingState.RUNNING) {
                switchOn(recording);
            }
        }
    };

    void enable() {
        TYPES.forEach(FlightRecorder::register);
        FlightRecorder.addListener(listener);
        if (FlightRecorder.isInitialized()) {
            FlightRecorder.getFlightRecorder().getRecordings().stream()
                    .filter(recording -> recording.getState() == RecordingState.RUNNING)
                    .forEach(JfrEvents::switchOn);
        }
    }

    void disable() {
        FlightRecorder.removeListener(listener);
    }

    private static void switchOn(Recording recording) {
        Map<String, String> settings = recording.getSettings();
        for (String name : NAMES) {
            if (!settings.containsKey(name + "#enabled")) {
                recording.enable(name);
            }
        }
    }

    /** @return true if a recording wants one of the events */
    static boolean areWanted() {
        return new IntervalEvent().isEnabled() || new HotLineEvent().isEnabled();
    }

    /** Writes the events of one interval that a recording wants. */
    static void write(Snapshot snapshot) {
        RawReport raw = snapshot.figures();
        IntervalEvent interval = new IntervalEvent();
        if (interval.shouldCommit()) {
            fill(interval, raw);
            interval.commit();
        }
        if (new HotLineEvent().isEnabled()) {
            writeHotLines(snapshot, raw);
        }
    }

    private static void fill(IntervalEvent event, RawReport raw) {
        event.from = Figure.FROM.of(raw);
        event.till = Figure.TILL.of(raw);
        event.elapsed = Figure.ELAPSED.of(raw);
        event.ownCpu = Figure.OWN_CPU.of(raw);
        event.memoryUsed = Figure.MEMORY_USED.of(raw);
        event.memoryLimit = Figure.MEMORY_LIMIT.of(raw);
        event.polls = Figure.POLLS.of(raw);
        event.groups = Figure.GROUPS.of(raw);
        event.wall = raw.total(ReportMeasure.WALL);
        event.cpu = raw.total(ReportMeasure.CPU);
        event.setStates(raw::total);
        event.samples = raw.total(ReportMeasure.SAMPLES);
        event.account = account(raw);
    }

    private static String account(RawReport raw) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < raw.account().length; i++) {
            if (raw.account()[i] != 0) {
                String name = raw.accountNames().get(i);
                text.append(text.length() == 0 ? "" : "; ")
                        .append(name.substring(name.indexOf('.') + 1))
                        .append(": ")
                        .append(raw.account()[i]);
            }
        }
        return text.toString();
    }

    private static void writeHotLines(Snapshot snapshot, RawReport raw) {
        long wall = raw.total(ReportMeasure.WALL);
        int rank = 0;
        for (Snapshot.HotLine line : snapshot.hotLines(MAX_HOT_LINES)) {
            HotLineEvent event = new HotLineEvent();
            event.from = Figure.FROM.of(raw);
            event.rank = ++rank;
            event.line = line.text();
            event.group = line.group();
            event.className = line.className();
            event.method = line.method() == null ? line.text() : line.method();
            event.lineNumber = line.line();
            event.wall = line.of(ReportMeasure.WALL);
            event.cpu = line.of(ReportMeasure.CPU);
            event.setStates(line::of);
            event.samples = line.of(ReportMeasure.SAMPLES);
            event.share = wall == 0 ? 0 : (float) ((double) event.wall / wall);
            event.commit();
        }
    }
}
