// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.engine.SnapshotReaders;
import com.incapsula.sampler.internal.options.Values;
import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Reads the last minute, the last 5 or 15 minutes, or everything since the start. Each call returns the whole window;
 * periodic reports, cursors and {@link ThreadsSampler#snapshot()} are unaffected.
 *
 * <pre>{@code
 * try (RecentWindow window = sampler.openRecentWindow()) {
 *     ...
 *     try (SamplingReport report = window.report(RecentWindow.Length.LAST_5_MINUTES)) {
 *         System.out.println(report.getSummary());
 *     }
 * }
 * }</pre>
 *
 * <p>The sampler keeps the windows while at least one reader is open, and starts them afresh with each start. So a
 * reader that is open before {@link ThreadsSampler#init()} has everything since the start. The windows use at most a
 * quarter of the memory limit. If that is too little, the parts of which they consist get longer, and the account
 * counts this.
 *
 * <p>A window is a little longer than its name says: the last minute is up to 75 s long, the others are up to a minute
 * longer. The report has the exact times. A window ends now if the previous window is at least a second old and such
 * reports have lately cost at most one percent of a CPU. Otherwise it ends where the previous window ended. This cost
 * does not count against the overhead limit.
 *
 * <p>Threads: any.
 *
 * @since 1.0
 */
public final class RecentWindow implements AutoCloseable {

    /** The length of a window. */
    public enum Length {
        /** At least 60 s, if the sampler has run that long. */
        LAST_MINUTE("1m", "the last minute"),
        /** The usual one. */
        LAST_5_MINUTES("5m", "the last 5 minutes"),
        /** A quarter of an hour. */
        LAST_15_MINUTES("15m", "the last 15 minutes"),
        /** Everything since the sampler was started, or since its first reader was opened if that was later. */
        SINCE_START("start", "since the start");

        private final String code;
        private final String text;

        Length(String code, String text) {
            this.code = code;
            this.text = text;
        }

        /** {@return the code for requests: {@code 1m}, {@code 5m}, {@code 15m} or {@code start}} */
        public String getCode() {
            return code;
        }

        /**
         * Finds a length by its code.
         *
         * @param code {@code 1m}, {@code 5m}, {@code 15m} or {@code start}
         * @return the length
         * @throws IllegalArgumentException if it is none of them
         */
        public static Length of(String code) {
            for (Length each : values()) {
                if (each.code.equals(code)) {
                    return each;
                }
            }
            throw new IllegalArgumentException("window must be one of "
                    + Arrays.stream(values()).map(Length::getCode).collect(Collectors.joining(", ")) + ", got \"" + code
                    + "\"");
        }

        /** {@return a text for people, such as {@code the last 5 minutes}} */
        @Override
        public String toString() {
            return text;
        }
    }

    private final SnapshotReaders readers;
    private final Function<Snapshot, SamplingReport> reports;
    private boolean closed; // guarded by this

    RecentWindow(SnapshotReaders readers, Function<Snapshot, SamplingReport> reports) {
        this.readers = readers;
        this.reports = reports;
        readers.openWindow();
    }

    /**
     * Reads a window.
     *
     * @param length of the window
     * @return a report, to be closed; it has no groups if nothing was sampled
     * @throws IllegalStateException if this reader is closed, the sampler does not run, or from the sampler's own
     *         outputer or manipulator
     * @throws OutOfMemoryError if there is not enough memory now; no data is lost
     */
    public SamplingReport report(Length length) {
        Values.notNull("length", length);
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the window is closed");
            }
        }
        return readers.window(length.ordinal(), reports);
    }

    /** Closes the reader. With the last reader the sampler drops the windows. Does nothing the second time. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        readers.closeWindow();
    }
}
