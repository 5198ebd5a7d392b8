// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.incapsula.sampler.testing.OutcomeTable;
import com.incapsula.sampler.testing.PprofFile;
import com.incapsula.sampler.testing.Recorder;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** PPROF of a real sampler, as protobuf-java reads it. */
@Timeout(Samplers.HANG_SECONDS)
class PprofIT {

    private static final List<String> NAMES = List.of(
            "worker",
            "semi;colon and blanks ",
            "\"quoted\" 'name'",
            "<script>alert(x)</script>",
            "\u0416\uD83D\uDE00",
            "x".repeat(60_000));

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
            assertThat(sums(file, PprofFile.Sample::wallNanos))
                    .isEqualTo(report.getGroups().stream()
                            .collect(Collectors.toMap(SamplingGroup::getName, SamplingGroup::getWallNanos)))
                    .containsKeys(NAMES.toArray(String[]::new));
            assertThat(sums(file, PprofFile.Sample::cpuNanos))
                    .isEqualTo(report.getGroups().stream()
                            .collect(Collectors.toMap(SamplingGroup::getName, SamplingGroup::getCpuNanos)));
            assertThat(sums(file, PprofFile.Sample::samples))
                    .isEqualTo(report.getGroups().stream()
                            .collect(Collectors.toMap(SamplingGroup::getName, SamplingGroup::getSamples)));
        }
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

    /** Threads that end between two ticks, too: their time is in every form, and they are no samples. */
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
            // Where a thread was blocked, its holder has the same time once more.
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
            List<PprofFile.Sample> pprof = new PprofFile(pprofOf(report)).samples();
            assertThat(pprof.stream().mapToLong(PprofFile.Sample::wallNanos).sum())
                    .isEqualTo(wall);
            assertThat(pprof.stream().mapToLong(PprofFile.Sample::samples).sum())
                    .isEqualTo(samples);
        }
    }

    /** What readers need to know the language, and to link a function to its source. */
    @Test
    void functionsHaveSystemNamesPathsAndFirstLines() throws Exception {
        try (SamplingReport report = sample()) {
            PprofFile file = new PprofFile(pprofOf(report));
            assertThat(file.functions()).containsKeys("java.lang.Thread.run", Worker.class.getName() + ".run");
            PprofFile.Function run = file.functions().get(Worker.class.getName() + ".run");
            assertThat(run.systemName()).isEqualTo(Worker.class.getName().replace('.', '/') + ".run");
            assertThat(run.file()).isEqualTo("com/incapsula/sampler/testing/Worker.java");
            int line = Arrays.stream(workers.get(0).thread().getStackTrace())
                    .filter(frame -> frame.getClassName().equals(Worker.class.getName())
                            && frame.getMethodName().equals("run"))
                    .findFirst()
                    .orElseThrow()
                    .getLineNumber();
            assertThat(run.startLine()).isPositive().isLessThanOrEqualTo(line);
            assertThat(file.functions().get("java.lang.Thread.run").systemName())
                    .isEqualTo("java/lang/Thread.run");
            assertThat(file.functions().values())
                    .filteredOn(function -> function.startLine() > 0)
                    .allMatch(function ->
                            function.file().endsWith(".java") || function.file().isEmpty());
        }
    }

    @Test
    void itSaysWhatItsFiguresAre() throws Exception {
        try (SamplingReport report = sample()) {
            PprofFile file = new PprofFile(pprofOf(report));
            assertThat(file.sampleTypes())
                    .containsExactly(
                            "idle/nanoseconds",
                            "waiting/nanoseconds",
                            "io/nanoseconds",
                            "blocked/nanoseconds",
                            "runnable/nanoseconds",
                            "running/nanoseconds",
                            "samples/count",
                            "cpu/nanoseconds",
                            "wall/nanoseconds");
            assertThat(file.defaultSampleType()).isEqualTo("wall");
            assertThat(file.periodType()).isEqualTo("wall/nanoseconds");
            assertThat(file.number("period")).isEqualTo(5_000_000);
            assertThat(file.number("time_nanos")).isEqualTo(report.getFrom().toEpochMilli() * 1_000_000);
            assertThat(file.number("duration_nanos"))
                    .isEqualTo(report.getElapsed().toNanos());
            StackTraceElement root = workers.get(0)
                    .thread()
                    .getStackTrace()[workers.get(0).thread().getStackTrace().length - 1];
            assertThat(file.samples())
                    .anySatisfy(sample -> assertThat(sample.frames())
                            .first()
                            .isEqualTo("java.lang.Thread.run java/lang/Thread.java:" + root.getLineNumber()));
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
