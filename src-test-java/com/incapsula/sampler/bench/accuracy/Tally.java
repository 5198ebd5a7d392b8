// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.peer.Frame;
import com.incapsula.sampler.bench.peer.Frame.Kind;
import com.incapsula.sampler.bench.peer.Profile;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The number of stacks in a profile that failed, and of those that end before the method in which the thread's work
 * begins.
 *
 * @param seen weight of all stacks, the failed ones among them
 * @param failed weight of those that could not be walked
 * @param unrooted weight of those that were walked, but not to the root
 * @param skipped weight of polls that the profiler reports as skipped; not in seen
 * @param examples the heaviest stacks that are failed or unrooted
 */
record Tally(double seen, double failed, double unrooted, double skipped, String examples) {

    private static final int EXAMPLES = 3;

    /**
     * Counts.
     *
     * @param profile of the program's threads
     * @param counted selects the program's stacks
     * @param roots methods one of which is in every complete stack
     */
    static Tally of(Profile profile, Predicate<List<Frame>> counted, Set<String> roots) {
        double[] sums = new double[4];
        profile.stacks().forEach((stack, weight) -> {
            if (!counted.test(stack)) {
                return;
            }
            if (isSkipped(stack)) {
                sums[3] += weight;
                return;
            }
            sums[0] += weight;
            sums[1] += isFailed(stack) ? weight : 0;
            sums[2] += !isFailed(stack) && !isRooted(stack, roots) ? weight : 0;
        });
        String examples = profile.stacks().entrySet().stream()
                .filter(entry -> counted.test(entry.getKey()) && !isSkipped(entry.getKey()))
                .filter(entry -> isFailed(entry.getKey()) || !isRooted(entry.getKey(), roots))
                .sorted(Map.Entry.<List<Frame>, Double>comparingByValue().reversed())
                .limit(EXAMPLES)
                .map(entry -> Math.round(entry.getValue()) + " x "
                        + entry.getKey().stream()
                                .limit(EXAMPLES)
                                .map(Frame::toString)
                                .collect(Collectors.joining(" < ")))
                .collect(Collectors.joining("; "));
        return new Tally(sums[0], sums[1], sums[2], sums[3], examples);
    }

    static boolean isSkipped(List<Frame> stack) {
        return stack.stream().anyMatch(frame -> frame.kind() == Kind.SKIPPED);
    }

    static boolean isFailed(List<Frame> stack) {
        return stack.stream().anyMatch(frame -> frame.kind() == Kind.FAILED);
    }

    private static boolean isRooted(List<Frame> stack, Set<String> roots) {
        return stack.stream().map(Frame::method).anyMatch(roots::contains)
                || stack.get(0).method().equals("[GC active]");
    }
}
