// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.SnapshotReaders;
import com.incapsula.sampler.internal.engine.SnapshotReaders.Maker;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Reads what was sampled of late: in the last minute, the last 5 or 15 minutes, or since the start. Reading empties
 * nothing: each call gives the whole window, and periodic reports, cursors and {@link ThreadsSampler#snapshot()} are
 * unaffected.
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
 * <p>The sampler keeps the windows while at least one reader is open, and each start of the sampler begins them anew.
 * So a reader that is open before {@link ThreadsSampler#init()} has all since the start. They take a quarter of the
 * memory limit at most; where that is too little, the parts of which they are made get longer, which the account counts.
 *
 * <p>A window begins a little earlier than its length says: the last minute is up to 75 s long, the others are up to a
 * minute longer. The report has the exact times. It ends now, if the last one that did is a second old at least, and if
 * such reports have not cost more than a hundredth of a CPU lately; else it ends where that one did. What they cost is
 * not taken from sampling.
 *
 * <p>Threads: any.
 *
 * @since 1.0
 */
public final class RecentWindow implements AutoCloseable {

    /** How long a window is. */
    public enum Length {
        /** At least 60 s, if the sampler has run for so long. */
        LAST_MINUTE("1m", "the last minute"),
        /** The usual one. */
        LAST_5_MINUTES("5m", "the last 5 minutes"),
        /** A quarter of an hour. */
        LAST_15_MINUTES("15m", "the last 15 minutes"),
        /** All since the sampler was started, or since its first reader was opened where that came later. */
        SINCE_START("start", "since the start");

        private final String code;
        private final String text;

        Length(String code, String text) {
            this.code = code;
            this.text = text;
        }

        /**
         * As it is written in a request.
         *
         * @return {@code 1m}, {@code 5m}, {@code 15m} or {@code start}
         */
        public String getCode() {
            return code;
        }

        /**
         * The length that is written so.
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

        /**
         * For people.
         *
         * @return such as {@code the last 5 minutes}
         */
        @Override
        public String toString() {
            return text;
        }
    }

    private final SnapshotReaders readers;
    private final Maker<SamplingReport> reports;
    private boolean closed; // guarded by this

    RecentWindow(SnapshotReaders readers, Maker<SamplingReport> reports) {
        this.readers = readers;
        this.reports = reports;
        readers.openWindow();
    }

    /**
     * What was sampled in a window.
     *
     * @param length of the window
     * @return a report, to be closed; it has no groups where nothing was sampled
     * @throws IllegalStateException if it is closed, the sampler does not run, or from the sampler's own outputer or
     *         manipulator
     * @throws OutOfMemoryError if there is no memory for it now; nothing is lost
     */
    public SamplingReport report(Length length) {
        SamplingReport.requireNotNull("length", length);
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the window is closed");
            }
        }
        return readers.window(length.ordinal(), reports);
    }

    /** Ends the reader. Without any, the sampler forgets the windows. Does nothing the second time. */
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
