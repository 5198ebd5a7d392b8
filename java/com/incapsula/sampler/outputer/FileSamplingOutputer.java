// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.ReportUnit;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.report.Content;
import com.incapsula.sampler.internal.report.FileSeries;
import com.incapsula.sampler.internal.report.LogTarget;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes each report into a file of its own, in any form, and removes the oldest.
 *
 * <pre>{@code
 * FileSamplingOutputer files = new FileSamplingOutputer();
 * files.setFile("/var/log/app/sampler-%t.html");
 * files.setMaxFiles(100);
 * sampler.setSamplingOutputer(files);
 * }</pre>
 *
 * <p>A file appears whole or not at all. What a JVM that was killed while it wrote one has left beside it is removed by the
 * next start that comes a day later or more. {@link #report} writes it; the text calls of a report do nothing.
 *
 * <p>Threads: any. Setters take effect with the next report.
 *
 * <p>Errors: a report that cannot be written is thrown as {@link UncheckedIOException} with path and reason, so the
 * sampler counts it as failed. {@link #printError} and old files that cannot be removed go to the
 * logger with the name of this class: of SLF4J where it is on the class path, else of {@link System.Logger}.
 *
 * @since 1.0
 */
public class FileSamplingOutputer implements SamplingOutputer {

    private static final int MAX_FILES_LIMIT = 1_000_000;
    private static final int STANDARD_MAX_FILES = 100;
    private static final long STANDARD_MAX_TOTAL_BYTES = 256L << 20;

    private static final String LOGGER_NAME = FileSamplingOutputer.class.getName();

    private final Object writing = new Object();

    private volatile @Nullable FileSeries series;
    private volatile @Nullable ReportFormat format; // null: by the file's name
    private volatile @Nullable ReportMeasure measure;
    private volatile @Nullable ReportUnit per;
    private volatile @Nullable String focus;
    private volatile int maxFiles = STANDARD_MAX_FILES;
    private volatile long maxTotalBytes = STANDARD_MAX_TOTAL_BYTES;

    /** Needs {@link #setFile} before the sampler's {@code init()}. */
    public FileSamplingOutputer() {}

    /**
     * Writes the form that the file's name says, see {@link #setFormat}.
     *
     * @param file see {@link #setFile}
     * @throws IllegalArgumentException as there
     */
    public FileSamplingOutputer(String file) {
        series = new FileSeries(file);
    }

    /**
     * The names of the files. In the last part of the path, {@code %t} becomes the time where the report ends, as
     * {@code yyyyMMdd-HHmmssZ} in UTC, {@code %n} a running number, one more than the highest there is in the folder, and
     * {@code %%} a percent sign. There and in the folders, {@code %p} becomes the id of the process, and {@code %h} the
     * name of the host. With {@code %t} alone, a second report in one second gets {@code -2} behind the time. Neither it
     * nor {@code %n} replaces what another sampler or process writes at that moment. Without the two, each report
     * replaces the one before.
     *
     * <p>Missing folders are made. Files whose names this pattern could have made count as old reports and are
     * removed, unless they are of another process that still runs; other files are not touched.
     *
     * @param file a path
     * @throws IllegalArgumentException if it is null, blank, not a path or a folder, has a name of more than 255
     *         characters, another letter behind a percent sign, one of the two twice, or %t or %n in the name of a folder
     */
    public void setFile(String file) {
        series = new FileSeries(file);
    }

    /**
     * The names of the files.
     *
     * @return the pattern, or null where none was set
     */
    public @Nullable String getFile() {
        FileSeries current = series;
        return current == null ? null : current.pattern();
    }

    /**
     * The form of the files. Default: the form whose {@link ReportFormat#getFileExtension() extension} the file's name
     * has ({@code .txt}, {@code .top.txt}, {@code .collapsed}, {@code .pb.gz}, {@code .speedscope.json}, {@code .json},
     * {@code .otlp.pb}, {@code .html}, in any case), and {@link ReportFormat#HTML} where it has none of these.
     *
     * @param format the form
     * @throws IllegalArgumentException if it is null
     */
    public void setFormat(ReportFormat format) {
        if (format == null) {
            throw new IllegalArgumentException("format must not be null");
        }
        this.format = format;
    }

    /**
     * The form of the files.
     *
     * @return what was set, else what the file's name says; never null
     */
    public ReportFormat getFormat() {
        ReportFormat chosen = format;
        return chosen == null ? formatOf(getFile()) : chosen;
    }

    /* Of ".top.txt" and ".txt" the longer one. */
    private static ReportFormat formatOf(@Nullable String file) {
        @Nullable ReportFormat found = null;
        String name = file == null ? "" : file.toLowerCase(Locale.ROOT);
        for (ReportFormat each : ReportFormat.values()) {
            if (name.endsWith("." + each.getFileExtension())
                    && (found == null
                            || found.getFileExtension().length()
                                    < each.getFileExtension().length())) {
                found = each;
            }
        }
        return found == null ? ReportFormat.HTML : found;
    }

    /**
     * The measure of the formats that have one number for each stack, and by which tables are ordered. Default: wall
     * time. All other options are the sampler's own.
     *
     * @param measure the measure; null: as by default
     */
    public void setMeasure(@Nullable ReportMeasure measure) {
        this.measure = measure;
    }

    /**
     * The measure of the formats that have one number for each stack.
     *
     * @return the measure, or null if none was set
     */
    public @Nullable ReportMeasure getMeasure() {
        return measure;
    }

    /**
     * The unit of a row of {@link ReportFormat#CALLS}. Default: a method.
     *
     * @param per the unit; null: as by default
     */
    public void setPer(@Nullable ReportUnit per) {
        this.per = per;
    }

    /**
     * What a row of CALLS is.
     *
     * @return the unit, or null where none was set
     */
    public @Nullable ReportUnit getPer() {
        return per;
    }

    /**
     * Limits {@link ReportFormat#CALLS} to what calls of one row called, as {@link ReportOptions#withFocus} has it.
     *
     * @param focus the row; null: all calls
     * @throws IllegalArgumentException if it has more than 1,000 characters
     */
    public void setFocus(@Nullable String focus) {
        ReportOptions.standard().withFocus(focus);
        this.focus = focus;
    }

    /**
     * The row that limits CALLS to its calls.
     *
     * @return the row, or null where none was set
     */
    public @Nullable String getFocus() {
        return focus;
    }

    /**
     * How many files are kept, the newest. Default 100.
     *
     * @param maxFiles 1 to 1,000,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setMaxFiles(int maxFiles) {
        if (maxFiles < 1 || maxFiles > MAX_FILES_LIMIT) {
            throw new IllegalArgumentException(
                    "maxFiles must be between 1 and " + MAX_FILES_LIMIT + ", got " + maxFiles);
        }
        this.maxFiles = maxFiles;
    }

    /**
     * How many files are kept.
     *
     * @return the number
     */
    public int getMaxFiles() {
        return maxFiles;
    }

    /**
     * How large the kept files may be together. Default 256 MiB (268,435,456). The newest is kept in any case.
     *
     * @param maxTotalBytes 1 or more
     * @throws IllegalArgumentException if it is less
     */
    public void setMaxTotalBytes(long maxTotalBytes) {
        if (maxTotalBytes < 1) {
            throw new IllegalArgumentException("maxTotalBytes must be at least 1, got " + maxTotalBytes);
        }
        this.maxTotalBytes = maxTotalBytes;
    }

    /**
     * How large the kept files may be together.
     *
     * @return bytes
     */
    public long getMaxTotalBytes() {
        return maxTotalBytes;
    }

    /**
     * Makes sure that the files can be written: makes their folder where it is missing, and a file in it that is
     * removed at once.
     *
     * @throws IllegalStateException if no file was set
     * @throws UncheckedIOException if no file can be written there; the message has path and reason
     */
    @Override
    public void starting() {
        FileSeries to = series();
        synchronized (writing) {
            try {
                to.check();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot open " + to.pattern() + " for writing: " + e.getMessage(), e);
            }
        }
    }

    private FileSeries series() {
        FileSeries current = series;
        if (current == null) {
            throw new IllegalStateException("FileSamplingOutputer needs a file: setFile(...) comes before init()");
        }
        return current;
    }

    /**
     * Writes the report and removes old files.
     *
     * @param report the report
     * @throws IllegalStateException if no file was set
     * @throws UncheckedIOException if it cannot be written
     */
    @Override
    public void report(SamplingReport report) {
        FileSeries to = series();
        synchronized (writing) {
            Path written;
            try {
                written = to.write(report.getTill(), new Written(report));
            } catch (IOException e) {
                throw new UncheckedIOException(e.getMessage(), e);
            }
            removeOld(to, written);
        }
    }

    /** No lambda, which a JVM that exits would link. */
    private final class Written implements Content {

        private final SamplingReport report;

        Written(SamplingReport report) {
            this.report = report;
        }

        @Override
        public void writeTo(OutputStream out) throws IOException {
            FileSamplingOutputer.this.writeTo(report, out);
        }
    }

    private void writeTo(SamplingReport report, OutputStream out) throws IOException {
        ReportOptions options = report.getOptions();
        ReportMeasure measured = measure;
        ReportUnit unit = per;
        String row = focus;
        options = measured == null ? options : options.withMeasure(measured);
        options = unit == null ? options : options.withPer(unit);
        report.writeTo(getFormat(), row == null ? options : options.withFocus(row), out);
    }

    private void removeOld(FileSeries from, Path newest) {
        try {
            from.removeOld(newest, maxFiles, maxTotalBytes);
        } catch (IOException | RuntimeException e) {
            LogTarget.of(LOGGER_NAME).log(System.Logger.Level.WARNING, "old reports could not be removed", e);
        }
    }

    /** Does nothing: the report is in its file. */
    @Override
    public void printIntervalTitle(String title) {}

    /** Does nothing: the report is in its file. */
    @Override
    public void printThreadRecord(String threadTitle, String record) {}

    /** Logs it as a warning: it is no report. */
    @Override
    public void printDeadlock(String title, String record) {
        LogTarget.of(LOGGER_NAME).log(System.Logger.Level.WARNING, title + "\n" + record, null);
    }

    /** @return true */
    @Override
    public boolean logsErrors() {
        return true;
    }

    @Override
    public void printError(String message, @Nullable Throwable cause) {
        LogTarget.of(LOGGER_NAME).log(System.Logger.Level.ERROR, message, cause);
    }

    /** Does nothing: the file was closed when it was written. */
    @Override
    public void flush() {}

    /** Does nothing; the outputer can serve a sampler that is started again. */
    @Override
    public void close() {}
}
