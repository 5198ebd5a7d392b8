// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What one profiler saw of the chosen threads: stacks, leaf first, with their weight (samples or milliseconds). */
public final class Profile {

    private final Map<List<Frame>, Double> stacks = new HashMap<>();

    /**
     * Counts a stack.
     *
     * @param frames leaf first
     * @param weight in the profiler's own unit
     */
    public void add(List<Frame> frames, double weight) {
        if (weight > 0) {
            stacks.merge(List.copyOf(frames), weight, Double::sum);
        }
    }

    /** Counts what the profiler lost. */
    void addFailed(String why, double weight) {
        add(List.of(new Frame(Frame.Kind.FAILED, why, 0)), weight);
    }

    public Map<List<Frame>, Double> stacks() {
        return stacks;
    }
}
