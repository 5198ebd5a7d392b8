// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Cursor;
import com.incapsula.sampler.internal.engine.SnapshotReaders.Maker;

/**
 * A reader with intervals of its own: {@link #next()} gives everything since it was called last. Other cursors,
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
 * <p>An open cursor that is not read gathers data, in a part of the sampler's memory limit: close cursors that are not
 * needed. If it does not fit, the smallest rows become rows {@code [folded]} of their callers. When the sampler ends,
 * its cursors end; what they have not read is lost to them.
 *
 * <p>Threads: any. Each interval goes to one of several simultaneous calls of {@code next()}.
 *
 * @since 1.0
 */
public final class SamplingCursor implements AutoCloseable {

    private final Cursor cursor;
    private final Maker<SamplingReport> reports;

    SamplingCursor(Cursor cursor, Maker<SamplingReport> reports) {
        this.cursor = cursor;
        this.reports = reports;
    }

    /**
     * Polls the threads that are due and gives everything since the last call, the first time since the cursor was
     * opened.
     *
     * @return a report, to be closed; it has no groups where nothing was sampled
     * @throws IllegalStateException if the cursor is closed, the sampler has ended, or from the sampler's own outputer
     *         or manipulator
     * @throws OutOfMemoryError if there is no memory for it now; nothing is lost
     * @throws StackOverflowError if the caller's stack is almost full; nothing is lost
     */
    public SamplingReport next() {
        return cursor.next(reports);
    }

    /** Ends the cursor. Does nothing the second time, or when the sampler has ended. */
    @Override
    public void close() {
        cursor.close();
    }
}
