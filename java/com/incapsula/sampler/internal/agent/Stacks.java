// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The stacks of reports: sampled stacks, and paths of counted calls. The sampled stacks include the time of the counted
 * calls.
 *
 * @param rootTimes times of root methods, by node of {@code counted}
 * @param since rows that were not counted throughout, by node of {@code counted}
 */
record Stacks(
        StackTree sampled, StackTree counted, Map<Integer, RootTime> rootTimes, Map<Integer, CountedSince> since) {

    /** @return two empty trees with this number of sides */
    static Stacks ofSides(int count) {
        return new Stacks(new StackTree(count), new StackTree(count), new HashMap<>(), new HashMap<>());
    }

    /**
     * The time from which on a row was counted, and the largest possible number of missing calls; below 0 if that is
     * not known.
     */
    record CountedSince(long millis, long missing) {

        /** @return the value for the sum of both rows */
        CountedSince plus(CountedSince other) {
            return new CountedSince(
                    Math.max(millis, other.millis),
                    Math.min(missing, other.missing) < 0 ? -1 : Math.addExact(missing, other.missing));
        }

        /** @return the value in the JSON form, with the index of its node */
        List<Object> json(int place) {
            return List.of((long) place, millis, missing);
        }
    }

    /** The times of a root method's finished calls, in nanoseconds. */
    record RootTime(long calls, long total, long min, long max) {

        /** @return the times for the calls of both */
        RootTime plus(RootTime other) {
            return new RootTime(
                    Math.addExact(calls, other.calls),
                    Math.addExact(total, other.total),
                    Math.min(min, other.min),
                    Math.max(max, other.max));
        }

        /** @return the value in the JSON form, with the index of its node */
        List<Object> json(int place) {
            return List.of((long) place, calls, total, min, max);
        }
    }
}
