// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.SamplingRow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import jdk.jfr.Configuration;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import one.profiler.AsyncProfiler;

/**
 * A profiler that reports what threads wait for, or at least where they wait. Its terms are translated into the six
 * states of this project's sampler.
 */
public abstract class ReasonsPeer {

    /** The states that a profiler can report for a thread at a moment. */
    public enum Reason {
        RUNNING,
        RUNNABLE,
        /** One of the two, without distinction. */
        RUNNING_OR_RUNNABLE,
        BLOCKED,
        IO,
        WAITING,
        IDLE,
        /** The thread holds a monitor for which another thread is blocked. */
        HOLDS_MONITOR,
        /** The thread holds a lock of java.util.concurrent for which another thread is blocked. */
        HOLDS_LOCK,
        /** The place of the thread without a reason. */
        UNSAID
    }

    /**
     * An amount that was found.
     *
     * @param thread the name of the thread or of its group
     * @param reason why
     * @param stack leaf first; empty if the profiler has none; for a holder the holder's stack
     * @param millis the time in the interval; for a holder the time that other threads waited
     */
    public record Found(String thread, Reason reason, List<Frame> stack, double millis) {

        private Found scaled(double factor) {
            return new Found(thread, reason, stack, millis * factor);
        }
    }

    /** Names as printed in tables. */
    public static final List<String> NAMES = List.of(
            Peer.HYBRID,
            "JFR default",
            "JFR profile",
            "JFR, no thresholds",
            "async-profiler lock",
            "async-profiler cpu + wall");

    private static final long INTERVAL_MILLIS = 20;
    private static final long CPU_INTERVAL_MILLIS = 10; // the default of both profilers with CPU time
    /* Events are written when they end. Events that overlap the interval are found by their own times. */
    private static final long MARGIN_MILLIS = 400;

    /**
     * Makes a profiler.
     *
     * @param name one of NAMES
     * @return the profiler, stopped
     */
    public static ReasonsPeer of(String name) {
        return switch (NAMES.indexOf(name)) {
            case 0 -> new Ours();
            case 1 -> new Jfr("default", false);
            case 2 -> new Jfr("profile", false);
            case 3 -> new Jfr("profile", true);
            case 4 -> new Async("event=lock", EnumSet.of(Reason.BLOCKED));
            case 5 ->
                new Async(
                        "event=cpu,interval=" + CPU_INTERVAL_MILLIS + "ms,wall=" + INTERVAL_MILLIS + "ms",
                        EnumSet.of(Reason.RUNNING, Reason.RUNNING_OR_RUNNABLE, Reason.UNSAID));
            default -> throw new IllegalArgumentException("no profiler " + name);
        };
    }

    /** Starts. The interval begins when it returns. */
    public abstract void start() throws Exception;

    /**
     * Stops. The interval ends when it is called.
     *
     * @return the amounts of the interval
     */
    public abstract List<Found> stop() throws Exception;

    /**
     * All reasons that it can report.
     *
     * @return the reasons
     */
    public abstract Set<Reason> reasons();

    /** This project's sampler, with the settings of a user. */
    private static final class Ours extends ReasonsPeer {

        private static final List<Reason> STATES =
                List.of(Reason.RUNNING, Reason.RUNNABLE, Reason.BLOCKED, Reason.IO, Reason.WAITING, Reason.IDLE);

        private final SamplerPeer sampler = SamplerPeer.withDefaultLimit(INTERVAL_MILLIS);
        private long begin;

        @Override
        public void start() throws Exception {
            sampler.start();
            Thread.sleep(MARGIN_MILLIS);
            sampler.forget();
            begin = System.nanoTime();
        }

        @Override
        public List<Found> stop() throws IOException {
            double elapsed = System.nanoTime() - begin;
            List<Found> found = new ArrayList<>();
            try (SamplingReport report = sampler.report()) {
                for (Reason state : STATES) {
                    SamplerPeer.profiles(report, ReportMeasure.valueOf(state.name()), Function.identity())
                            .forEach((group, profile) -> profile.stacks()
                                    .forEach((stack, millis) -> found.add(new Found(group, state, stack, millis))));
                }
                for (SamplingGroup holders : report.getLockHolders()) {
                    addHolders(report.rows(holders), holders.getName(), List.of(), found);
                }
                // the report begins a little earlier and ends later than the interval
                double share = elapsed / report.getElapsed().toNanos();
                return found.stream().map(one -> one.scaled(share)).toList();
            }
        }

        /* Adds the holders at their own stacks. The report does not name the kind of lock; the table's row does. */
        private static void addHolders(List<SamplingRow> rows, String group, List<Frame> callers, List<Found> found) {
            for (SamplingRow row : rows) {
                List<Frame> stack = new ArrayList<>(callers);
                stack.add(0, new Frame(Frame.Kind.JAVA, row.getClassName() + "." + row.getMethodName(), row.getLine()));
                double millis = row.getOwnWallNanos() / 1e6;
                found.add(new Found(group, Reason.HOLDS_MONITOR, stack, millis));
                found.add(new Found(group, Reason.HOLDS_LOCK, stack, millis));
                addHolders(row.children(), group, stack, found);
            }
        }

        @Override
        public Set<Reason> reasons() {
            Set<Reason> reasons = EnumSet.copyOf(STATES);
            reasons.addAll(Set.of(Reason.HOLDS_MONITOR, Reason.HOLDS_LOCK));
            return reasons;
        }
    }

    /** A profiler whose recordings are evaluated. */
    private abstract static class Recorded extends ReasonsPeer {

        private Instant begin;
        private Instant end;

        @Override
        public void start() throws Exception {
            startRecording();
            Thread.sleep(MARGIN_MILLIS);
            begin = Instant.now();
        }

        @Override
        public List<Found> stop() throws Exception {
            end = Instant.now();
            Thread.sleep(MARGIN_MILLIS);
            Path file = stopRecording();
            List<Found> found = new ArrayList<>();
            try (RecordingFile events = new RecordingFile(file)) {
                while (events.hasMoreEvents()) {
                    add(events.readEvent(), found);
                }
            } finally {
                Files.delete(file);
            }
            return found;
        }

        private void add(RecordedEvent event, List<Found> found) {
            String type = event.getEventType().getName();
            Reason reason = reason(type, event);
            double millis = millis(type, event);
            if (reason == null || millis <= 0 || event.getStackTrace() == null) {
                return;
            }
            found.add(new Found(Recordings.threadName(event), reason, Recordings.frames(event), millis));
            if (event.hasField("previousOwner") && event.getThread("previousOwner") != null) {
                String owner = event.getThread("previousOwner").getJavaName();
                found.add(new Found(String.valueOf(owner), Reason.HOLDS_MONITOR, List.of(), millis));
            }
        }

        /* The part of an event that lies in the interval. */
        private double millis(String type, RecordedEvent event) {
            Instant from = event.getStartTime();
            Instant till = event.getEndTime();
            if (from.equals(till)) {
                return sampleMillis(type, event, !from.isBefore(begin) && !from.isAfter(end));
            }
            Duration inside = Duration.between(from.isBefore(begin) ? begin : from, till.isAfter(end) ? end : till);
            return inside.toNanos() / 1e6;
        }

        abstract void startRecording() throws Exception;

        abstract Path stopRecording() throws Exception;

        /** Null if the event is not used. */
        abstract Reason reason(String type, RecordedEvent event);

        /** For an event without a duration: its weight, inside or outside the interval. */
        abstract double sampleMillis(String type, RecordedEvent event, boolean inside);

        double elapsedMillis() {
            return Duration.between(begin, end).toNanos() / 1e6;
        }
    }

    /** The JDK's flight recorder. */
    private static final class Jfr extends Recorded {

        private static final String CPU_SAMPLE = "jdk.CPUTimeSample";

        private final String configuration;
        private final boolean allEvents;
        private final boolean hasCpuTime = FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .anyMatch(type -> type.getName().equals(CPU_SAMPLE));
        private Recording recording;

        /** allEvents: without thresholds and throttles, and with CPU time if the JDK has it. */
        Jfr(String configuration, boolean allEvents) {
            this.configuration = configuration;
            this.allEvents = allEvents;
        }

        @Override
        void startRecording() throws IOException, ParseException {
            recording = new Recording(Configuration.getConfiguration(configuration));
            if (allEvents) {
                for (String event : List.of("JavaMonitorEnter", "JavaMonitorWait", "ThreadPark", "ThreadSleep")) {
                    recording.enable("jdk." + event).withThreshold(Duration.ZERO);
                }
                recording.enable("jdk.SocketRead").withThreshold(Duration.ZERO).with("throttle", "off");
                if (hasCpuTime) {
                    recording.disable("jdk.ExecutionSample");
                    recording.enable(CPU_SAMPLE).with("throttle", CPU_INTERVAL_MILLIS + "ms");
                }
            }
            recording.start();
        }

        @Override
        Path stopRecording() throws IOException {
            recording.stop();
            Path file = Files.createTempFile("bench", ".jfr");
            recording.dump(file);
            recording.close();
            return file;
        }

        @Override
        Reason reason(String type, RecordedEvent event) {
            return switch (type) {
                case "jdk.JavaMonitorEnter" -> Reason.BLOCKED;
                case "jdk.SocketRead" -> Reason.IO;
                case "jdk.ThreadSleep" -> Reason.WAITING;
                case "jdk.ExecutionSample", CPU_SAMPLE -> Reason.RUNNING;
                case "jdk.JavaMonitorWait" -> Reason.UNSAID;
                case "jdk.ThreadPark" -> reasonOfPark(event);
                default -> null;
            };
        }

        /* The class of the object that the thread is parked at decides. A wait for a condition may be idle or not. */
        private static Reason reasonOfPark(RecordedEvent event) {
            String parked = event.getClass("parkedClass") == null
                    ? ""
                    : event.getClass("parkedClass").getName();
            if (parked.startsWith("java.util.concurrent.locks.Reentrant")) {
                return Reason.BLOCKED;
            }
            return parked.startsWith("java.util.concurrent.CompletableFuture") ? Reason.WAITING : Reason.UNSAID;
        }

        @Override
        double sampleMillis(String type, RecordedEvent event, boolean inside) {
            if (!inside) {
                return 0;
            }
            if (type.equals(CPU_SAMPLE)) {
                return event.getDuration("samplingPeriod").toNanos() / 1e6;
            }
            return configuration.equals("default") ? 20 : 10; // the periods of these configurations
        }

        @Override
        public Set<Reason> reasons() {
            return EnumSet.of(
                    Reason.RUNNING, Reason.BLOCKED, Reason.IO, Reason.WAITING, Reason.HOLDS_MONITOR, Reason.UNSAID);
        }
    }

    /** async-profiler. */
    private static final class Async extends Recorded {

        private static final String WALL_SAMPLE = "profiler.WallClockSample";

        private final String options;
        private final Set<Reason> reasons;
        private Path file;

        Async(String options, Set<Reason> reasons) {
            this.options = options;
            this.reasons = reasons;
        }

        @Override
        void startRecording() throws IOException {
            file = Files.createTempFile("bench", ".jfr");
            AsyncProfiler.getInstance().execute("start," + options + ",jstackdepth=2048,jfr,file=" + file);
        }

        @Override
        Path stopRecording() throws IOException {
            AsyncProfiler.getInstance().execute("stop,jfr,file=" + file);
            return file;
        }

        @Override
        Reason reason(String type, RecordedEvent event) {
            return switch (type) {
                case "jdk.JavaMonitorEnter", "jdk.ThreadPark" -> Reason.BLOCKED;
                case "jdk.ExecutionSample" -> Reason.RUNNING;
                case WALL_SAMPLE -> Recordings.isSleeping(event) ? Reason.UNSAID : Reason.RUNNING_OR_RUNNABLE;
                default -> null;
            };
        }

        /* One event may represent many wall samples of an idle thread, also from before and after the interval. */
        @Override
        double sampleMillis(String type, RecordedEvent event, boolean inside) {
            if (type.equals(WALL_SAMPLE)) {
                return event.getInt("samples") * (double) INTERVAL_MILLIS;
            }
            return inside ? CPU_INTERVAL_MILLIS : 0;
        }

        /* A thread's wall samples are scaled to the elapsed time, because a late sampler takes fewer of all of them. */
        @Override
        public List<Found> stop() throws Exception {
            List<Found> found = super.stop();
            Map<String, Double> sums = new HashMap<>();
            found.stream().filter(Async::isOfWall).forEach(one -> sums.merge(one.thread(), one.millis(), Double::sum));
            return found.stream()
                    .map(one -> isOfWall(one) ? one.scaled(elapsedMillis() / sums.get(one.thread())) : one)
                    .toList();
        }

        private static boolean isOfWall(Found one) {
            return one.reason() == Reason.UNSAID || one.reason() == Reason.RUNNING_OR_RUNNABLE;
        }

        @Override
        public Set<Reason> reasons() {
            return reasons;
        }
    }
}
