// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.incapsula.sampler.Instrumentation;
import com.incapsula.sampler.MethodTiming;
import com.incapsula.sampler.ReportAccount;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** This project's sampler where it counts calls from root methods down; all else as a user has it. */
public final class CountingPeer {

    /** Methods that are counted now. */
    public static final String METHODS = "methods counted";
    /** Batches since the start. */
    public static final String BATCHES = "batches of methods that began to be counted";
    /** Methods that are not counted any more. */
    public static final String DROPPED = "not counted any more, short and called often";
    /** Calls that are not in the tree. */
    public static final String NO_NODE = "calls without a place";
    /** Calls since the start. */
    public static final String CALLS = "calls";

    private static final List<String> SUMS = List.of(BATCHES, NO_NODE, CALLS);

    private final String roots;
    private final String filter;
    private final double limitPercent;
    private final Map<String, Long> figures = new LinkedHashMap<>();
    private ThreadsSampler sampler;

    /**
     * Prepares one.
     *
     * @param roots rootMethods
     * @param filter instrumentationFilter
     * @param limitPercent overheadLimitPercent: past it methods are dropped
     */
    public CountingPeer(String roots, String filter, double limitPercent) {
        this.roots = roots;
        this.filter = filter;
        this.limitPercent = limitPercent;
    }

    /**
     * Starts to count, LAZY.
     *
     * @param timing of methods
     */
    public void start(MethodTiming timing) {
        start(timing, Instrumentation.LAZY);
    }

    /**
     * Starts to count.
     *
     * @param timing of methods
     * @param instrumentation when they are instrumented
     */
    public void start(MethodTiming timing, Instrumentation instrumentation) {
        figures.clear();
        sampler = new ThreadsSampler();
        sampler.setReportFrequencySeconds(0);
        sampler.setReportAccount(ReportAccount.FULL);
        sampler.setSamplingOutputer(SamplerPeer.silent());
        sampler.setOverheadLimitPercent(limitPercent);
        sampler.setRootMethods(roots);
        sampler.setInstrumentationFilter(filter);
        sampler.setInstrumentation(instrumentation);
        sampler.setMethodTiming(timing);
        sampler.init();
    }

    /**
     * What the account says up to now.
     *
     * @return by the constants of this class, each of them
     */
    public Map<String, Long> figures() throws IOException {
        try (SamplingReport report = sampler.snapshot()) {
            String text = report.toString(ReportFormat.TEXT);
            for (String name : List.of(METHODS, BATCHES, DROPPED, NO_NODE)) {
                note(name, figureIn(text, name));
            }
            note(CALLS, report.getMeasures().get("calls"));
        }
        return Map.copyOf(figures);
    }

    private void note(String name, long value) {
        figures.merge(name, value, SUMS.contains(name) ? Long::sum : (before, now) -> now);
    }

    private static long figureIn(String report, String name) {
        Matcher line = Pattern.compile("^\\s*" + Pattern.quote(name) + ": (\\d+)", Pattern.MULTILINE)
                .matcher(report);
        return line.find() ? Long.parseLong(line.group(1)) : 0;
    }

    /** Ends; classes have their own byte code again. */
    public void stop() throws IOException {
        sampler.close();
    }
}
