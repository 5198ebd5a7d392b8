// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.report.RunningInterval;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The intervals that models read: the whole time so far, with number 0, and the last few that a call has asked for with
 * {@code seconds}, numbered from 1. It has a cursor of its own, so other readers are unaffected.
 *
 * <p>Threads: one at a time.
 */
public final class KeptIntervals implements AutoCloseable {

    /** Each holds memory of the sampler. */
    static final int MAX_KEPT = 8;

    /** Clients give a call up after some time, many after a minute. */
    static final int MAX_SECONDS = 30;

    private static final int MAX_NUMBER = 1_000_000;

    private final ThreadsSampler sampler;
    private final RunningInterval whole;
    private final Deque<Interval> kept = new ArrayDeque<>();
    private int last;

    /**
     * Intervals of a sampler.
     *
     * @param sampler need not run yet
     * @param maxSeconds gives the longest whole time, after which it begins anew; called each time
     */
    public KeptIntervals(ThreadsSampler sampler, LongSupplier maxSeconds) {
        this.sampler = sampler;
        whole = new RunningInterval(sampler, maxSeconds);
    }

    /** Begins now, if the sampler runs. */
    public void begin() {
        whole.begin();
    }

    /** Begins the whole time anew where it is long enough. */
    public void renew() {
        whole.renew();
    }

    ThreadsSampler sampler() {
        return sampler;
    }

    /** The two parameters that choose one. */
    static List<Parameter> parameters() {
        return List.of(
                number("interval", "Number of the interval to read. Default 0: the whole time so far."), seconds());
    }

    static Parameter number(String name, String description) {
        return Parameter.number(name, 0, MAX_NUMBER, description);
    }

    static Parameter seconds() {
        return Parameter.number(
                "seconds",
                1,
                MAX_SECONDS,
                "Samples for so many seconds first, and reads only those. They get a number as a new interval; the last "
                        + MAX_KEPT + " are kept.");
    }

    /**
     * The interval that the arguments name.
     *
     * @param name of the argument with the number
     * @param standard the number where there is none
     * @throws ToolRefusal if it is not there
     * @throws IllegalStateException if the sampler does not run
     */
    Interval choose(ToolArguments arguments, String name, int standard) throws InterruptedException {
        if (arguments.has("seconds")) {
            if (arguments.has(name)) {
                throw new ToolRefusal("give either " + name + " or seconds, which makes a new interval");
            }
            return take(arguments.number("seconds", 1));
        }
        return find(arguments.number(name, standard));
    }

    /** @return the number of the newest one; 0: there is none */
    int newest() {
        return kept.isEmpty() ? 0 : kept.getLast().number();
    }

    /** The interval of this number. */
    Interval find(int number) {
        if (number == 0) {
            return new Interval(0, whole.report());
        }
        return kept.stream()
                .filter(each -> each.number() == number)
                .findFirst()
                .orElseThrow(() -> new ToolRefusal("there is no interval " + number + "; "
                        + (kept.isEmpty()
                                ? "there is only 0, the whole time so far: call with seconds to make another"
                                : "kept are 0 and " + kept.getFirst().number() + " to " + newest())));
    }

    private Interval take(int seconds) throws InterruptedException {
        whole.next().close();
        TimeUnit.SECONDS.sleep(seconds);
        return keep();
    }

    /** Keeps what was sampled since the last report. */
    Interval keep() {
        SamplingReport report = whole.next();
        if (kept.size() == MAX_KEPT) {
            kept.removeFirst().report().close();
        }
        last++;
        Interval taken = new Interval(last, report);
        kept.addLast(taken);
        return taken;
    }

    @Override
    public void close() {
        kept.forEach(each -> each.report().close());
        kept.clear();
        whole.close();
    }
}
