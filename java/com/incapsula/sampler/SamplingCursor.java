// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.engine.SnapshotReaders.Cursor;
import java.util.function.Function;

/**
 * A reader with intervals of its own: {@link #next()} returns everything since its last call. Other cursors,
 * {@link ThreadsSampler#snapshot()} and the periodic reports are unaffected.
 *
 * <pre>{@code
 * try (SamplingCursor cursor = sampler.openCursor()) {
 *     work();
 *     try (SamplingReport report = cursor.next()) {
 *         report.writeTo(ReportFormat.HTML, Path.of("work.html"));
 *     }
 * }
 * }</pre>
 *
 * <p>An open cursor that is not read gathers data, within a part of the sampler's memory limit, so close cursors that
 * are not needed. If the data does not fit, the smallest rows become rows {@code [folded]} of their callers. When the
 * sampler ends, its cursors end, and data that they have not read is lost to them.
 *
 * <p>Threads: any. If several threads call {@code next()} at the same time, each interval goes to one of them.
 *
 * @since 1.0
 */
public final class SamplingCursor implements AutoCloseable {

    private final Cursor cursor;
    private final Function<Snapshot, SamplingReport> reports;

    SamplingCursor(Cursor cursor, Function<Snapshot, SamplingReport> reports) {
        this.cursor = cursor;
        this.reports = reports;
    }

    /**
     * Polls the threads that are due and returns everything since the last call; the first call returns everything
     * since the cursor was opened.
     *
     * @return a report, to be closed; it has no groups if nothing was sampled
     * @throws IllegalStateException if the cursor is closed, the sampler has ended, or from the sampler's own outputer
     *         or manipulator
     * @throws OutOfMemoryError if there is not enough memory now; the next call returns the data
     * @throws StackOverflowError if the caller's stack is almost full; the next call returns the data
     */
    public SamplingReport next() {
        return cursor.next(reports);
    }

    /** Closes the cursor. Does nothing the second time, or after the sampler has ended. */
    @Override
    public void close() {
        cursor.close();
    }
}
