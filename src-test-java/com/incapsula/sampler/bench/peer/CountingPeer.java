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

/** This project's sampler, counting calls from root methods on; everything else has its default. */
public final class CountingPeer {

    /** The number of methods that are counted now. */
    public static final String METHODS = "methods counted";
    /** The number of batches since the start. */
    public static final String BATCHES = "batches of methods that began to be counted";
    /** The number of methods that are no longer counted. */
    public static final String DROPPED = "not counted any more, short and called often";
    /** The number of calls that have no node in the tree. */
    public static final String NO_NODE = "calls without a place";
    /** The number of calls since the start. */
    public static final String CALLS = "calls";

    private static final List<String> SUMS = List.of(BATCHES, NO_NODE, CALLS);

    private final String roots;
    private final String filter;
    private final double limitPercent;
    private final Map<String, Long> figures = new LinkedHashMap<>();
    private ThreadsSampler sampler;

    /**
     * Creates one.
     *
     * @param roots rootMethods
     * @param filter instrumentationFilter
     * @param limitPercent overheadLimitPercent: above it methods lose their probes
     */
    public CountingPeer(String roots, String filter, double limitPercent) {
        this.roots = roots;
        this.filter = filter;
        this.limitPercent = limitPercent;
    }

    /**
     * Starts to count with LAZY.
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
     * Reads the account.
     *
     * @return the figures by the constants of this class
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

    /** Ends; the classes have their own byte code again. */
    public void stop() throws IOException {
        sampler.close();
    }
}
