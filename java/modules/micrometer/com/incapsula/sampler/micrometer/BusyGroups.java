// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.micrometer;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.InternalThreads;
import com.incapsula.sampler.internal.report.LibraryLog;
import io.micrometer.core.instrument.Clock;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The average numbers of threads by group and state, in separate intervals. An interval ends when a value is read and
 * the interval is at least a step long. The first one ends at the first read.
 *
 * <p>A separate thread ends intervals, because that waits for the sampler. Readers immediately get the values of the
 * last finished interval; only while none has finished do they wait for the first one, for a limited time. The thread
 * and its cursor end if no value was read for {@value #IDLE_STEPS} steps. The thread is not sampled.
 *
 * <p>Threads: any.
 */
final class BusyGroups {

    static final String THREAD_NAME = "threads-sampler-metrics";
    static final int IDLE_STEPS = 60;

    private static final String JVM_THREADS = "[JVM]";
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final long LEAST_FIRST_NANOS = 150 * NANOS_PER_MILLI; // several ticks
    private static final long MOST_WAIT_NANOS = 1000 * NANOS_PER_MILLI;
    private static final List<String> STATES = List.of("running", "runnable", "blocked", "io", "waiting", "idle");

    private final ThreadsSampler sampler;
    private final Clock clock;
    private final long stepNanos;
    private final int maxNames;
    private final MultiGauge states;
    /* Groups with series of their own, and the shown series. Guarded by this, as all fields below. */
    private final Set<String> names = new HashSet<>();
    private final Set<Tags> shown = new LinkedHashSet<>();

    private @Nullable Reading reading; // null if no value was read lately, or the sampler does not run
    private double threads = Double.NaN;
    private long intervals;
    private boolean closed;

    BusyGroups(ThreadsSampler sampler, MeterRegistry registry, Tags tags, Duration step, int maxNames) {
        this.sampler = sampler;
        this.clock = registry.config().clock();
        this.stepNanos = step.toNanos();
        this.maxNames = maxNames;
        this.states = MultiGauge.builder("threadsampler.group.threads")
                .tags(tags)
                .baseUnit("threads")
                .description("Threads of the group that were in the state, on average")
                .register(registry);
    }

    /**
     * Waits for the first value if there is none, at most a second. @return the average number of running threads of
     * the application in the last finished interval; NaN if not known
     */
    synchronized double threads() {
        begin();
        if (reading != null) {
            reading.request();
            awaitFirst(reading);
        }
        return threads;
    }

    /** Begins an interval if the sampler runs and there is none. Does not wait. */
    synchronized void begin() {
        if (closed) {
            return;
        }
        if (!sampler.isRunning()) {
            endReading();
        } else if (reading == null) {
            beginReading();
        }
    }

    /* Waiting releases the lock. */
    private void awaitFirst(Reading awaited) {
        long end = System.nanoTime() + MOST_WAIT_NANOS;
        while (reading == awaited && !awaited.hasEndedOne) {
            if (!waitUntil(end)) {
                return;
            }
        }
    }

    /* Returns false at that time, or if this thread was interrupted; it stays interrupted. Lock held. */
    @SuppressWarnings("WaitNotInLoop") // the callers loop
    private boolean waitUntil(long endNanos) {
        long millis = (endNanos - System.nanoTime()) / NANOS_PER_MILLI;
        if (millis <= 0) {
            return false;
        }
        try {
            wait(millis);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void beginReading() {
        Reading next = new Reading();
        try {
            next.start();
            reading = next;
        } catch (OutOfMemoryError noThread) {
            // the next reader tries again
        }
    }

    private void endReading() {
        if (reading != null) {
            reading.end();
            reading = null;
            show(null);
        }
    }

    /** @return true while there is a cursor, or one is about to be opened */
    synchronized boolean isReading() {
        return reading != null;
    }

    /** @return the number of finished intervals */
    synchronized long intervals() {
        return intervals;
    }

    /** The thread that ends intervals. Its fields are guarded by the lock of the outer class. */
    private final class Reading extends Thread {

        private long beganNanos = clock.monotonicTime();
        private long requestedNanos = beganNanos;
        private boolean due;
        private boolean ended;
        private boolean hasEndedOne;

        Reading() {
            super(InternalThreads.hidden(), null, THREAD_NAME, 0, false);
            setDaemon(true);
            setContextClassLoader(null);
        }

        /* The lock is held. */
        void request() {
            requestedNanos = clock.monotonicTime();
            if (!hasEndedOne || requestedNanos - beganNanos >= stepNanos) {
                due = true;
                BusyGroups.this.notifyAll();
            }
        }

        /* The lock is held. */
        void end() {
            ended = true;
            BusyGroups.this.notifyAll();
        }

        @Override
        public void run() {
            try {
                readWhileWanted();
            } catch (RuntimeException | Error e) {
                /* The sampler has ended, no cursor can be opened now, or the registry fails, which runs code of the
                 * application. The next reader tries again. */
                LibraryLog.log(System.Logger.Level.DEBUG, "the thread groups' meters have no new figures", e);
            }
        }

        private void readWhileWanted() {
            try (SamplingCursor cursor = sampler.openCursor()) {
                awaitSomeTicks();
                while (awaitRequest()) {
                    read(cursor);
                }
            } finally {
                finish();
            }
        }

        /* The first interval would be empty if it ended at once. */
        private void awaitSomeTicks() {
            long end = System.nanoTime() + LEAST_FIRST_NANOS;
            synchronized (BusyGroups.this) {
                boolean hasTime = true;
                while (!ended && hasTime) {
                    hasTime = waitUntil(end);
                }
            }
        }

        /* Returns false if no further interval is needed. */
        private boolean awaitRequest() {
            synchronized (BusyGroups.this) {
                while (!due && !ended && !isIdle()) {
                    try {
                        BusyGroups.this.wait(Math.max(1, stepNanos / NANOS_PER_MILLI));
                    } catch (InterruptedException e) {
                        return false;
                    }
                }
                due = false;
                return !ended && !isIdle();
            }
        }

        private boolean isIdle() {
            return (clock.monotonicTime() - requestedNanos) / IDLE_STEPS >= stepNanos;
        }

        private void read(SamplingCursor from) {
            try (SamplingReport report = from.next()) {
                showUnlessEnded(report);
            } catch (OutOfMemoryError notNow) {
                showUnlessEnded(null); // no data is lost: the next interval includes this one
            }
        }

        private void showUnlessEnded(@Nullable SamplingReport report) {
            synchronized (BusyGroups.this) {
                if (!ended) {
                    beganNanos = clock.monotonicTime();
                    due = false;
                    hasEndedOne = true;
                    intervals++;
                    show(report);
                    BusyGroups.this.notifyAll();
                }
            }
        }

        private void finish() {
            synchronized (BusyGroups.this) {
                if (reading == this) {
                    endReading();
                }
            }
        }
    }

    /* The lock is held. */
    private void show(@Nullable SamplingReport report) {
        double elapsed = report == null ? 0 : report.getElapsed().toNanos();
        if (report == null || elapsed <= 0 || report.getGroups().isEmpty()) {
            threads = Double.NaN;
            states.register(List.of(), true);
            return;
        }
        threads = report.getGroups().stream()
                        .filter(group -> !group.getName().equals(JVM_THREADS))
                        .mapToDouble(SamplingGroup::getCpuNanos)
                        .sum()
                / elapsed;
        states.register(rows(report, elapsed), true);
    }

    private String nameOf(SamplingGroup group) {
        String name = group.getName();
        if (!names.contains(name) && names.size() == maxNames) {
            return ThreadsSamplerMetrics.OTHER_GROUPS;
        }
        names.add(name);
        return name;
    }

    /* A row for each state that a group has ever been in, because series with gaps are hard to add up. */
    private List<MultiGauge.Row<?>> rows(SamplingReport report, double elapsed) {
        Map<Tags, Double> threadsByTags = new HashMap<>();
        for (SamplingGroup group : report.getGroups()) {
            if (!group.getName().equals(JVM_THREADS)) {
                add(threadsByTags, group, elapsed);
            }
        }
        shown.addAll(threadsByTags.keySet());
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        shown.forEach(tags -> rows.add(MultiGauge.Row.of(tags, threadsByTags.getOrDefault(tags, 0.0))));
        return rows;
    }

    private void add(Map<Tags, Double> threadsByTags, SamplingGroup group, double elapsed) {
        String name = nameOf(group);
        Map<String, Long> measures = group.getMeasures();
        for (String state : STATES) {
            long nanos = measures.getOrDefault(state, 0L);
            if (nanos > 0) {
                threadsByTags.merge(Tags.of("group", name, "state", state), nanos / elapsed, Double::sum);
            }
        }
    }

    synchronized void close() {
        closed = true;
        endReading();
        states.register(List.of(), true);
    }
}
