// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.RawStatistics;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The figures of a sampler. A poll is one check of one thread in a tick, if the thread has time to credit. Each poll
 * ends in exactly one outcome, so the values of {@link #getOutcomes()} add up to {@link #getPolls()}, and those of
 * {@link #getIntervalOutcomes()} to {@link #getIntervalPolls()}. Counters count everything that is not a poll. The keys
 * of all four maps are stable codes, such as {@code THREAD_UNIDENTIFIED}: a released code keeps its meaning, so
 * programs may rely on it. {@code java/REFERENCE.md} explains each code and shows the text that the account in the
 * report has for it.
 *
 * <p>Before the first {@code init()}, and if sampling is not possible, all figures are 0 and the maps are empty.
 *
 * <p>"Total" means since {@code init()}, "interval" since the last report. All figures belong to the same moment.
 *
 * <p>Threads: immutable.
 *
 * @since 1.0
 */
public final class SamplerStatistics {

    private final String engine;
    private final SamplingStatus status;
    private final SamplingClock clock;
    private final Map<String, Long> outcomes = new LinkedHashMap<>();
    private final Map<String, Long> intervalOutcomes = new LinkedHashMap<>();
    private final Map<String, Long> counters = new LinkedHashMap<>();
    private final Map<String, Long> intervalCounters = new LinkedHashMap<>();
    private final Map<String, Long> gauges = new LinkedHashMap<>();

    SamplerStatistics(RawStatistics raw, SamplingClock clock) {
        engine = raw.engine();
        status = SamplingStatus.of(raw.status());
        this.clock = clock;
        for (int i = 0; i < raw.names().size(); i++) {
            sort(raw.names().get(i), raw.values().get(i));
        }
    }

    /* Ignores a name of unknown kind: a newer core may have figures that this class does not know. */
    private void sort(String name, Long value) {
        if (!take(outcomes, "total.outcome.", name, value)
                && !take(intervalOutcomes, "interval.outcome.", name, value)
                && !take(counters, "total.counter.", name, value)
                && !take(intervalCounters, "interval.counter.", name, value)) {
            take(gauges, "gauge.", name, value);
        }
    }

    private static boolean take(Map<String, Long> into, String prefix, String name, Long value) {
        if (!name.startsWith(prefix)) {
            return false;
        }
        into.put(name.substring(prefix.length()), value);
        return true;
    }

    /** {@return how stacks are walked; INERT if sampling is not possible, and before the first {@code init()}} */
    public SamplingMode getMode() {
        return status.mode();
    }

    /**
     * {@return what the sampler cannot do here, or does more slowly or less exactly than elsewhere; not modifiable} The
     * limitations may change while the sampler runs.
     */
    public List<SamplingLimitation> getLimitations() {
        return status.limitations();
    }

    /**
     * {@return true if nothing is sampled: {@link #getMode()} is INERT} If sampling is not possible,
     * {@link #getLimitations()} has the cause.
     */
    public boolean isInert() {
        return getMode() == SamplingMode.INERT;
    }

    /** {@return which time is sampled: the sampler's {@link ThreadsSampler#setClock clock}} */
    public SamplingClock getClock() {
        return clock;
    }

    /**
     * How stacks are walked, as text for people: {@link #getMode()} and {@link #getLimitations()} in one line.
     *
     * @return {@code HYBRID}: running threads by a signal, waiting ones from outside;
     *         {@code HYBRID (waiting threads by JVMTI, running ones by AsyncGetCallTrace: <reason>)};
     *         {@code HYBRID (virtual threads cut where they parked: <reason>)}; {@code JVMTI}, or
     *         {@code JVMTI (async walk refused: <reason>)}: all threads by handshakes; {@code NONE (<cause>)} if
     *         sampling is not possible; empty before the first {@code init()}. Each but {@code NONE} may be followed by
     *         {@code (unmounted virtual threads not sampled: <reason>)} and {@code (calls not counted: <reason>)}
     */
    public String getEngine() {
        return engine;
    }

    /** {@return the number of polls in total, the sum of {@link #getOutcomes()}} */
    public long getPolls() {
        return gauge("polls");
    }

    /** {@return the number of polls in the current interval, the sum of {@link #getIntervalOutcomes()}} */
    public long getIntervalPolls() {
        return gauge("intervalPolls");
    }

    /**
     * {@return all polls by outcome: the count of every outcome, 0 included, in the order of the account; not
     * modifiable}
     */
    public Map<String, Long> getOutcomes() {
        return Collections.unmodifiableMap(outcomes);
    }

    /** {@return the polls of the current interval by outcome, as {@link #getOutcomes()}} */
    public Map<String, Long> getIntervalOutcomes() {
        return Collections.unmodifiableMap(intervalOutcomes);
    }

    /**
     * {@return events in total, such as ticks, late ticks and failed reports: the value of every counter, 0 included,
     * in the order of the account; not modifiable}
     */
    public Map<String, Long> getCounters() {
        return Collections.unmodifiableMap(counters);
    }

    /** {@return the events of the current interval, as {@link #getCounters()}} */
    public Map<String, Long> getIntervalCounters() {
        return Collections.unmodifiableMap(intervalCounters);
    }

    /** {@return the number of threads that were sampled in the last tick} */
    public long getThreads() {
        return gauge("threads");
    }

    /** {@return the size of the call trees of the current interval, in nodes} */
    public long getNodes() {
        return gauge("nodes");
    }

    /** {@return the number of lines of code whose names are stored} */
    public long getLocations() {
        return gauge("locations");
    }

    /** {@return the number of reports that the outputer took without failing, in total} */
    public long getReportsWritten() {
        return gauge("reportsWritten");
    }

    /** {@return the native memory in use, in bytes} */
    public long getMemoryUsedBytes() {
        return gauge("memoryUsedBytes");
    }

    /** {@return the largest amount of native memory that was in use at one time, in bytes} */
    public long getMemoryPeakBytes() {
        return gauge("memoryPeakBytes");
    }

    /** {@return the limit of native memory, in bytes} */
    public long getMemoryLimitBytes() {
        return gauge("memoryLimitBytes");
    }

    /**
     * {@return the CPU time of the sampler's own threads, in nanoseconds in total} The threads are
     * {@code threads-sampler}, {@code threads-sampler-report} and, while calls are counted,
     * {@code threads-sampler-calls}.
     */
    public long getOwnCpuNanos() {
        return gauge("ownCpuNanos");
    }

    /** {@return the time since {@code init()} without pauses, in nanoseconds} */
    public long getElapsedNanos() {
        return gauge("elapsedNanos");
    }

    /**
     * {@return the handler cost: the mean time that a running thread spends in the signal handler, in nanoseconds; 0 if
     * no signal was timed yet} Every 64th signal of all samplers in this JVM is timed. If a thread loses its CPU in the
     * handler, its time includes the wait for a CPU, so {@link #getHandlerMedianNanos()} is closer to the real cost.
     */
    public long getHandlerNanosPerSample() {
        long timed = getHandlerSamplesTimed();
        return timed == 0 ? 0 : gauge("handlerNanosTimed") / timed;
    }

    /**
     * {@return the median time in the signal handler over the last 256 timed signals, in nanoseconds; 0 if no signal
     * was timed yet} See {@link #getHandlerNanosPerSample()}.
     */
    public long getHandlerMedianNanos() {
        return gauge("handlerNanosMedian");
    }

    /** {@return the number of timed signals, over all samplers in this JVM} */
    public long getHandlerSamplesTimed() {
        return gauge("handlerSamplesTimed");
    }

    /**
     * {@return the number of walks that began inside the signal handler of another profiler or of the JVM, over all
     * samplers in this JVM} Such a walk starts from the code that the other handler had interrupted. The number is near
     * 0 if no other profiler runs.
     */
    public long getWalksInOtherHandlers() {
        return gauge("walksInOtherHandlers");
    }

    /**
     * {@return how often the sampler was started} All totals begin at zero with a start, so two totals can only be
     * compared if this number is the same for both.
     */
    public long getStarts() {
        return gauge("starts");
    }

    private long gauge(String name) {
        return gauges.getOrDefault(name, 0L);
    }

    /** All figures that are not zero, with their names, in one line. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("SamplerStatistics[engine=").append(engine);
        appendNonZero(text, gauges);
        appendMap(text, "outcomes", outcomes);
        appendMap(text, "intervalOutcomes", intervalOutcomes);
        appendMap(text, "counters", counters);
        appendMap(text, "intervalCounters", intervalCounters);
        return text.append(']').toString();
    }

    private static void appendMap(StringBuilder text, String name, Map<String, Long> figures) {
        StringBuilder inside = new StringBuilder();
        appendNonZero(inside, figures);
        if (inside.length() > 0) {
            text.append(", ")
                    .append(name)
                    .append("={")
                    .append(inside.substring(2))
                    .append('}');
        }
    }

    private static void appendNonZero(StringBuilder text, Map<String, Long> figures) {
        for (Map.Entry<String, Long> figure : figures.entrySet()) {
            if (figure.getValue() != 0) {
                text.append(", ").append(figure.getKey()).append('=').append(figure.getValue());
            }
        }
    }
}
