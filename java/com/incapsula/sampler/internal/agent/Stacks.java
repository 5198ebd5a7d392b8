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

    /** The time since which a row is counted, and the largest possible number of missing calls; below 0: not known. */
    record CountedSince(long millis, long missing) {

        /** @return of both together */
        CountedSince plus(CountedSince other) {
            return new CountedSince(
                    Math.max(millis, other.millis),
                    Math.min(missing, other.missing) < 0 ? -1 : Math.addExact(missing, other.missing));
        }

        /** @return as the JSON form has it, with the place of its node */
        List<Object> json(int place) {
            return List.of((long) place, millis, missing);
        }
    }

    /** The times of the finished calls of a root method, nanoseconds. */
    record RootTime(long calls, long total, long min, long max) {

        /** @return the times of all calls of both */
        RootTime plus(RootTime other) {
            return new RootTime(
                    Math.addExact(calls, other.calls),
                    Math.addExact(total, other.total),
                    Math.min(min, other.min),
                    Math.max(max, other.max));
        }

        /** @return as the JSON form has it, with the place of its node */
        List<Object> json(int place) {
            return List.of((long) place, calls, total, min, max);
        }
    }
}
