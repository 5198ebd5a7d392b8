// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.RawStatistics;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a sampler counted. A poll is one check of one thread in a tick, of a thread that has time to credit. Each poll
 * ends in exactly one outcome, so the values of {@link #getOutcomes()} add up to {@link #getPolls()}, and those of
 * {@link #getIntervalOutcomes()} to {@link #getIntervalPolls()}. Counters count everything that is not a poll.
 * The keys of all four maps are stable codes, such as {@code THREAD_UNIDENTIFIED}: a code of a release keeps its
 * meaning, so a program may read it. The glossary in {@code java/REFERENCE.md} has the meaning of each code, and the text
 * under which the sampler's account in the report prints it.
 *
 * <p>Before the first {@code init()}, and where sampling is not possible, all figures are 0 and the maps are empty.
 *
 * <p>"Total" is since {@code init()}, "interval" since the last report. All figures are of one moment.
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

    /* Drops a name of no known kind: figures that an older class does not know are no reason to fail. */
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

    /**
     * How stacks are walked.
     *
     * @return INERT where nothing is sampled, and before the first {@code init()}
     */
    public SamplingMode getMode() {
        return status.mode();
    }

    /**
     * Everything that the sampler cannot do here, or does more slowly or less exactly than elsewhere. It may change while the sampler runs.
     *
     * @return none if all is; not modifiable
     */
    public List<SamplingLimitation> getLimitations() {
        return status.limitations();
    }

    /**
     * Whether nothing is sampled.
     *
     * @return true if {@link #getMode()} is INERT; {@link #getLimitations()} has the cause, if sampling is not possible
     */
    public boolean isInert() {
        return getMode() == SamplingMode.INERT;
    }

    /**
     * Which time is sampled.
     *
     * @return the sampler's {@link ThreadsSampler#setClock clock}
     */
    public SamplingClock getClock() {
        return clock;
    }

    /**
     * How stacks are walked, as text for people: {@link #getMode()} and {@link #getLimitations()} in one line.
     *
     * @return {@code HYBRID}: running threads by a signal, waiting ones from outside;
     *         {@code HYBRID (waiting threads by JVMTI, running ones by AsyncGetCallTrace: <reason>)};
     *         {@code HYBRID (waiting threads by JVMTI: <reason>)};
     *         {@code HYBRID (virtual threads cut where they parked: <reason>)}; {@code JVMTI}, or
     *         {@code JVMTI (async walk refused: <reason>)}: all threads by handshakes; {@code NONE (<cause>)} where
     *         sampling is not possible; empty before the first {@code init()}. Each but {@code NONE} may be followed by
     *         {@code (unmounted virtual threads not sampled: <reason>)} and {@code (calls not counted: <reason>)}
     */
    public String getEngine() {
        return engine;
    }

    /**
     * Polls in total.
     *
     * @return the sum of {@link #getOutcomes()}
     */
    public long getPolls() {
        return gauge("polls");
    }

    /**
     * Polls of the current interval.
     *
     * @return the sum of {@link #getIntervalOutcomes()}
     */
    public long getIntervalPolls() {
        return gauge("intervalPolls");
    }

    /**
     * How polls ended, in total.
     *
     * @return every outcome there is with its count, 0 included, in the order of the account; not modifiable
     */
    public Map<String, Long> getOutcomes() {
        return Collections.unmodifiableMap(outcomes);
    }

    /**
     * How polls of the current interval ended.
     *
     * @return as {@link #getOutcomes()}
     */
    public Map<String, Long> getIntervalOutcomes() {
        return Collections.unmodifiableMap(intervalOutcomes);
    }

    /**
     * Events in total: ticks, late ticks, failed reports and others.
     *
     * @return every counter there is with its count, 0 included, in the order of the account; not modifiable
     */
    public Map<String, Long> getCounters() {
        return Collections.unmodifiableMap(counters);
    }

    /**
     * Events of the current interval.
     *
     * @return as {@link #getCounters()}
     */
    public Map<String, Long> getIntervalCounters() {
        return Collections.unmodifiableMap(intervalCounters);
    }

    /**
     * Threads sampled.
     *
     * @return the number in the last tick
     */
    public long getThreads() {
        return gauge("threads");
    }

    /**
     * Size of the call trees of the current interval.
     *
     * @return nodes
     */
    public long getNodes() {
        return gauge("nodes");
    }

    /**
     * Lines of code known by name.
     *
     * @return the number
     */
    public long getLocations() {
        return gauge("locations");
    }

    /**
     * Reports the outputer took without failing, in total.
     *
     * @return the number
     */
    public long getReportsWritten() {
        return gauge("reportsWritten");
    }

    /**
     * Native memory in use.
     *
     * @return bytes
     */
    public long getMemoryUsedBytes() {
        return gauge("memoryUsedBytes");
    }

    /**
     * The most native memory that was in use at one time.
     *
     * @return bytes
     */
    public long getMemoryPeakBytes() {
        return gauge("memoryPeakBytes");
    }

    /**
     * The limit of native memory.
     *
     * @return bytes
     */
    public long getMemoryLimitBytes() {
        return gauge("memoryLimitBytes");
    }

    /**
     * CPU time of the sampler's own threads, in total: {@code threads-sampler}, {@code threads-sampler-report} and,
     * while calls are counted, {@code threads-sampler-calls}.
     *
     * @return nanoseconds
     */
    public long getOwnCpuNanos() {
        return gauge("ownCpuNanos");
    }

    /**
     * Time since {@code init()}, without pauses.
     *
     * @return nanoseconds
     */
    public long getElapsedNanos() {
        return gauge("elapsedNanos");
    }

    /**
     * The handler cost: the mean time a running thread spends in the signal handler, beginning to end, over every 64th
     * signal of all samplers of this JVM. The time of a thread that lost its CPU meanwhile includes the wait, so
     * {@link #getHandlerMedianNanos()} is closer to the cost.
     *
     * @return nanoseconds; 0 where none was timed yet
     */
    public long getHandlerNanosPerSample() {
        long timed = getHandlerSamplesTimed();
        return timed == 0 ? 0 : gauge("handlerNanosTimed") / timed;
    }

    /**
     * The median time in the signal handler of the last 256 signals that were timed, as
     * {@link #getHandlerNanosPerSample()}.
     *
     * @return nanoseconds; 0 where none was timed yet
     */
    public long getHandlerMedianNanos() {
        return gauge("handlerNanosMedian");
    }

    /**
     * How many signals were timed, over all samplers of this JVM.
     *
     * @return the number
     */
    public long getHandlerSamplesTimed() {
        return gauge("handlerSamplesTimed");
    }

    /**
     * How many walks began inside the signal handler of another profiler, or of the JVM itself: they start from what
     * that handler had interrupted. Over all samplers of this JVM. Near 0 where no other profiler runs.
     *
     * @return the number
     */
    public long getWalksInOtherHandlers() {
        return gauge("walksInOtherHandlers");
    }

    /**
     * How often the sampler was started. All totals begin at zero with a start, so two totals can be compared only where
     * this number is the same.
     *
     * @return the number
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
