// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import com.imperva.sampler.ThreadsSampler;
import com.imperva.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The library that this project continues, read from its text report. Weights are milliseconds. */
final class PerfSamplerPeer implements GroupedPeer {

    /* Without monitored packages it keeps only the root of each stack. */
    private static final String MONITORED = "com.incapsula,java";
    private static final long REPORT_SECONDS = 20;
    private static final Pattern TITLE = Pattern.compile("Aggregated thread: (.*)\\. Max depth: .*");
    private static final Pattern ROW =
            Pattern.compile("( *)(\\S.*?) +Cumulative time\\(ms\\): *\\d+, Method time\\(ms\\): *(\\d+).*");
    private static final int BLANKS_OF_A_LEVEL = 2;

    private final long intervalMillis;
    private final Memory memory = new Memory();
    private ThreadsSampler sampler;

    PerfSamplerPeer(long intervalMillis) {
        this.intervalMillis = intervalMillis;
    }

    @Override
    public void start() {
        sampler = new ThreadsSampler();
        sampler.setSamplingFrequencyMillis(intervalMillis);
        sampler.setReportFrequencySeconds(0);
        sampler.setSkipDaemonThreads(false);
        sampler.setMonitoredPackages(MONITORED);
        sampler.setSamplingOutputer(memory);
        sampler.init();
    }

    @Override
    public Map<String, Profile> stopByGroup(Function<String, String> group) throws Exception {
        sampler.close();
        /* Its close() waits only 50 ms for the thread that prints. */
        if (!memory.printed.await(REPORT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no report from the original after " + REPORT_SECONDS + " s");
        }
        Map<String, Profile> profiles = new HashMap<>();
        memory.records.forEach(record -> {
            Matcher title = TITLE.matcher(record[0]);
            String key = title.matches() ? group.apply(title.group(1)) : null;
            if (key != null) {
                addRows(profiles.computeIfAbsent(key, made -> new Profile()), record[1]);
            }
        });
        return profiles;
    }

    /*
     * The depth of a row is its indentation. Omitted rows have no time of their own. Loader and module before a class's
     * name are dropped, as in the other profilers.
     */
    private static void addRows(Profile profile, String text) {
        List<Frame> path = new ArrayList<>();
        text.lines().forEach(line -> {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                int depth = Math.min(path.size(), row.group(1).length() / BLANKS_OF_A_LEVEL);
                path.subList(depth, path.size()).clear();
                path.add(SamplerPeer.frame(row.group(2).replaceAll("^[^(]*/", "")));
                List<Frame> leafFirst = new ArrayList<>(path);
                Collections.reverse(leafFirst);
                profile.add(leafFirst, Double.parseDouble(row.group(3)));
            }
        });
    }

    /** Keeps the report. */
    private static final class Memory implements SamplingOutputer {

        private final CountDownLatch printed = new CountDownLatch(1);
        private final List<String[]> records = new ArrayList<>();

        @Override
        public void printIntervalTitle(String title) {
            /* The benchmark measures the time of windows itself. */
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            records.add(new String[] {threadTitle, record});
        }

        @Override
        public void printError(String message, Throwable cause) {
            throw new IllegalStateException(message, cause);
        }

        @Override
        public void flush() {
            printed.countDown();
        }

        @Override
        public void close() {
            /* Nothing is open. */
        }
    }
}
