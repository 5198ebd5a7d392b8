// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.OtlpDocument;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import io.opentelemetry.proto.profiles.v1development.Profile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** OTLP documents of a real sampler, read by the classes of the published schema. */
@Timeout(Samplers.HANG_SECONDS)
class OtlpIT {

    private static final List<String> NAMES =
            List.of("worker", "semi;colon and blanks ", "\"quoted\" 'name'", "\u0416\uD83D\uDE00", "x".repeat(60_000));

    private final ThreadsSampler sampler = quick(new Recorder());
    private final List<Worker> workers = NAMES.stream().map(Worker::waiting).toList();
    private final Worker busy = Worker.busy("busy");

    @AfterEach
    void end() throws IOException {
        sampler.close();
        workers.forEach(Worker::close);
        busy.close();
    }

    private SamplingReport sample() {
        List<Thread> threads =
                new ArrayList<>(workers.stream().map(Worker::thread).toList());
        threads.add(busy.thread());
        sampler.setSampleTheseThreadsOnly(threads);
        sampler.init();
        Samplers.awaitSeen(sampler, "busy", "calculate");
        awaitTicks(sampler, 10);
        return sampler.snapshot();
    }

    private static byte[] written(SamplingReport report, ReportFormat format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(format, out);
        return out.toByteArray();
    }

    /* All rows of the report with an amount of their own, as OtlpDocument writes stacks. */
    private static List<Map.Entry<String, Long>> rows(SamplingReport report, ToLongFunction<SamplingRow> own) {
        List<Map.Entry<String, Long>> found = new ArrayList<>();
        for (SamplingGroup group : report.getGroups()) {
            report.rows(group).forEach(row -> addRows(group.getName() + ": ", row, own, found));
        }
        return found;
    }

    private static void addRows(
            String before, SamplingRow row, ToLongFunction<SamplingRow> own, List<Map.Entry<String, Long>> found) {
        String stack = before + frame(row);
        if (own.applyAsLong(row) > 0) {
            found.add(Map.entry(stack, own.applyAsLong(row)));
        }
        row.children().forEach(child -> addRows(stack + " < ", child, own, found));
    }

    private static String frame(SamplingRow row) {
        if (row.getClassName().isEmpty()) {
            return row.getMethodName() + " :0 none";
        }
        String folder = row.getClassName().contains(".")
                ? row.getClassName()
                                .substring(0, row.getClassName().lastIndexOf('.'))
                                .replace('.', '/') + "/"
                : "";
        String file = row.getFileName() == null ? "" : folder + row.getFileName();
        return row.getClassName() + "." + row.getMethodName() + " " + file + ":" + Math.max(0, row.getLine()) + " jvm";
    }

    @Test
    void everyStackHasTheFiguresOfItsRow() throws Exception {
        try (SamplingReport report = sample()) {
            OtlpDocument document = new OtlpDocument(written(report, ReportFormat.OTLP));
            assertThat(document.isCanonical()).isTrue();
            assertThat(document.hasZeroValues()).isTrue();
            assertThat(document.resource()).isEmpty();
            assertThat(document.samples("wall/nanoseconds"))
                    .containsExactlyInAnyOrderElementsOf(rows(report, SamplingRow::getOwnWallNanos))
                    .hasSizeGreaterThanOrEqualTo(NAMES.size());
            assertThat(document.samples("cpu/nanoseconds"))
                    .containsExactlyInAnyOrderElementsOf(rows(report, SamplingRow::getOwnCpuNanos));
            assertThat(document.samples("samples/count"))
                    .containsExactlyInAnyOrderElementsOf(rows(report, SamplingRow::getOwnSamples));
        }
    }

    @Test
    void thereIsAProfilePerMeasureWithTheMainTimeFirst() throws Exception {
        try (SamplingReport report = sample()) {
            OtlpDocument document = new OtlpDocument(written(report, ReportFormat.OTLP));
            assertThat(document.types())
                    .startsWith("wall/nanoseconds", "cpu/nanoseconds", "samples/count")
                    .contains("running/nanoseconds", "waiting/nanoseconds"); // the states that have time
            for (Profile profile : document.profiles()) {
                assertThat(profile.getTimeUnixNano()).isEqualTo(report.getFrom().toEpochMilli() * 1_000_000);
                assertThat(profile.getDurationNano())
                        .isEqualTo(report.getElapsed().toNanos());
                boolean isCpu = document.type(profile.getSampleType()).equals("cpu/nanoseconds");
                assertThat(document.type(profile.getPeriodType()))
                        .isEqualTo(isCpu ? "cpu/nanoseconds" : "wall/nanoseconds");
                assertThat(profile.getPeriod()).isEqualTo(5_000_000);
            }
        }
    }
}
