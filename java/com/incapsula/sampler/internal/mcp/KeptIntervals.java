// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import com.incapsula.sampler.RecentWindow;
import com.incapsula.sampler.RecentWindow.Length;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The intervals that models read: a window of the last minutes or of the whole time so far, with number 0, and the
 * intervals of the last few calls with {@code seconds}, numbered from 1. These are released if none was read for an
 * hour, because clients do not announce that they end.
 *
 * <p>Threads: one at a time.
 */
public final class KeptIntervals implements AutoCloseable {

    /** Limits the intervals, each of which holds memory of the sampler. */
    static final int MAX_KEPT = 8;

    /** Clients abandon a call after some time, many after a minute. */
    static final int MAX_SECONDS = 30;

    static final long UNREAD_NANOS = TimeUnit.HOURS.toNanos(1);

    private static final int MAX_NUMBER = 1_000_000;
    private static final String WINDOW = "window";

    private final ThreadsSampler sampler;
    private final RecentWindow recent;
    private final Deque<Interval> kept = new ArrayDeque<>();
    private final LongSupplier clock;
    private @Nullable SamplingReport window; // the last one that was read
    private int last;
    private long readNanos; // the last time one of them was read

    /**
     * Creates the intervals of a sampler; the whole time begins now.
     *
     * @param sampler the sampler, which need not run yet
     */
    public KeptIntervals(ThreadsSampler sampler) {
        this(sampler, System::nanoTime);
    }

    /* For tests. */
    KeptIntervals(ThreadsSampler sampler, LongSupplier clock) {
        this.sampler = sampler;
        this.clock = clock;
        recent = sampler.openRecentWindow();
    }

    /** Releases intervals that are no longer read. */
    public void renew() {
        if (clock.getAsLong() - readNanos >= UNREAD_NANOS) {
            closeKept();
        }
    }

    /** @return false if no interval is kept */
    boolean giveUpOldest() {
        Interval oldest = kept.pollFirst();
        if (oldest == null) {
            return false;
        }
        oldest.report().close();
        return true;
    }

    private void closeKept() {
        kept.forEach(each -> each.report().close());
        kept.clear();
    }

    ThreadsSampler sampler() {
        return sampler;
    }

    /** The parameters that choose an interval. */
    static List<Parameter> parameters() {
        return List.of(
                number("interval", "Number of the interval to read. Default 0: the whole time so far, or the window."),
                Parameter.choice(
                        WINDOW,
                        Stream.of(Length.values()).map(Length::getCode).toList(),
                        "Reads only the last minute, 5 or 15 minutes. Default " + Length.SINCE_START.getCode()
                                + ": the whole time so far."),
                seconds());
    }

    /** The parameters of a tool that reads one interval: the choice, {@code own}, and the budget. */
    static List<Parameter> parametersWith(Parameter... own) {
        List<Parameter> all = new ArrayList<>(parameters());
        all.addAll(List.of(own));
        all.add(ToolArguments.budget());
        return all;
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
     * Finds the interval that the arguments choose.
     *
     * @param name of the argument with the number
     * @param standard the default number
     * @throws ToolRefusal if it is not there
     * @throws IllegalStateException if the sampler does not run
     */
    Interval choose(ToolArguments arguments, String name, int standard) throws InterruptedException {
        return choose(arguments, name, standard, 0);
    }

    /* As above; the interval with the number {@code needed} is not replaced by a new one. */
    Interval choose(ToolArguments arguments, String name, int standard, int needed) throws InterruptedException {
        if (arguments.has("seconds")) {
            for (String other : List.of(name, WINDOW)) {
                if (arguments.has(other)) {
                    throw new ToolRefusal("give either " + other + " or seconds, which makes a new interval");
                }
            }
            return take(arguments.number("seconds", 1), needed);
        }
        if (!arguments.has(WINDOW)) {
            return find(arguments.number(name, standard));
        }
        if (arguments.has(name) && arguments.number(name, standard) != 0) {
            throw new ToolRefusal("give either " + name + " or window, which is interval 0");
        }
        return window(Length.of(String.valueOf(arguments.text(WINDOW))));
    }

    private Interval window(Length length) {
        SamplingReport report = recent.report(length);
        closeWindow();
        window = report;
        return new Interval(0, report, length);
    }

    private void closeWindow() {
        if (window != null) {
            window.close();
            window = null;
        }
    }

    /** @return the number of the newest interval, or 0 if there is none */
    int newest() {
        return kept.isEmpty() ? 0 : kept.getLast().number();
    }

    /** Finds the interval with this number. */
    Interval find(int number) {
        if (number == 0) {
            return window(Length.SINCE_START);
        }
        readNanos = clock.getAsLong();
        return kept.stream()
                .filter(each -> each.number() == number)
                .findFirst()
                .orElseThrow(() -> new ToolRefusal("there is no interval " + number + "; "
                        + (kept.isEmpty()
                                ? "there is only 0, the whole time so far: call with seconds to make another"
                                : "kept are 0" + numbers())));
    }

    private String numbers() {
        return kept.stream().map(each -> ", " + each.number()).collect(Collectors.joining());
    }

    /* Samples a new interval for this number of seconds. */
    Interval take(int seconds, int needed) throws InterruptedException {
        try (SamplingCursor cursor = sampler.openCursor()) {
            TimeUnit.SECONDS.sleep(seconds);
            return keep(cursor.next(), needed);
        }
    }

    private Interval keep(SamplingReport report, int needed) {
        if (kept.size() == MAX_KEPT) {
            makeRoom(needed);
        }
        readNanos = clock.getAsLong();
        last++;
        Interval taken = new Interval(last, report, null);
        kept.addLast(taken);
        return taken;
    }

    private void makeRoom(int needed) {
        for (Iterator<Interval> oldest = kept.iterator(); kept.size() == MAX_KEPT; ) {
            Interval each = oldest.next();
            if (each.number() != needed) {
                oldest.remove();
                each.report().close();
            }
        }
    }

    @Override
    public void close() {
        closeKept();
        closeWindow();
        recent.close();
    }
}
