// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The active time of a report by lines of your code: see {@link SamplingReport#getSummary()}. Active time is
 * wall time without the state {@code idle}; with {@link SamplingClock#CPU} it is all time.
 *
 * <p>Threads: immutable.
 *
 * @since 1.0
 */
public final class SamplingSummary {

    private final Map<String, Object> figures;
    private final List<SamplingHotSpot> hotSpots;
    private final List<String> packages;
    private final List<String> lines;

    private SamplingSummary(Map<String, Object> figures) {
        this.figures = Map.copyOf(figures);
        this.hotSpots = hotSpots(figures);
        this.packages = texts(figures, "packages");
        this.lines = texts(figures, "lines");
    }

    /** @param document a report as JSON; other versions may lack the summary */
    static SamplingSummary of(Object document) {
        Object summary = document instanceof Map<?, ?> report ? report.get("summary") : null;
        return new SamplingSummary(summary == null ? Map.of() : object(summary));
    }

    @SuppressWarnings("unchecked") // the keys of a JSON object are strings
    private static Map<String, Object> object(Object value) {
        return (Map<String, Object>) value;
    }

    private static List<SamplingHotSpot> hotSpots(Map<String, Object> figures) {
        List<SamplingHotSpot> spots = new ArrayList<>();
        if (figures.get("hotSpots") instanceof List<?> all) {
            all.forEach(spot -> spots.add(new SamplingHotSpot(object(spot))));
        }
        return List.copyOf(spots);
    }

    private static List<String> texts(Map<String, Object> figures, String name) {
        List<String> texts = new ArrayList<>();
        if (figures.get(name) instanceof List<?> all) {
            all.forEach(text -> texts.add(text.toString()));
        }
        return List.copyOf(texts);
    }

    static long number(Map<String, Object> figures, String name, long standard) {
        return Json.get(figures, name) instanceof Number number ? number.longValue() : standard;
    }

    static @Nullable ErrorRange range(Map<String, Object> figures, String name) {
        return figures.get(name) instanceof List<?> pair
                        && pair.size() == 2
                        && pair.get(0) instanceof Number lower
                        && pair.get(1) instanceof Number upper
                ? new ErrorRange(lower.longValue(), upper.longValue())
                : null;
    }

    private long partOf(String object, String name) {
        return figures.get(object) instanceof Map<?, ?> part ? number(object(part), name, 0) : 0;
    }

    /**
     * {@return the lines of your code with the most active time, by state and in descending time: at most ten, each
     * with at least one percent of it; not modifiable} Running and runnable count as one state.
     */
    public List<SamplingHotSpot> getHotSpots() {
        return hotSpots;
    }

    /**
     * {@return the active time of all thread groups, in nanoseconds} It is the sum of the hot spots,
     * {@link #getOtherNanos}, {@link #getElsewhereNanos} and {@link #getWaitsNanos}.
     */
    public long getActiveNanos() {
        return number(figures, "activeNanos", 0);
    }

    /** {@return the active time of lines of your code that are not among the hot spots, in nanoseconds} */
    public long getOtherNanos() {
        return partOf("others", "nanos");
    }

    /** {@return the active time of stacks without a line of your code, in nanoseconds} */
    public long getElsewhereNanos() {
        return partOf("elsewhere", "nanos");
    }

    /**
     * {@return the time of threads that only wait for others to finish, as a main thread does in {@code Thread.join},
     * in nanoseconds} This time is no hot spot, because the work of those others is shown.
     */
    public long getWaitsNanos() {
        return partOf("waits", "nanos");
    }

    /** {@return the idle time of all thread groups, in nanoseconds} */
    public long getIdleNanos() {
        return number(figures, "idleNanos", 0);
    }

    /** {@return how many distinct threads were sampled, without the JVM's own} */
    public long getThreadCount() {
        return number(figures, "threads", 0);
    }

    /** {@return how many thread groups these threads are in} */
    public long getGroupCount() {
        return number(figures, "groups", 0);
    }

    /**
     * {@return the packages that were considered your code, as prefixes of class names: {@code monitoredPackages}, or
     * else the packages of the hottest lines; empty if no line of your code was seen; not modifiable}
     */
    public List<String> getPackages() {
        return packages;
    }

    /** {@return true if your code was guessed, because {@code monitoredPackages} is empty or {@code auto}} */
    public boolean isGuessed() {
        return Boolean.TRUE.equals(figures.get("guessed"));
    }

    /**
     * {@return the lines of the summary at the beginning of a text report, {@code Summary.} first, each with a line
     * end: at most 25 lines of at most 130 columns}
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Summary.\n");
        lines.forEach(line -> text.append(line).append('\n'));
        return text.toString();
    }
}
