// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import org.jspecify.annotations.Nullable;

/** Outputers as {@code threads-sampler.output.*} describes them. */
final class ReportOutput {

    private ReportOutput() {}

    /**
     * An outputer.
     *
     * @throws IllegalArgumentException if the properties do not go together, or a value is out of range
     */
    static SamplingOutputer outputer(ThreadsSamplerProperties.Output output) {
        return switch (output.target()) {
            case FILE -> file(output);
            case LOG -> log(output);
            case NONE -> none();
        };
    }

    /** @return an outputer for reports on demand only */
    static SamplingOutputer none() {
        return SamplingOutputer.of(report -> {});
    }

    private static SamplingOutputer file(ThreadsSamplerProperties.Output output) {
        String path = output.getFile();
        if (path == null || path.isBlank()) {
            throw new IllegalArgumentException("output.to FILE needs output.file");
        }
        FileSamplingOutputer files = new FileSamplingOutputer();
        files.setFile(path);
        if (output.getFormat() != null) {
            files.setFormat(output.getFormat());
        }
        files.setMaxFiles(output.getMaxFiles());
        files.setMaxTotalBytes(output.getMaxTotalSize().toBytes());
        return files;
    }

    private static SamplingOutputer log(ThreadsSamplerProperties.Output output) {
        LoggerSamplingOutputer log = new LoggerSamplingOutputer();
        log.setLevel(output.getLevel());
        if (output.getLoggerName() != null) {
            log.setLoggerName(output.getLoggerName());
        }
        ReportFormat format = output.getFormat() == null ? ReportFormat.TEXT : output.getFormat();
        return switch (format) {
            case TEXT -> log;
            case TOP -> new LoggedTop(log);
            default ->
                throw new IllegalArgumentException(
                        "output.format must be TEXT or TOP where reports are logged, got " + format);
        };
    }

    /** The short form of a report, as one event. */
    private static final class LoggedTop implements SamplingOutputer {

        private final LoggerSamplingOutputer log;

        LoggedTop(LoggerSamplingOutputer log) {
            this.log = log;
        }

        @Override
        public void report(SamplingReport report) {
            log.printThreadRecord(
                    "From " + report.getFrom() + " till " + report.getTill(), report.toString(ReportFormat.TOP));
        }

        @Override
        public void printIntervalTitle(String title) {
            // is a part of the event
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            // of the long form
        }

        @Override
        public void printError(String message, @Nullable Throwable cause) {
            log.printError(message, cause);
        }

        @Override
        public void flush() {
            // nothing is buffered here
        }

        @Override
        public void close() {
            // loggers belong to the application
        }
    }
}
