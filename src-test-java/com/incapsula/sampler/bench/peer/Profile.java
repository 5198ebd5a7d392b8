// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The stacks of chosen threads that one profiler has seen, leaf first, with their weights (samples or milliseconds).
 */
public final class Profile {

    private final Map<List<Frame>, Double> stacks = new HashMap<>();

    /**
     * Adds a stack.
     *
     * @param frames leaf first
     * @param weight in the profiler's own unit
     */
    public void add(List<Frame> frames, double weight) {
        if (weight > 0) {
            stacks.merge(List.copyOf(frames), weight, Double::sum);
        }
    }

    /** Adds what the profiler has lost. */
    void addFailed(String why, double weight) {
        add(List.of(new Frame(Frame.Kind.FAILED, why, 0)), weight);
    }

    public Map<List<Frame>, Double> stacks() {
        return stacks;
    }
}
