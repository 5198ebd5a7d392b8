// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.jmh;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.report.Folders;
import com.incapsula.sampler.internal.report.HotRows;
import com.incapsula.sampler.internal.report.LibraryLog;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.runner.IterationType;

/**
 * A profiler for JMH: samples the measured iterations. The results show the hottest lines of JMH's worker threads, for
 * all forks together; the whole report of a fork, with all threads, is written to a file.
 *
 * <pre>{@code
 * java -jar benchmarks.jar -prof com.incapsula.sampler.jmh.SamplerProfiler
 * java -jar benchmarks.jar -prof
 * "com.incapsula.sampler.jmh.SamplerProfiler:interval=5;lines=30;format=pprof;folder=out" }</pre>
 *
 * <p>Options, separated by semicolons:
 *
 * <ul>
 * <li>{@code interval}: the mean time between two ticks in milliseconds, 1 to 3600000; default 10.</li>
 * <li>{@code lines}: the number of hottest lines to print, 1 or more; default 20.</li>
 * <li>{@code format}: the format of the file, a name of {@link com.incapsula.sampler.ReportFormat} in upper or lower
 * case, or {@code none}; default {@code html}.</li>
 * <li>{@code folder}: the folder of the file, created if it is missing; default the working folder. The file has the
 * name of the benchmark with its parameters. A later fork or run replaces it.</li>
 * <li>{@code help}: prints these options and runs nothing.</li>
 * </ul>
 *
 * <p>JMH's {@code -lprof} lists it.
 *
 * <p>If sampling is not possible, the benchmark runs without it, and the cause is logged.
 *
 * <p>Threads: JMH's own, one call after the other.
 *
 * @since 1.0
 */
public final class SamplerProfiler implements InternalProfiler {

    private static final double OVERHEAD_LIMIT_PERCENT = 10;
    private static final String WORKERS = "jmh-worker";

    private final ProfilerOptions options;
    private @Nullable ThreadsSampler sampler;
    private @Nullable SamplingReport ofFork; // the iterations so far, merged
    private int iterations;

    /**
     * Creates a profiler with the defaults.
     *
     * @throws ProfilerException never
     */
    public SamplerProfiler() throws ProfilerException {
        this("");
    }

    /**
     * Creates a profiler; called by JMH.
     *
     * @param options the text after the colon on the command line
     * @throws ProfilerException if an option is not known or its value is out of range, naming the option
     */
    public SamplerProfiler(String options) throws ProfilerException {
        this.options = ProfilerOptions.parse(options);
    }

    @Override
    public String getDescription() {
        return "threads-sampler: lines with the most wall time of the worker threads, and a report";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        if (iteration.getType() == IterationType.MEASUREMENT) {
            sampler = start();
        }
    }

    private ThreadsSampler start() {
        ThreadsSampler started = new ThreadsSampler();
        started.setSamplingFrequencyMillis(options.interval());
        started.setReportFrequencySeconds(0);
        started.setOverheadLimitPercent(OVERHEAD_LIMIT_PERCENT);
        started.setSamplingOutputer(SamplingOutputer.of(report -> {}));
        started.init();
        return started;
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(
            BenchmarkParams benchmark, IterationParams iteration, IterationResult result) {
        if (sampler == null) {
            return List.of();
        }
        iterations++;
        try (ThreadsSampler ended = sampler) {
            sampler = null;
            SamplingReport report = ended.snapshot();
            Map<String, Long> nanos = ofWorkers(report);
            Path file = write(keep(report), benchmark);
            return nanos.isEmpty() ? List.of() : List.of(new SampledLines(nanos, options.lines(), file));
        } catch (IOException | RuntimeException | OutOfMemoryError e) {
            warn(benchmark, e);
            return List.of();
        } finally {
            if (iterations == iteration.getCount()) {
                forget();
            }
        }
    }

    /* A user's executor may use other thread names. */
    private static Map<String, Long> ofWorkers(SamplingReport report) {
        Map<String, Long> ofWorkers =
                HotRows.of(report, group -> group.getName().contains(WORKERS));
        return ofWorkers.isEmpty() ? HotRows.of(report, group -> true) : ofWorkers;
    }

    /* If merging fails, the previous iterations are kept. */
    private SamplingReport keep(SamplingReport report) {
        SamplingReport before = ofFork;
        SamplingReport all = report;
        if (before != null) {
            try (report) {
                all = SamplingReport.merge(before, report);
            }
            before.close();
        }
        ofFork = all;
        return all;
    }

    private void forget() {
        if (ofFork != null) {
            ofFork.close();
        }
        ofFork = null;
        iterations = 0;
    }

    /* Null if there is no file; the lines are useful without it. */
    private @Nullable Path write(SamplingReport report, BenchmarkParams benchmark) {
        ReportFormat format = options.format();
        if (format == null) {
            return null;
        }
        try {
            Path folder = Folders.make(Path.of(options.folder()).toAbsolutePath());
            Path file = folder.resolve(benchmark.id() + "." + format.getFileExtension());
            report.writeTo(format, file);
            return file;
        } catch (IOException e) {
            warn(benchmark, e);
            return null;
        }
    }

    private static void warn(BenchmarkParams benchmark, Throwable cause) {
        LibraryLog.log(System.Logger.Level.WARNING, "no report of the benchmark " + benchmark.getBenchmark(), cause);
    }
}
