// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.OtlpDocument;
import com.incapsula.sampler.testing.OutcomeTable;
import com.incapsula.sampler.testing.PprofFile;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** All formats of a real report have the same totals. The C tests check each format by itself. */
@Timeout(Samplers.HANG_SECONDS)
class FormatTotalsIT {

    private final ThreadsSampler sampler = quick(new Recorder());
    private final Worker waiting = Worker.waiting("semi;colon \"and\" <\u0416\uD83D\uDE00>");

    @AfterEach
    void end() throws IOException {
        sampler.close();
        waiting.close();
    }

    private static byte[] bytesOf(SamplingReport report, ReportFormat format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(format, out);
        return out.toByteArray();
    }

    private static long sum(String text, String pattern) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .flatMap(found -> Stream.of(found.group(1).split(",")))
                .mapToLong(Long::parseLong)
                .sum();
    }

    private static String written(SamplingReport report, ReportFormat format, ReportMeasure measure)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(format, ReportOptions.standard().withMeasure(measure), out);
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Some threads end between two ticks: every format has their time, but no sample of them. */
    @Test
    void everyFormHasTheSameTotals() throws Exception {
        sampler.setSamplingFrequencyMillis(1);
        sampler.setReportJvmThreads(true);
        sampler.init();
        for (int i = 0; i < 40; i++) {
            try (Worker guest = Worker.busy("guest")) {
                awaitTicks(sampler, 2);
            }
        }
        try (SamplingReport report = sampler.snapshot()) {
            long wall = report.getWallNanos();
            long samples = report.getSamples();
            assertThat(samples).isPositive().isLessThan(report.getPolls());
            assertThat(OutcomeTable.sum(report.getOutcomes(), "walked", "idle", "recovered"))
                    .isEqualTo(samples);
            assertThat(report.getGroups().stream()
                            .mapToLong(SamplingGroup::getSamples)
                            .sum())
                    .isEqualTo(samples);
            assertThat(sum(written(report, ReportFormat.COLLAPSED, ReportMeasure.WALL), " (\\d+)\n"))
                    .isEqualTo(wall);
            assertThat(sum(written(report, ReportFormat.COLLAPSED, ReportMeasure.SAMPLES), " (\\d+)\n"))
                    .isEqualTo(samples);
            String endValue = "\"endValue\":(\\d+)";
            assertThat(sum(written(report, ReportFormat.SPEEDSCOPE, ReportMeasure.WALL), endValue))
                    .isEqualTo(wall);
            assertThat(sum(written(report, ReportFormat.SPEEDSCOPE, ReportMeasure.SAMPLES), endValue))
                    .isEqualTo(samples);
            String json = written(report, ReportFormat.JSON, ReportMeasure.WALL);
            // The time of a blocked thread is also credited to the holder of the lock.
            String groups = json.split("\"lockHolders\":", 2)[0];
            assertThat(sum(groups, "\"wall\":\\[([\\d,]+)]")).isEqualTo(wall);
            assertThat(sum(json, "\"samples\":\\[([\\d,]+)]")).isEqualTo(samples);
            assertThat(sum(json, "\"polls\":\\d+,\"samples\":(\\d+)")).isEqualTo(samples);
            ByteArrayOutputStream folded = new ByteArrayOutputStream();
            report.writeTo(ReportFormat.JSON, ReportOptions.standard().withFoldRecursion(true), folded);
            assertThat(written(report, ReportFormat.HTML, ReportMeasure.WALL))
                    .contains(folded.toString(StandardCharsets.UTF_8).strip());
            assertThat(sum(report.toString(ReportFormat.TEXT), "\nsamples: (\\d+)\n"))
                    .isEqualTo(samples);
            List<PprofFile.Sample> pprof = new PprofFile(bytesOf(report, ReportFormat.PPROF)).samples();
            assertThat(byGroup(pprof, PprofFile.Sample::wallNanos))
                    .isEqualTo(byGroup(report, SamplingGroup::getWallNanos));
            assertThat(byGroup(pprof, PprofFile.Sample::cpuNanos))
                    .isEqualTo(byGroup(report, SamplingGroup::getCpuNanos));
            assertThat(byGroup(pprof, PprofFile.Sample::samples)).isEqualTo(byGroup(report, SamplingGroup::getSamples));
            OtlpDocument otlp = new OtlpDocument(bytesOf(report, ReportFormat.OTLP));
            assertThat(sum(otlp, "wall/nanoseconds")).isEqualTo(wall);
            assertThat(sum(otlp, "cpu/nanoseconds")).isEqualTo(report.getCpuNanos());
            assertThat(sum(otlp, "samples/count")).isEqualTo(samples);
        }
    }

    private static Map<String, Long> byGroup(List<PprofFile.Sample> samples, ToLongFunction<PprofFile.Sample> amount) {
        return samples.stream()
                .collect(Collectors.groupingBy(PprofFile.Sample::thread, Collectors.summingLong(amount)));
    }

    private static Map<String, Long> byGroup(SamplingReport report, ToLongFunction<SamplingGroup> amount) {
        return report.getGroups().stream().collect(Collectors.toMap(SamplingGroup::getName, amount::applyAsLong));
    }

    private static long sum(OtlpDocument document, String type) {
        return document.samples(type).stream().mapToLong(Map.Entry::getValue).sum();
    }
}
