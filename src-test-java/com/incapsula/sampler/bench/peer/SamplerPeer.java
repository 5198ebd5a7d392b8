// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * This project's sampler. Weights are milliseconds of wall time, with fractions, because a text report rounds each row
 * and so would understate stacks with many small rows. By default there is no overhead limit, so that nothing is
 * skipped and the whole cost is visible.
 */
public final class SamplerPeer implements GroupedPeer {

    private static final double NO_LIMIT = 100;
    private static final double NANOS_OF_A_MILLI = 1_000_000;
    private static final Pattern LINE = Pattern.compile("(.*)\\((?:[^():]*):(\\d+)\\)");
    private static final Pattern PLACE = Pattern.compile("(.*)\\([^()]*\\)");

    private final SamplingEngine engine;
    private final long intervalMillis;
    private final SamplingClock clock;
    private boolean defaultLimit;
    private ThreadsSampler sampler;
    private Map<String, Profile> cpu = Map.of();
    private Map<String, Long> samples = Map.of();

    SamplerPeer(SamplingEngine engine) {
        this(engine, 1);
    }

    /**
     * Creates a sampler.
     *
     * @param engine the way to walk stacks
     * @param intervalMillis between two polls of a thread
     */
    public SamplerPeer(SamplingEngine engine, long intervalMillis) {
        this(engine, intervalMillis, SamplingClock.WALL);
    }

    /**
     * Creates a sampler with an interval of one millisecond.
     *
     * @param clock the time that is sampled, which is also the weight
     */
    public SamplerPeer(SamplingClock clock) {
        this(SamplingEngine.AUTO, 1, clock);
    }

    private SamplerPeer(SamplingEngine engine, long intervalMillis, SamplingClock clock) {
        this.engine = engine;
        this.intervalMillis = intervalMillis;
        this.clock = clock;
    }

    /** Creates an outputer that drops everything except errors, which it throws. */
    static SamplingOutputer silent() {
        return new Silent();
    }

    /** Creates a sampler as users run it, with the default overhead limit. */
    static SamplerPeer withDefaultLimit(long intervalMillis) {
        SamplerPeer peer = new SamplerPeer(SamplingEngine.AUTO, intervalMillis);
        peer.defaultLimit = true;
        return peer;
    }

    /**
     * Starts a sampler that samples nothing and is never closed. While one is open, the JVM records exact lines in all
     * code that it compiles, which helps every profiler. Must be called before the measured code is compiled.
     */
    public static void keepExactLines() {
        ThreadsSampler open = new ThreadsSampler();
        open.setActive(false);
        open.setReportFrequencySeconds(0);
        open.setSamplingOutputer(new Silent());
        open.init();
    }

    @Override
    public void start() {
        sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(intervalMillis);
        sampler.setReportFrequencySeconds(0);
        sampler.setSamplingOutputer(new Silent());
        sampler.setEngine(engine);
        sampler.setClock(clock);
        if (!defaultLimit) {
            sampler.setOverheadLimitPercent(NO_LIMIT);
        }
        sampler.init();
    }

    /**
     * Limits the running sampler's overhead.
     *
     * @param percent of one processor
     */
    public void limit(double percent) {
        sampler.setOverheadLimitPercent(percent);
    }

    /** Discards everything seen so far. */
    public void forget() {
        sampler.snapshot().close();
    }

    /** Stops. Returns the report since the start, which the caller closes. */
    SamplingReport report() throws IOException {
        SamplingReport report = sampler.snapshot();
        sampler.close();
        return report;
    }

    @Override
    public Map<String, Profile> stopByGroup(Function<String, String> group) throws IOException {
        try (SamplingReport report = report()) {
            cpu = profiles(report, ReportMeasure.CPU, group);
            samples = report.getGroups().stream()
                    .filter(seen -> group.apply(seen.getName()) != null)
                    .collect(Collectors.toMap(
                            seen -> group.apply(seen.getName()), SamplingGroup::getSamples, Long::sum));
            return clock == SamplingClock.CPU ? cpu : profiles(report, ReportMeasure.WALL, group);
        }
    }

    /**
     * Returns the CPU time per stack; after stop with a predicate.
     *
     * @return weights are milliseconds of CPU time
     */
    public Profile cpu() {
        return cpu.getOrDefault("", new Profile());
    }

    /**
     * Returns the CPU time per stack; after stopByGroup.
     *
     * @return weights are milliseconds of CPU time
     */
    public Map<String, Profile> cpuByGroup() {
        return cpu;
    }

    /**
     * Returns how often the threads' stacks were obtained; after stop.
     *
     * @return the number of samples
     */
    public long samples() {
        return samples.values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * Returns the samples of one group; after stopByGroup.
     *
     * @param group as the function has named it
     * @return the number of samples, 0 for a group that was not seen
     */
    public long samples(String group) {
        return samples.getOrDefault(group, 0L);
    }

    /**
     * Returns the figures of the running sampler, or of the one that was stopped last.
     *
     * @return never null after start
     */
    public SamplerStatistics statistics() {
        return sampler.getStatistics();
    }

    /* Each line is "group;root;...;leaf nanoseconds". */
    static Map<String, Profile> profiles(SamplingReport report, ReportMeasure weight, Function<String, String> group)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(weight), out);
        Map<String, Profile> profiles = new HashMap<>();
        out.toString(StandardCharsets.UTF_8).lines().forEach(line -> {
            int end = line.lastIndexOf(' ');
            String[] parts = line.substring(0, end).split(";");
            String key = group.apply(parts[0]);
            if (key != null) {
                profiles.computeIfAbsent(key, made -> new Profile())
                        .add(leafFirst(parts), Double.parseDouble(line.substring(end + 1)) / NANOS_OF_A_MILLI);
            }
        });
        return profiles;
    }

    private static List<Frame> leafFirst(String... parts) {
        List<Frame> frames = new ArrayList<>();
        for (int i = 1; i < parts.length; i++) {
            frames.add(i == 1 ? root(parts[i]) : frame(parts[i]));
        }
        Collections.reverse(frames);
        return frames;
    }

    /* A pseudo-frame without further frames is the reason why there is no stack. */
    private static Frame root(String text) {
        if (!text.startsWith("[")) {
            return frame(text);
        }
        return switch (text) {
            case "[over the overhead limit]", "[signal queue full]", "[signal not answered]", "[process stopped]" ->
                new Frame(Frame.Kind.SKIPPED, text, 0);
            case "[GC active]" -> new Frame(Frame.Kind.CODE, text, 0);
            default -> new Frame(Frame.Kind.FAILED, text, 0);
        };
    }

    /** Parses a row of a report: a method and its place, or a text in brackets. */
    static Frame frame(String text) {
        if (text.startsWith("[")) {
            return new Frame(Frame.Kind.CODE, text, 0);
        }
        Matcher line = LINE.matcher(text);
        if (line.matches()) {
            return new Frame(Frame.Kind.JAVA, line.group(1), Integer.parseInt(line.group(2)));
        }
        Matcher place = PLACE.matcher(text);
        return new Frame(Frame.Kind.JAVA, place.matches() ? place.group(1) : text, 0);
    }

    /** An outputer without output. */
    private static final class Silent implements SamplingOutputer {

        @Override
        public void printIntervalTitle(String title) {
            /* The benchmark measures the time of windows itself. */
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            /* Not used, because the text is rounded. */
        }

        @Override
        public void printError(String message, Throwable cause) {
            throw new IllegalStateException(message, cause);
        }

        @Override
        public void flush() {
            /* Nothing is buffered. */
        }

        @Override
        public void close() {
            /* Nothing is open. */
        }
    }
}
