// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What reports have: the stacks that were sampled, and the paths of calls that were counted. The time of these is in
 * the sampled stacks, too.
 *
 * @param rootTimes of roots, by their node in counted
 * @param since of those that were not counted throughout, by their node in counted
 */
record Stacks(
        StackTree sampled, StackTree counted, Map<Integer, RootTime> rootTimes, Map<Integer, CountedSince> since) {

    /** @return two trees of so many sides, without stacks */
    static Stacks ofSides(int count) {
        return new Stacks(new StackTree(count), new StackTree(count), new HashMap<>(), new HashMap<>());
    }

    /** Since when a row is counted, and how many calls it lacks at most; below 0: not known. */
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

    /** How long the calls of a root took that have ended; nanoseconds. */
    record RootTime(long calls, long total, long min, long max) {

        /** @return of all calls of both */
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
