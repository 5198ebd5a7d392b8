// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.SamplingEngine;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** A profiler that can be switched on and off in this JVM, again and again. */
public interface Peer {

    /** Names as the tables print them. */
    String STACK = "JMH stack";

    String JVMTI = "ours, JVMTI";
    String HYBRID = "ours, hybrid";
    String ASYNC = "async-profiler";
    String JFR = "JFR";
    String JFR_CPU = "JFR CPU-time";

    /** Starts to sample all threads every millisecond, or as often as it can. */
    void start() throws Exception;

    /**
     * Stops.
     *
     * @param thread names of the threads to report
     * @return what was seen since start
     */
    Profile stop(Predicate<String> thread) throws Exception;

    /**
     * The profilers that sample running threads.
     *
     * @return names, in the order in which windows are given to them
     */
    static List<String> forRunning() {
        /* JFR before async-profiler: it must find SIGPROF untouched. */
        Stream<String> names = Stream.of(STACK, JVMTI, HYBRID, JFR, JFR_CPU, ASYNC);
        return names.filter(name -> !name.equals(JFR_CPU) || Runtime.version().feature() >= 25)
                .toList();
    }

    /**
     * Of those, the ones a user would choose between that say which thread a sample is of.
     *
     * @return names, in the order in which windows are given to them
     */
    static List<String> withThreads() {
        return forRunning().stream()
                .filter(name -> !name.equals(STACK) && !name.equals(JVMTI))
                .toList();
    }

    /**
     * Makes a profiler.
     *
     * @param name as above
     * @return the profiler, off
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
