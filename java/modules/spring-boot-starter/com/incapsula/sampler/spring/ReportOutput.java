// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.LoggerSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;

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
        ReportFormat format = output.getFormat() == null ? ReportFormat.TEXT : output.getFormat();
        LoggerSamplingOutputer log = switch (format) {
            case TEXT -> new LoggerSamplingOutputer();
            case TOP, CALLS -> new LoggedTable(format);
            default ->
                throw new IllegalArgumentException(
                        "output.format must be TEXT, TOP or CALLS where reports are logged, got " + format);
        };
        log.setLevel(output.getLevel());
        if (output.getLoggerName() != null) {
            log.setLoggerName(output.getLoggerName());
        }
        return log;
    }

    /** A report in a form of tables, as one event. The sampler knows it as one that logs, and warns once. */
    private static final class LoggedTable extends LoggerSamplingOutputer {

        private final ReportFormat format;

        LoggedTable(ReportFormat format) {
            this.format = format;
        }

        @Override
        public void report(SamplingReport report) {
            super.printThreadRecord("From " + report.getFrom() + " till " + report.getTill(), report.toString(format));
        }

        @Override
        public void printIntervalTitle(String title) {
            // is a part of the event
        }

        @Override
        public void printThreadRecord(String threadTitle, String record) {
            // of the long form
        }
    }
}
