// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The interval that a server shows: grows with each {@link #report()}, and begins anew when it is long enough. It has a
 * cursor of its own, so other readers are unaffected.
 *
 * <p>Threads: one at a time.
 */
public final class RunningInterval implements AutoCloseable {

    private static final long MIN_GAP_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ThreadsSampler sampler;
    private final LongSupplier maxSeconds;
    private @Nullable SamplingCursor cursor;
    private @Nullable SamplingReport report;
    private @Nullable SamplingReport unmerged; // taken when there was no memory to add it
    private long beganNanos;
    private long takenNanos;

    /**
     * An interval that has not begun.
     *
     * @param sampler whose
     * @param maxSeconds gives the longest interval; called each time
     */
    public RunningInterval(ThreadsSampler sampler, LongSupplier maxSeconds) {
        this.sampler = sampler;
        this.maxSeconds = maxSeconds;
    }

    /** Begins now, if the sampler runs. */
    public void begin() {
        try {
            open();
        } catch (IllegalStateException | OutOfMemoryError notYet) { // as if too many others read the sampler
            // begins with the first report()
        }
    }

    /**
     * The report up to now; a second one within a second is the same.
     *
     * @return valid until the next call of any method; the caller does not close it
     * @throws IllegalStateException if the sampler does not run
     */
    public SamplingReport report() {
        renew();
        SamplingReport current = report;
        if (current == null || System.nanoTime() - takenNanos >= MIN_GAP_NANOS) {
            addUnmerged();
            SamplingReport next = take(); // forgets the report where the sampler has been started again
            unmerged = next;
            takenNanos = System.nanoTime();
            addUnmerged();
            current = report == null ? next : report;
        }
        return current;
    }

    /**
     * What was sampled since the last report, as a report of its own. It is a part of this interval, too.
     *
     * @return to be closed by the caller
     * @throws IllegalStateException if the sampler does not run
     */
    public SamplingReport next() {
        addUnmerged();
        SamplingReport next = take();
        boolean complete = false;
        try {
            SamplingReport soFar = report == null ? take() : report;
            report = soFar;
            report = SamplingReport.merge(soFar, next);
            soFar.close();
            takenNanos = System.nanoTime();
            complete = true;
            return next;
        } finally {
            if (!complete) {
                unmerged = next;
            }
        }
    }

    private void addUnmerged() {
        SamplingReport next = unmerged;
        SamplingReport soFar = report;
        if (next == null) {
            return;
        }
        if (soFar == null) {
            report = next;
        } else {
            report = SamplingReport.merge(soFar, next);
            soFar.close();
            next.close();
        }
        unmerged = null;
    }

    /** Begins anew where the interval is long enough. */
    public void renew() {
        if (cursor != null && System.nanoTime() - beganNanos >= TimeUnit.SECONDS.toNanos(maxSeconds.getAsLong())) {
            forget();
            beganNanos = System.nanoTime();
            try {
                cursor.next().close();
            } catch (IllegalStateException ended) {
                close();
            }
        }
    }

    private SamplingReport take() {
        if (cursor != null) {
            try {
                return cursor.next();
            } catch (IllegalStateException ended) {
                close(); // the sampler may have been started again
            }
        }
        return open().next();
    }

    private SamplingCursor open() {
        SamplingCursor opened = sampler.openCursor();
        cursor = opened;
        beganNanos = System.nanoTime();
        return opened;
    }

    private void forget() {
        if (report != null) {
            report.close();
            report = null;
        }
        if (unmerged != null) {
            unmerged.close();
            unmerged = null;
        }
    }

    @Override
    public void close() {
        forget();
        if (cursor != null) {
            cursor.close();
            cursor = null;
        }
    }
}
