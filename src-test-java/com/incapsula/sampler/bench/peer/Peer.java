// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.SamplingEngine;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A profiler that can be started and stopped in this JVM repeatedly. */
public interface Peer {

    /** Names as printed in tables. */
    String STACK = "JMH stack";

    String JVMTI = "ours, JVMTI";
    String HYBRID = "ours, hybrid";
    String ASYNC = "async-profiler";
    String JFR = "JFR";
    String JFR_CPU = "JFR CPU-time";

    /** Starts to sample all threads, every millisecond or as often as it can. */
    void start() throws Exception;

    /**
     * Stops.
     *
     * @param thread selects the names of the threads to report
     * @return the profile since the start
     */
    Profile stop(Predicate<String> thread) throws Exception;

    /**
     * Lists the profilers that sample running threads.
     *
     * @return names, in the order in which windows are given to them
     */
    static List<String> forRunning() {
        /* JFR runs before async-profiler, because it has to find SIGPROF unused. */
        Stream<String> names = Stream.of(STACK, JVMTI, HYBRID, JFR, JFR_CPU, ASYNC);
        return names.filter(name -> !name.equals(JFR_CPU) || Runtime.version().feature() >= 25)
                .toList();
    }

    /**
     * Lists the profilers among them that name the thread of a sample and that a user would choose between.
     *
     * @return names, in the order in which windows are given to them
     */
    static List<String> withThreads() {
        return forRunning().stream()
                .filter(name -> !name.equals(STACK) && !name.equals(JVMTI))
                .toList();
    }

    /**
     * Creates a profiler.
     *
     * @param name one of the names above
     * @return the profiler, stopped
     */
    static Peer of(String name) {
        return switch (name) {
            case STACK -> new JmhStackPeer();
            case JVMTI -> new SamplerPeer(SamplingEngine.JVMTI);
            case HYBRID -> new SamplerPeer(SamplingEngine.AUTO);
            case ASYNC -> new AsyncProfilerPeer("cpu");
            case JFR -> new JfrPeer(false);
            case JFR_CPU -> new JfrPeer(true);
            default -> throw new IllegalArgumentException("no profiler " + name);
        };
    }
}
