// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.outputer.SamplingOutputer;
import java.util.ArrayList;
import java.util.List;

/** An outputer that stores its calls and parses them. */
public class Recorder implements SamplingOutputer {

    /** A call of {@code printError}. */
    public record Failure(String message, Throwable cause) {}

    private final List<String> calls = new ArrayList<>();
    private final List<Report> reports = new ArrayList<>();
    private final List<Failure> failures = new ArrayList<>();
    private final List<String[]> records = new ArrayList<>();
    private String title;

    @Override
    public synchronized void printIntervalTitle(String text) {
        calls.add("title");
        title = text;
        records.clear();
    }

    @Override
    public synchronized void printThreadRecord(String threadTitle, String record) {
        calls.add(
                switch (threadTitle) {
                    case "Summary." -> "summary";
                    case "Sampler account." -> "account";
                    default -> "record";
                });
        records.add(new String[] {threadTitle, record});
    }

    @Override
    public synchronized void printError(String message, Throwable cause) {
        calls.add("error");
        failures.add(new Failure(message, cause));
    }

    @Override
    public synchronized void flush() {
        calls.add("flush");
        reports.add(Report.of(title, records));
    }

    @Override
    public synchronized void close() {
        calls.add("close");
    }

    /** @return the names of the calls, in order */
    public synchronized List<String> calls() {
        return List.copyOf(calls);
    }

    /** @return the flushed reports */
    public synchronized List<Report> reports() {
        return List.copyOf(reports);
    }

    /** @return the calls of {@code printError} */
    public synchronized List<Failure> failures() {
        return List.copyOf(failures);
    }

    /** @throws AssertionError unless there is exactly one report */
    public synchronized Report only() {
        if (reports.size() != 1) {
            throw new AssertionError("one report expected, not " + reports.size() + "; calls: " + calls);
        }
        return reports.get(0);
    }

    /** @return the last report */
    public synchronized Report last() {
        return reports.get(reports.size() - 1);
    }
}
