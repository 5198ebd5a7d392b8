// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.profile.StackProfiler;
import org.openjdk.jmh.results.Result;

/**
 * JMH's own {@code stack} profiler: takes all stacks by the Java API, at safepoints. Weights are percentages of its
 * samples. It does not distinguish threads, so a thread is recognised by the generated benchmark code on its stack.
 */
final class JmhStackPeer implements Peer {

    private static final Pattern FIRST = Pattern.compile(" *([0-9.,]+)% +[0-9.,]+% (\\S+?)(?::(-?\\d+))?");
    private static final Pattern NEXT = Pattern.compile(" {6,}(\\S+?)(?::(-?\\d+))?");

    private StackProfiler profiler;

    @Override
    public void start() throws ProfilerException {
        profiler = new StackProfiler("lines=100;top=1000;period=1;detailLine=true");
        profiler.beforeIteration(null, null);
    }

    @Override
    public Profile stop(Predicate<String> thread) {
        Profile profile = new Profile();
        for (Result<?> result : profiler.afterIteration(null, null, null)) {
            addStacks(profile, result.extendedInfo());
        }
        return profile;
    }

    private static void addStacks(Profile profile, String text) {
        boolean runnable = false;
        double weight = 0;
        List<Frame> stack = new ArrayList<>();
        for (String row : text.split("\n")) {
            Matcher first = FIRST.matcher(row);
            Matcher next = NEXT.matcher(row);
            boolean starts = first.matches();
            if (starts || !next.matches()) {
                addMeasured(profile, stack, weight);
                stack.clear();
            }
            if (row.contains("[Thread state")) {
                runnable = row.contains("[Thread state: RUNNABLE]");
            } else if (starts && runnable) {
                weight = Double.parseDouble(first.group(1).replace(',', '.'));
                stack.add(frame(first.group(2), first.group(3)));
            } else if (!stack.isEmpty()) {
                stack.add(frame(next.group(1), next.group(2)));
            }
        }
        addMeasured(profile, stack, weight);
    }

    private static void addMeasured(Profile profile, List<Frame> stack, double weight) {
        if (stack.stream().anyMatch(frame -> frame.method().contains(".jmh_generated."))) {
            profile.add(stack, weight);
        }
    }

    private static Frame frame(String method, String line) {
        return new Frame(Frame.Kind.JAVA, method, line == null ? 0 : Math.max(0, Integer.parseInt(line)));
    }
}
