// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** A profiler whose samples name their threads. */
public interface GroupedPeer extends Peer {

    /** This project's predecessor, by its name in tables. */
    String ORIGINAL = "perf-sampler 1.0.0";

    /**
     * Stops.
     *
     * @param group maps the name of a thread, or of a thread group by the default rule (a thread's name without
     *     digits), to the key of a profile; null excludes the thread
     * @return a profile for each key with samples since the start
     */
    Map<String, Profile> stopByGroup(Function<String, String> group) throws Exception;

    @Override
    default Profile stop(Predicate<String> thread) throws Exception {
        return stopByGroup(name -> thread.test(name) ? "" : null).getOrDefault("", new Profile());
    }

    /**
     * Creates a profiler of waiting and running threads.
     *
     * @param name one of HYBRID, ASYNC (its wall mode), JFR, ORIGINAL
     * @param intervalMillis between two samples of a thread
     * @return the profiler, stopped; HYBRID keeps to the default overhead limit
     */
    static GroupedPeer of(String name, long intervalMillis) {
        return switch (name) {
            case HYBRID -> SamplerPeer.withDefaultLimit(intervalMillis);
            case ASYNC -> new AsyncProfilerPeer("wall", intervalMillis);
            case JFR -> new JfrPeer(false, intervalMillis);
            case ORIGINAL -> new PerfSamplerPeer(intervalMillis);
            default -> throw new IllegalArgumentException("no profiler " + name);
        };
    }
}
