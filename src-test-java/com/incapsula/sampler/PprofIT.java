// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.testing.PprofFile;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Worker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** PPROF of a real sampler, as protobuf-java reads it. */
@Timeout(120)
class PprofIT {

    private static final List<String> NAMES = List.of("worker", "semi;colon and blanks ", "\"quoted\" 'name'",
            "<script>alert(x)</script>", "\u0416\uD83D\uDE00", "x".repeat(60_000));

    private final ThreadsSampler sampler = quick(new Recorder());
    private final List<Worker> workers = NAMES.stream().map(Worker::waiting).toList();

    @AfterEach
    void end() throws IOException {
        sampler.close();
        workers.forEach(Worker::close);
    }

    private SamplingReport sample() {
        sampler.setSampleTheseThreadsOnly(workers.stream().map(Worker::thread).toList());
        sampler.init();
        awaitTicks(sampler, 10);
        return sampler.snapshot();
    }

    private static byte[] pprofOf(SamplingReport report) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        report.writeTo(ReportFormat.PPROF, out);
        return out.toByteArray();
    }

    private static Map<String, Long> sums(PprofFile file, ToLongFunction<PprofFile.Sample> value) {
        return file.samples().stream()
                .collect(Collectors.groupingBy(PprofFile.Sample::thread, Collectors.summingLong(value)));
    }

    @Test
    void everyGroupHasItsFiguresToTheNanosecond() throws Exception {
        try (SamplingReport report = sample()) {
            PprofFile file = new PprofFile(pprofOf(report));
            assertThat(file.isCanonical()).isTrue();
            assertThat(sums(file, PprofFile.Sample::wallNanos)).isEqualTo(report.getGroups().stream()
                    .collect(Collectors.toMap(SamplingGroup::getName, SamplingGroup::getWallNanos)))
                    .containsKeys(NAMES.toArray(String[]::new));
            assertThat(sums(file, PprofFile.Sample::cpuNanos)).isEqualTo(report.getGroups().stream()
                    .collect(Collectors.toMap(SamplingGroup::getName, SamplingGroup::getCpuNanos)));
            assertThat(sums(file, PprofFile.Sample::samples)).isEqualTo(report.getGroups().stream()
                    .collect(Collectors.toMap(SamplingGroup::getName, SamplingGroup::getSamples)));
        }
    }

    @Test
    void itSaysWhatItsFiguresAre() throws Exception {
        try (SamplingReport report = sample()) {
            PprofFile file = new PprofFile(pprofOf(report));
            assertThat(file.sampleTypes()).containsExactly("samples/count", "wall/nanoseconds", "cpu/nanoseconds");
            assertThat(file.defaultSampleType()).isEqualTo("wall");
            assertThat(file.periodType()).isEqualTo("wall/nanoseconds");
            assertThat(file.number("period")).isEqualTo(5_000_000);
            assertThat(file.number("time_nanos")).isEqualTo(report.getFrom().toEpochMilli() * 1_000_000);
            assertThat(file.number("duration_nanos")).isEqualTo(report.getElapsed().toNanos());
            StackTraceElement root = workers.get(0).thread().getStackTrace()[
                    workers.get(0).thread().getStackTrace().length - 1];
            assertThat(file.samples()).anySatisfy(sample -> assertThat(sample.frames()).first()
                    .isEqualTo("java.lang.Thread.run Thread.java:" + root.getLineNumber()));
        }
    }

    @Test
    void damageIsFound() throws Exception {
        try (SamplingReport report = sample()) {
            byte[] whole = pprofOf(report);
            assertThatThrownBy(() -> new PprofFile(Arrays.copyOf(whole, whole.length / 2)))
                    .isInstanceOf(IOException.class);
            byte[] raw = new GZIPInputStream(new ByteArrayInputStream(whole)).readAllBytes();
            raw[1]++; // the length of the first message
            assertThatThrownBy(() -> new PprofFile(packed(raw)).isCanonical()).isInstanceOf(IOException.class);
        }
    }

    private static byte[] packed(byte[] raw) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(raw);
        }
        return out.toByteArray();
    }
}
