// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.Map;

/**
 * A running sampler in JMX: {@code com.incapsula.sampler:type=ThreadsSampler,name=...}. Values are of simple types, so
 * a client needs no class of this library. No operation takes the name of a file.
 *
 * <p>{@link ThreadsSampler#init()} registers the bean if {@link ThreadsSampler#setJmxName} gave it a name, and the end
 * of the sampler unregisters it.
 *
 * @since 1.0
 */
public interface ThreadsSamplerMXBean {

    /**
     * How stacks are walked.
     *
     * @return the name of a {@link SamplingMode}
     */
    String getMode();

    /**
     * Whether nothing is sampled.
     *
     * @return see {@link SamplerStatistics#isInert()}
     */
    boolean isInert();

    /**
     * The limitations: things that the sampler cannot do here, or does in a worse way.
     *
     * @return names of {@link SamplingLimitation.Code}, separated by commas; empty: none
     */
    String getLimitations();

    /**
     * Mode and limitations in one line, for people.
     *
     * @return see {@link SamplerStatistics#getEngine()}
     */
    String getEngine();

    /**
     * Which time is sampled.
     *
     * @return the name of a {@link SamplingClock}
     */
    String getClock();

    /**
     * Whether sampling is paused.
     *
     * @return true from {@link #pause()} to {@link #resume()}
     */
    boolean isPaused();

    /**
     * Whether sampling is switched on.
     *
     * @return see {@link ThreadsSampler#isActive()}
     */
    boolean isActive();

    /**
     * The mean time between two samples of a thread.
     *
     * @return milliseconds
     */
    long getSamplingFrequencyMillis();

    /**
     * The time between two reports.
     *
     * @return seconds; 0: one report, at the end
     */
    long getReportFrequencySeconds();

    /**
     * The packages of interest.
     *
     * @return prefixes separated by commas; empty: all
     */
    String getMonitoredPackages();

    /**
     * The root methods, below which calls are counted.
     *
     * @return methods separated by commas, see {@link ThreadsSampler#setRootMethods}; empty: no calls are counted
     *     unless the instrumentation is TOTAL
     */
    String getRootMethods();

    /**
     * Which methods below the roots are counted.
     *
     * @return the name of an {@link Instrumentation}
     */
    String getInstrumentation();

    /**
     * The source of the times of counted calls.
     *
     * @return the name of a {@link MethodTiming}
     */
    String getMethodTiming();

    /**
     * The number of sampled threads.
     *
     * @return the number in the last tick
     */
    long getThreads();

    /**
     * Polls of threads since the start, each with one outcome.
     *
     * @return the number
     */
    long getPolls();

    /**
     * Reports that the outputer took without failing.
     *
     * @return the number since the start
     */
    long getReportsWritten();

    /**
     * Native memory in use.
     *
     * @return bytes
     */
    long getMemoryUsedBytes();

    /**
     * The limit of native memory.
     *
     * @return bytes
     */
    long getMemoryLimitBytes();

    /**
     * CPU time of the sampler itself since the start.
     *
     * @return nanoseconds
     */
    long getOwnCpuNanos();

    /**
     * Time since the start, without pauses.
     *
     * @return nanoseconds
     */
    long getElapsedNanos();

    /** Pauses sampling; see {@link ThreadsSampler#pauseSampling()}. */
    void pause();

    /** Ends a pause; see {@link ThreadsSampler#resumeSampling()}. */
    void resume();

    /** Ends the interval and writes its report to the outputer; returns when it is written. */
    void report();

    /** Resets counted calls to zero; see {@link ThreadsSampler#resetCollectedResults()}. */
    void resetCollectedResults();

    /**
     * Changes one property of the sampler. The change usually takes effect with the next tick. Values are written as on
     * the command line: {@code set("samplingFrequencyMillis", "20ms")}.
     *
     * @param name the name of a property of {@link ThreadsSampler} that is a number, a flag, a choice or a text, such
     *     as {@code reportCpuTime} or {@code report-cpu-time}
     * @param value its new value
     * @throws IllegalArgumentException if there is no such property, with a list of all; or if the value is out of
     *     range, with property, value and range
     * @throws IllegalStateException if the property is fixed while the sampler runs, or the engine refuses the value
     */
    void set(String name, String value);

    /**
     * The reasons of {@link #getLimitations()}.
     *
     * @return texts for people by code
     */
    Map<String, String> limitations();

    /**
     * The counts since the start and in the current interval.
     *
     * @return values by name: {@code total.outcome.<CODE>}, {@code interval.outcome.<CODE>},
     *         {@code total.counter.<CODE>} and {@code interval.counter.<CODE>}, with the stable codes of
     *         {@link SamplerStatistics#getOutcomes()} and {@link SamplerStatistics#getCounters()}
     */
    Map<String, Long> statistics();

    /**
     * The live state of the sampler; see {@link ThreadsSampler#dump()}.
     *
     * @return lines {@code name: value}, for people
     */
    String dump();

    /**
     * Waits, then returns the hottest lines of your code and the hottest methods of that time. Reports are unaffected.
     *
     * @param seconds how long, 1 to 60
     * @return the summary and two tables, see {@link ReportFormat#TOP}
     * @throws IllegalArgumentException if {@code seconds} is out of range
     * @throws IllegalStateException if the sampler does not run, or another call of this method is in progress
     */
    String top(int seconds);

    /**
     * Waits, then returns how long the threads of each group were in each state in that time. Reports are unaffected.
     *
     * @param seconds how long, 1 to 60
     * @return nanoseconds by {@code <group>: <state>}, for states that are not 0: {@code running}, {@code runnable},
     *     {@code blocked}, {@code io}, {@code waiting}, {@code idle}; within each group in descending time
     * @throws IllegalArgumentException if {@code seconds} is out of range
     * @throws IllegalStateException if the sampler does not run, or another call that waits is in progress
     */
    Map<String, Long> states(int seconds);

    /**
     * Waits, then returns the summary of that time. Reports are unaffected.
     *
     * @param seconds how long, 1 to 60
     * @return lines for people, see {@link SamplingSummary#toString()}
     * @throws IllegalArgumentException if {@code seconds} is out of range
     * @throws IllegalStateException as for {@link #states}
     */
    String summary(int seconds);

    /**
     * Waits, then returns the lines of your code with the most active time in that time; see
     * {@link SamplingReport#getHotSpots()}. Reports are unaffected.
     *
     * @param seconds how long, 1 to 60
     * @return nanoseconds by {@code <class>.<method>:<line> <state> <group>}, in descending time
     * @throws IllegalArgumentException if {@code seconds} is out of range
     * @throws IllegalStateException as for {@link #states}
     */
    Map<String, Long> hotSpots(int seconds);
}
