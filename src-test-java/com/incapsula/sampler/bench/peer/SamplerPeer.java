// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingEngine;
import com.incapsula.sampler.SamplingGroup;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * This project's sampler. Weights are milliseconds of wall time. Unless it is told otherwise it may use all the CPU
 * time it needs, so that it skips nothing and its price is the whole price.
 */
public final class SamplerPeer implements Peer {

    private static final Pattern GROUP = Pattern.compile("Aggregated thread: (.*)\\. Max depth: .*");
    private static final Pattern ROW = Pattern.compile("( *)(\\S.*?) +"
            + "Cumulative time\\(ms\\): (\\d+), Method time\\(ms\\): (\\d+), CPU time\\(ms\\): (\\d+)");
    private static final double NO_LIMIT = 100;
    private static final Pattern LINE = Pattern.compile("(.*)\\((?:[^():]*):(\\d+)\\)");
    private static final Pattern PLACE = Pattern.compile("(.*)\\([^()]*\\)");

    private final SamplingEngine engine;
    private final long intervalMillis;
    private final Map<String, String> records = new LinkedHashMap<>();
    private ThreadsSampler sampler;

    SamplerPeer(SamplingEngine engine) {
        this(engine, 1);
    }

    /**
     * Makes a sampler.
     *
     * @param engine how stacks are walked
     * @param intervalMillis between two looks at a thread
     */
    public SamplerPeer(SamplingEngine engine, long intervalMillis) {
        this.engine = engine;
        this.intervalMillis = intervalMillis;
    }

    /**
     * Starts a sampler that samples nothing and is never closed. As long as one is open the JVM notes exact lines in
     * all code it compiles, without a flag; all profilers gain by it. To be called before the measured code is
     * compiled.
     */
    public static void keepExactLines() {
        ThreadsSampler open = new ThreadsSampler();
        open.setActive(false);
        open.setReportFrequencySeconds(0);
        open.setSamplingOutputer(new SamplerPeer(SamplingEngine.AUTO, 1).new Records());
        open.init();
    }

    @Override
    public void start() {
        records.clear();
        sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(intervalMillis);
        sampler.setReportFrequencySeconds(0);
        sampler.setReportZeroTimePackages(true);
        sampler.setSamplingOutputer(new Records());
        sampler.setEngine(engine);
        sampler.setOverheadLimitPercent(NO_LIMIT);
        sampler.setReportCpuTime(true);
        sampler.init();
    }

    /**
     * Limits the running sampler.
     *
     * @param percent of a processor that it may use
     */
    public void limit(double percent) {
        sampler.setOverheadLimitPercent(percent);
    }

    /**
     * How often the running sampler has found out what threads do, since it started or forgot.
     *
     * @param thread names of thread groups
     * @return the number of samples
     */
    public long samples(Predicate<String> thread) {
        try (SamplingReport report = sampler.snapshot()) {
            return report.getGroups().stream().filter(group -> thread.test(group.getName()))
                    .mapToLong(SamplingGroup::getSamples).sum();
        }
    }

    /** Forgets what has been seen up to now. */
    public void forget() {
        sampler.printReport();
        records.clear();
    }

    @Override
    public Profile stop(Predicate<String> thread) throws Exception {
        sampler.close();
        return profile(thread, false);
    }

    /**
     * CPU time per stack; after stop.
     *
     * @param thread as in stop
     * @return weights are milliseconds of CPU time
     */
    public Profile cpu(Predicate<String> thread) {
        return profile(thread, true);
    }

    private Profile profile(Predicate<String> thread, boolean cpu) {
        Profile profile = new Profile();
        records.forEach((title, rows) -> {
            if (thread.test(title)) {
                addRows(profile, rows, cpu);
            }
        });
        return profile;
    }

    /**
     * The figures of the running sampler, or of the one that was stopped last.
     *
     * @return never null after start
     */
    public SamplerStatistics statistics() {
        return sampler.getStatistics();
    }

    /* A row's CPU time includes that of its children. */
    private static void addRows(Profile profile, String rows, boolean cpu) {
        List<Frame> path = new ArrayList<>();
        List<List<Frame>> stacks = new ArrayList<>();
        List<double[]> weights = new ArrayList<>();
        List<double[]> open = new ArrayList<>();
        for (String row : rows.split("\n")) {
            Matcher parts = ROW.matcher(row);
            if (parts.matches()) {
                int depth = Math.min(parts.group(1).length() / 2, path.size());
                path.subList(depth, path.size()).clear();
                open.subList(depth, open.size()).clear();
                path.add(depth == 0 ? root(parts.group(2)) : frame(parts.group(2)));
                double[] weight = {Double.parseDouble(parts.group(cpu ? 5 : 4))};
                if (cpu && depth > 0) {
                    open.get(depth - 1)[0] -= weight[0];
                }
                open.add(weight);
                weights.add(weight);
                List<Frame> leafFirst = new ArrayList<>(path);
                Collections.reverse(leafFirst);
                stacks.add(leafFirst);
            }
        }
        for (int i = 0; i < stacks.size(); i++) {
            profile.add(stacks.get(i), weights.get(i)[0]);
        }
    }

    /* A pseudo-frame that stands alone names why there is no stack. */
    private static Frame root(String text) {
        if (!text.startsWith("[")) {
            return frame(text);
        }
        return switch (text) {
            case "[over the overhead limit]", "[signal queue full]", "[signal not answered]" ->
                new Frame(Frame.Kind.SKIPPED, text, 0);
            case "[GC active]" -> new Frame(Frame.Kind.CODE, text, 0);
            default -> new Frame(Frame.Kind.FAILED, text, 0);
        };
    }

    private static Frame frame(String text) {
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

    /** Keeps the records by the name of their thread group. */
    private final class Records implements SamplingOutputer {

        @Override
        public void printIntervalTitle(String title) {
            /* Windows are timed by the benchmark. */
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            Matcher group = GROUP.matcher(threadTitle);
            if (group.matches()) {
                records.merge(group.group(1), record, String::concat);
            }
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
