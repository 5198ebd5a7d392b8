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

    /** {@return how stacks are walked: the name of a {@link SamplingMode}} */
    String getMode();

    /** {@return whether nothing is sampled, see {@link SamplerStatistics#isInert()}} */
    boolean isInert();

    /**
     * {@return what the sampler cannot do here, or does in a worse way: names of {@link SamplingLimitation.Code},
     * separated by commas; empty: none}
     */
    String getLimitations();

    /** {@return mode and limitations in one line, for people, see {@link SamplerStatistics#getEngine()}} */
    String getEngine();

    /** {@return which time is sampled: the name of a {@link SamplingClock}} */
    String getClock();

    /** {@return true from {@link #pause()} to {@link #resume()}} */
    boolean isPaused();

    /** {@return whether sampling is switched on, see {@link ThreadsSampler#isActive()}} */
    boolean isActive();

    /** {@return the mean time between two samples of a thread, in milliseconds} */
    long getSamplingFrequencyMillis();

    /** {@return the time between two reports, in seconds; 0: one report, at the end} */
    long getReportFrequencySeconds();

    /** {@return the packages of interest: prefixes separated by commas; empty: all} */
    String getMonitoredPackages();

    /**
     * {@return the root methods below which calls are counted, separated by commas, see
     * {@link ThreadsSampler#setRootMethods}; empty: no calls are counted unless the instrumentation is TOTAL}
     */
    String getRootMethods();

    /** {@return which methods below the roots are counted: the name of an {@link Instrumentation}} */
    String getInstrumentation();

    /** {@return the source of the times of counted calls: the name of a {@link MethodTiming}} */
    String getMethodTiming();

    /** {@return the number of threads that were sampled in the last tick} */
    long getThreads();

    /** {@return the number of polls of threads since the start, each with one outcome} */
    long getPolls();

    /** {@return the number of reports since the start that the outputer took without failing} */
    long getReportsWritten();

    /** {@return the native memory in use, in bytes} */
    long getMemoryUsedBytes();

    /** {@return the limit of native memory, in bytes} */
    long getMemoryLimitBytes();

    /** {@return the CPU time of the sampler itself since the start, in nanoseconds} */
    long getOwnCpuNanos();

    /** {@return the time since the start without pauses, in nanoseconds} */
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

    /** {@return the reasons of {@link #getLimitations()}: texts for people by code} */
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
     * {@return the live state of the sampler, in lines {@code name: value} for people, see
     * {@link ThreadsSampler#dump()}}
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
