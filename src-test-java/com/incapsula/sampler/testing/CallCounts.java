// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Counted calls of a report. */
public final class CallCounts {

    private CallCounts() {}

    /** @return the calls by path since the last call of this method or of {@code snapshot()}, summed over all groups */
    public static Map<String, Long> take(ThreadsSampler sampler) {
        try (SamplingReport report = sampler.snapshot()) {
            return of(report);
        }
    }

    /** @return the calls by path, such as {@code Work.root|Work.leaf}, summed over all groups */
    public static Map<String, Long> of(SamplingReport report) {
        return of(report, ReportMeasure.CALLS);
    }

    /** @return the measure of each path's last method: with CALLS in counted trees, else in sampled ones */
    public static Map<String, Long> of(SamplingReport report, ReportMeasure measure) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            report.writeTo(ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(measure), out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, Long> amounts = new TreeMap<>();
        CollapsedStacks.parse(out.toString(StandardCharsets.UTF_8)).forEach((stack, amount) -> {
            String path = Arrays.stream(stack.substring(stack.indexOf(';') + 1).split(";"))
                    .map(CallCounts::methodOf)
                    .collect(Collectors.joining("|"));
            amounts.merge(path, amount, Long::sum);
        });
        return amounts;
    }

    /** @return these calls, each this many times */
    public static Map<String, Long> times(Map<String, Long> calls, long times) {
        Map<String, Long> all = new TreeMap<>(calls);
        all.replaceAll((path, number) -> number * times);
        return all;
    }

    /* counted.Work$Item.<init>(Unknown Source) -> Work$Item.<init> */
    private static String methodOf(String frame) {
        int end = frame.indexOf('(');
        String method = end < 0 ? frame : frame.substring(0, end);
        int dot = method.lastIndexOf('.', method.lastIndexOf('.') - 1);
        return method.substring(dot + 1);
    }
}
