// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.ReportFormat;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.util.unit.DataSize;

/**
 * What the starter adds to the properties of {@link com.incapsula.sampler.ThreadsSampler}. Those are under the same
 * prefix by their own names, {@code threads-sampler.monitored-packages}, and are bound to the sampler itself, which
 * checks them.
 *
 * @since 1.0
 */
@ConfigurationProperties(ThreadsSamplerProperties.PREFIX)
public class ThreadsSamplerProperties {

    /** How the names of all properties begin. */
    public static final String PREFIX = "threads-sampler";

    /** Where reports go. */
    public enum Target {
        /** To the application's log. */
        LOG,
        /** To a file for each report. */
        FILE,
        /** Nowhere: reports on demand only, by the endpoint. */
        NONE
    }

    /** Whether there are a sampler, its endpoint and its meters. */
    private boolean enabled = true;

    /** Whether the sampler starts together with the application. If not, the endpoint starts it. */
    private boolean autoStart = true;

    private final Output output = new Output();

    /** All properties at their defaults. */
    public ThreadsSamplerProperties() {}

    /**
     * Whether there are a sampler, its endpoint and its meters.
     *
     * @return default true
     */
    public boolean isEnabled() {
        return enabled;
    }

    /**
     * Whether there are a sampler, its endpoint and its meters.
     *
     * @param enabled false: nothing of the starter is there
     */
    public void setEnabled(boolean enabled) {
        this.enabled = enabled;
    }

    /**
     * Whether the sampler starts together with the application.
     *
     * @return default true
     */
    public boolean isAutoStart() {
        return autoStart;
    }

    /**
     * Whether the sampler starts together with the application.
     *
     * @param autoStart false: the endpoint starts it
     */
    public void setAutoStart(boolean autoStart) {
        this.autoStart = autoStart;
    }

    /**
     * Where reports go.
     *
     * @return never null
     */
    public Output getOutput() {
        return output;
    }

    /** Where reports go, and in which form. */
    public static class Output {

        private static final int MAX_FILES = 100;
        private static final DataSize MAX_TOTAL_SIZE = DataSize.ofMegabytes(256);

        /** Where reports go. By default FILE if there is a file, else LOG. */
        private @Nullable Target to;

        /** Path of the files; %t is replaced by the time, %n by a number. */
        private @Nullable String file;

        /** Form of the reports. In the log TEXT, the default, TOP or CALLS; of files by default what the extension says. */
        private @Nullable ReportFormat format;

        /** Files that are kept, the newest. */
        private int maxFiles = MAX_FILES;

        /** Size of the kept files together. The newest is kept in any case. */
        private DataSize maxTotalSize = MAX_TOTAL_SIZE;

        /** Name of the logger. By default the full name of LoggerSamplingOutputer. */
        private @Nullable String loggerName;

        /** Level of logged reports: TRACE, DEBUG, INFO, WARN or ERROR. */
        private String level = "INFO";

        /** All properties at their defaults. */
        public Output() {}

        Target target() {
            if (to != null) {
                return to;
            }
            return file == null ? Target.LOG : Target.FILE;
        }

        /**
         * Where reports go.
         *
         * @return null: FILE if there is a file, else LOG
         */
        public @Nullable Target getTo() {
            return to;
        }

        /**
         * Where reports go.
         *
         * @param to null: FILE if there is a file, else LOG
         */
        public void setTo(@Nullable Target to) {
            this.to = to;
        }

        /**
         * The path of the files.
         *
         * @return null: none
         */
        public @Nullable String getFile() {
            return file;
        }

        /**
         * The path of the files, as {@link com.incapsula.sampler.outputer.FileSamplingOutputer#setFile} takes it.
         *
         * @param file null: none
         */
        public void setFile(@Nullable String file) {
            this.file = file;
        }

        /**
         * The form of the reports.
         *
         * @return null: TEXT in the log, what the extension says in files
         */
        public @Nullable ReportFormat getFormat() {
            return format;
        }

        /**
         * The form of the reports.
         *
         * @param format in the log TEXT, TOP or CALLS
         */
        public void setFormat(@Nullable ReportFormat format) {
            this.format = format;
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
         * How many files are kept.
         *
         * @param maxFiles 1 to 1,000,000
         */
        public void setMaxFiles(int maxFiles) {
            this.maxFiles = maxFiles;
        }

        /**
         * How large the kept files may be together.
         *
         * @return the size
         */
        public DataSize getMaxTotalSize() {
            return maxTotalSize;
        }

        /**
         * How large the kept files may be together.
         *
         * @param maxTotalSize one byte or more
         */
        public void setMaxTotalSize(DataSize maxTotalSize) {
            this.maxTotalSize = maxTotalSize;
        }

        /**
         * The name of the logger.
         *
         * @return null: the full name of {@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}
         */
        public @Nullable String getLoggerName() {
            return loggerName;
        }

        /**
         * The name of the logger.
         *
         * @param loggerName null: the full name of {@link com.incapsula.sampler.outputer.LoggerSamplingOutputer}
         */
        public void setLoggerName(@Nullable String loggerName) {
            this.loggerName = loggerName;
        }

        /**
         * The level of logged reports.
         *
         * @return TRACE, DEBUG, INFO, WARN or ERROR
         */
        public String getLevel() {
            return level;
        }

        /**
         * The level of logged reports.
         *
         * @param level TRACE, DEBUG, INFO, WARN or ERROR
         */
        public void setLevel(String level) {
            this.level = level;
        }
    }
}
