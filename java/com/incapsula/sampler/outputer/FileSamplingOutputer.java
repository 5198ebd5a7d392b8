// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.ReportUnit;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.FileSeries;
import com.incapsula.sampler.internal.report.LogTarget;
import com.incapsula.sampler.internal.report.Writable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes each report into a file of its own, in any format, and removes the oldest files.
 *
 * <pre>{@code
 * FileSamplingOutputer files = new FileSamplingOutputer();
 * files.setFile("/var/log/app/sampler-%t.html");
 * files.setMaxFiles(100);
 * sampler.setSamplingOutputer(files);
 * }</pre>
 *
 * <p>A file appears as a whole or not at all. If a JVM is killed while it writes a file, its temporary file is removed
 * by the first start that is at least a day later. {@link #report} writes the file; the text methods do nothing.
 *
 * <p>Threads: any. Setters take effect with the next report.
 *
 * <p>Errors: if a report cannot be written, an {@link UncheckedIOException} with path and reason is thrown, so the
 * sampler counts the report as failed. {@link #printError} and old files that cannot be removed are logged to the
 * logger with the name of this class, by SLF4J if it is on the class path, else by {@link System.Logger}.
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

    /** Creates an outputer without a file. {@link #setFile} has to follow before the sampler's {@code init()}. */
    public FileSamplingOutputer() {}

    /**
     * Creates an outputer whose format follows from the file's name, see {@link #setFormat}.
     *
     * @param file see {@link #setFile}
     * @throws IllegalArgumentException as there
     */
    public FileSamplingOutputer(String file) {
        series = new FileSeries(file);
    }

    /**
     * Sets the names of the files. In the last part of the path, {@code %t} becomes the end time of the report, as
     * {@code yyyyMMdd-HHmmssZ} in UTC, {@code %n} a running number, one more than the highest in the folder, and
     * {@code %%} a percent sign. In the last part and in the folders, {@code %p} becomes the id of the process, and
     * {@code %h} the name of the host. With {@code %t} alone, a second report in the same second gets {@code -2} after
     * the time. Names with {@code %t} or {@code %n} never replace a file that another sampler or process writes at the
     * same time. Without either, each report replaces the previous one.
     *
     * <p>Missing folders are created. Files whose names match this pattern count as old reports and are removed, unless
     * they belong to another process that still runs; other files are not touched.
     *
     * @param file a path
     * @throws IllegalArgumentException if it is null, blank, not a path or a folder, has a name of more than 255
     *         characters, another letter after a percent sign, %t or %n twice, or %t or %n in the name of a folder
     */
    public void setFile(String file) {
        series = new FileSeries(file);
    }

    /** {@return the pattern of the files' names, or null if none was set} */
    public @Nullable String getFile() {
        FileSeries current = series;
        return current == null ? null : current.pattern();
    }

    /**
     * Sets the format of the files. Default: the format whose {@link ReportFormat#getFileExtension() extension} the
     * file's name has ({@code .txt}, {@code .top.txt}, {@code .collapsed}, {@code .pb.gz}, {@code .speedscope.json},
     * {@code .json}, {@code .otlp.pb}, {@code .html}, in upper or lower case), else {@link ReportFormat#HTML}.
     *
     * @param format the format
     * @throws IllegalArgumentException if it is null
     */
    public void setFormat(ReportFormat format) {
        this.format = Values.notNull("format", format);
    }

    /** {@return the format that was set, else the one that follows from the file's name; never null} */
    public ReportFormat getFormat() {
        ReportFormat chosen = format;
        return chosen == null ? formatOf(getFile()) : chosen;
    }

    /* The longest extension counts: ".top.txt" before ".txt". */
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
     * Sets the measure for formats with one number for each stack, and for the order of tables. Default: wall time. All
     * other options are the sampler's own.
     *
     * @param measure the measure; null: the default
     */
    public void setMeasure(@Nullable ReportMeasure measure) {
        this.measure = measure;
    }

    /** {@return the measure for formats with one number for each stack, or null if none was set} */
    public @Nullable ReportMeasure getMeasure() {
        return measure;
    }

    /**
     * Sets the unit of a row of {@link ReportFormat#CALLS}. Default: a method.
     *
     * @param per the unit; null: the default
     */
    public void setPer(@Nullable ReportUnit per) {
        this.per = per;
    }

    /** {@return the unit of a row of CALLS, or null if none was set} */
    public @Nullable ReportUnit getPer() {
        return per;
    }

    /**
     * Limits {@link ReportFormat#CALLS} to the calls below one row, see {@link ReportOptions#withFocus}.
     *
     * @param focus the row; null: all calls
     * @throws IllegalArgumentException if it has more than 1,000 characters
     */
    public void setFocus(@Nullable String focus) {
        ReportOptions.standard().withFocus(focus);
        this.focus = focus;
    }

    /** {@return the row to whose calls CALLS is limited, or null if none was set} */
    public @Nullable String getFocus() {
        return focus;
    }

    /**
     * Limits the number of files. Default 100; the newest are kept.
     *
     * @param maxFiles 1 to 1,000,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setMaxFiles(int maxFiles) {
        this.maxFiles = (int) Values.between("maxFiles", maxFiles, 1, MAX_FILES_LIMIT);
    }

    /** {@return how many files are kept} */
    public int getMaxFiles() {
        return maxFiles;
    }

    /**
     * Limits the total size of the files, in bytes. Default 256 MiB (268,435,456). The newest file is always kept.
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

    /** {@return how large the kept files may be together, in bytes} */
    public long getMaxTotalBytes() {
        return maxTotalBytes;
    }

    /**
     * Checks that files can be written: creates their folder if it is missing, and a file in it, which is removed at
     * once.
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
     * @throws UncheckedIOException if the report cannot be written
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

    /** A class instead of a lambda, which an exiting JVM would link. */
    private final class Written implements Writable {

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

    /** Logs the deadlock as a warning, because it is not part of a report. */
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

    /** Does nothing: the file is closed already. */
    @Override
    public void flush() {}

    /** Does nothing, so the outputer can be used after a restart of the sampler. */
    @Override
    public void close() {}
}
