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
 * A profiler for JMH: samples the measured iterations. The hottest lines of JMH's worker threads, of all forks
 * together, stand in the results; the whole report of a fork, with all threads, goes to a file.
 *
 * <pre>{@code
 * java -jar benchmarks.jar -prof com.incapsula.sampler.jmh.SamplerProfiler
 * java -jar benchmarks.jar -prof "com.incapsula.sampler.jmh.SamplerProfiler:interval=5;lines=30;format=pprof;folder=out"
 * }</pre>
 *
 * <p>Options, separated by semicolons:
 *
 * <ul>
 * <li>{@code interval}: the mean time between two ticks in milliseconds, 1 to 3600000; default 10.</li>
 * <li>{@code lines}: how many of the hottest lines are printed, 1 or more; default 20.</li>
 * <li>{@code format}: the form of the file, a name of {@link com.incapsula.sampler.ReportFormat} in any case, or
 * {@code none}; default {@code html}.</li>
 * <li>{@code folder}: where the file goes, made where it is missing; default the working folder. The file has the name
 * of the benchmark with its parameters. A later fork replaces it, and so does the next run.</li>
 * <li>{@code help}: prints these options and runs nothing.</li>
 * </ul>
 *
 * <p>JMH's {@code -lprof} lists it.
 *
 * <p>Where sampling is not possible the benchmark runs without: the log says why.
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
    private @Nullable SamplingReport ofFork; // of the iterations so far
    private int iterations;

    /**
     * With the defaults.
     *
     * @throws ProfilerException never
     */
    public SamplerProfiler() throws ProfilerException {
        this("");
    }

    /**
     * For JMH.
     *
     * @param options what follows the colon on the command line
     * @throws ProfilerException if an option is not known or its value is out of range; the message says which
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

    /* An executor of the user's may name its threads otherwise. */
    private static Map<String, Long> ofWorkers(SamplingReport report) {
        Map<String, Long> ofWorkers =
                HotRows.of(report, group -> group.getName().contains(WORKERS));
        return ofWorkers.isEmpty() ? HotRows.of(report, group -> true) : ofWorkers;
    }

    /* Where merging fails, the iterations before are still there. */
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

    /* Null: there is none. The lines are worth having without it. */
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
