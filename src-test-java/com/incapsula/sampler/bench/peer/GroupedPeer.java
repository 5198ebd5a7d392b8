// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;

/** A profiler whose samples say which thread they are of. */
public interface GroupedPeer extends Peer {

    /** This project's predecessor, as the tables print it. */
    String ORIGINAL = "perf-sampler 1.0.0";

    /**
     * Stops.
     *
     * @param group from the name of a thread, or of a group of threads by the default rule (a thread's name without its
     *        digits), to the key of a profile; null leaves the thread out
     * @return a profile for each key of which something was seen since start
     */
    Map<String, Profile> stopByGroup(Function<String, String> group) throws Exception;

    @Override
    default Profile stop(Predicate<String> thread) throws Exception {
        return stopByGroup(name -> thread.test(name) ? "" : null).getOrDefault("", new Profile());
    }

    /**
     * Makes a profiler of waiting and running threads.
     *
     * @param name one of HYBRID, ASYNC (its wall mode), JFR, ORIGINAL
     * @param intervalMillis between two samples of a thread
     * @return the profiler, off; HYBRID keeps to the default overhead limit
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
