// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import com.incapsula.sampler.bench.accuracy.Calls.Verdict;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The oracle's verdicts on the stacks that one profiler found for one thread. */
final class JudgedStacks {

    private static final int EXAMPLES = 4;
    private static final int MOST_FRAMES = 4;
    private static final String ROOT = "java/lang/Thread.run";

    private final Calls calls;
    private final Map<Verdict, Long> verdicts = new EnumMap<>(Verdict.class);
    private final Map<String, Long> impossible = new HashMap<>();
    private final Map<String, String> interrupted = new HashMap<>();
    private final Map<String, Long> failures = new HashMap<>();
    /* A fixed seed, so that the same stacks are changed each time. */
    private final Random random = new Random(42);
    private long stacks;
    private long failed;
    private long unrooted;
    private long nameless;
    private long wrong;
    private long changed;
    private long noticed;

    JudgedStacks(Calls calls) {
        this.calls = calls;
    }

    /** Counts a stack that was not walked. */
    void addFailed(String why) {
        stacks++;
        failed++;
        failures.merge(why, 1L, Long::sum);
    }

    /**
     * Counts a stack.
     *
     * @param places leaf first; null if frames are missing in the stack
     * @param isNameless a frame has no name
     * @param where the thread was interrupted; used if the stack is wrong
     */
    void add(List<Place> places, boolean isNameless, Supplier<String> where) {
        stacks++;
        nameless += isNameless ? 1 : 0;
        boolean isRooted = places.stream().anyMatch(place -> place != null && isRoot(place));
        if (!isRooted) {
            unrooted++;
            failures.merge("no root: " + places.get(0) + " < " + places.get(places.size() - 1), 1L, Long::sum);
        }
        long before = impossibleCalls();
        int last = 0;
        for (int i = 1; i < places.size(); i++) {
            last = count(places.get(i), places.get(i - 1)) ? i : last;
        }
        if (impossibleCalls() > before) {
            wrong++;
            impossible.merge(text(places, last), 1L, Long::sum);
            interrupted.putIfAbsent(text(places, last), where.get());
        }
        dropOne(places);
    }

    private static boolean isRoot(Place place) {
        return ROOT.equals(place.type() + "." + place.method());
    }

    /* Returns true if the call is impossible. */
    private boolean count(Place caller, Place callee) {
        if (caller == null || callee == null) {
            return false;
        }
        Verdict verdict = calls.judge(caller, callee);
        verdicts.merge(verdict, 1L, Long::sum);
        return verdict == Verdict.IMPOSSIBLE;
    }

    /* The frames from the last impossible call to the leaf. */
    private static String text(List<Place> places, int caller) {
        List<Place> frames = places.subList(Math.max(0, caller - MOST_FRAMES), caller);
        return places.get(caller) + " cannot call "
                + IntStream.range(0, frames.size())
                        .mapToObj(i -> frames.get(frames.size() - 1 - i))
                        .map(place -> place == null ? "..." : place.shortText())
                        .collect(Collectors.joining(" > "));
    }

    /*
     * The sensitivity of the oracle: would the stack be judged impossible without one of its frames? Recursive calls
     * are excluded, because such a stack stays possible.
     */
    private void dropOne(List<Place> places) {
        if (places.size() < 3) {
            return;
        }
        int at = 1 + random.nextInt(places.size() - 2);
        Place caller = places.get(at + 1);
        Place dropped = places.get(at);
        Place callee = places.get(at - 1);
        if (caller == null || dropped == null || callee == null || dropped.isSameMethod(callee)) {
            return;
        }
        changed++;
        noticed += calls.judge(caller, callee) == Verdict.IMPOSSIBLE ? 1 : 0;
    }

    private long impossibleCalls() {
        return verdicts.getOrDefault(Verdict.IMPOSSIBLE, 0L);
    }

    /** The figures as cells: numbers, then texts. */
    List<Object> cells() {
        long sum = verdicts.values().stream().mapToLong(Long::longValue).sum();
        String exempt = verdicts.entrySet().stream()
                .filter(entry -> Calls.EXEMPT.contains(entry.getKey()))
                .map(entry -> entry.getKey().name() + "=" + entry.getValue())
                .collect(Collectors.joining(","));
        return new ArrayList<>(Arrays.asList(
                stacks,
                failed,
                unrooted,
                nameless,
                sum,
                impossibleCalls(),
                wrong,
                changed,
                noticed,
                exempt,
                most(impossible),
                most(failures)));
    }

    private String suffix(String example) {
        String where = interrupted.getOrDefault(example, "");
        return where.isEmpty() ? "" : " (" + where + ")";
    }

    private String most(Map<String, Long> counts) {
        return counts.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(EXAMPLES)
                .map(entry -> entry.getValue() + " x " + entry.getKey() + suffix(entry.getKey()))
                .collect(Collectors.joining("; "));
    }
}
