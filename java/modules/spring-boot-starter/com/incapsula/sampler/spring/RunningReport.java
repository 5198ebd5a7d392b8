// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What was sampled of late: the interval that is growing, and the one before it. An interval ends with the first
 * answer after {@code reportFrequencySeconds}, so an answer covers that time at least, if the sampler has run for so
 * long. It has a cursor of its own, so other readers are unaffected.
 *
 * <p>Owns at most three reports. They are a part of the sampler's memory limit.
 *
 * <p>Threads: one at a time.
 */
final class RunningReport implements AutoCloseable {

    /** What is done with a report, which stays the caller's. */
    interface Use<T> {
        T with(SamplingReport report) throws IOException;
    }

    private static final long STANDARD_SECONDS = 900;

    private final ThreadsSampler sampler;
    private final LongSupplier nanoTime;
    private @Nullable SamplingCursor cursor;
    private long beganNanos;
    private @Nullable SamplingReport last;
    private @Nullable SamplingReport growing;
    private @Nullable SamplingReport taken; // from the cursor, and not a part of growing yet

    RunningReport(ThreadsSampler sampler, LongSupplier nanoTime) {
        this.sampler = sampler;
        this.nanoTime = nanoTime;
    }

    /** Begins now, if the sampler runs; else with the first answer. */
    void begin() {
        try {
            open();
        } catch (IllegalStateException | OutOfMemoryError notYet) {
            cursor = null;
        }
    }

    /**
     * Uses the report up to now.
     *
     * @return what the use has returned
     * @throws IllegalStateException if the sampler does not run
     * @throws OutOfMemoryError if there is no memory for it now; nothing is lost
     */
    <T> T use(Use<T> use) throws IOException {
        SamplingReport current = grow();
        T answer = useBoth(use, current);
        if (nanoTime.getAsLong() - beganNanos >= TimeUnit.SECONDS.toNanos(longestSeconds())) {
            close(last);
            last = current;
            growing = null;
            beganNanos = nanoTime.getAsLong();
        }
        return answer;
    }

    private <T> T useBoth(Use<T> use, SamplingReport current) throws IOException {
        SamplingReport before = last;
        if (before == null) {
            return use.with(current);
        }
        try (SamplingReport both = SamplingReport.merge(before, current)) {
            return use.with(both);
        }
    }

    private SamplingReport grow() {
        SamplingReport more = taken == null ? take() : taken; // forgets the others if the sampler was started again
        taken = more;
        SamplingReport before = growing;
        SamplingReport grown = before == null ? more : SamplingReport.merge(before, more);
        taken = null;
        if (before != null) {
            close(before);
            close(more);
        }
        growing = grown;
        return grown;
    }

    private SamplingReport take() {
        SamplingCursor from = cursor;
        if (from != null) {
            try {
                return from.next();
            } catch (IllegalStateException ended) {
                close(); // the sampler may have been started again
            }
        }
        return open().next();
    }

    private SamplingCursor open() {
        SamplingCursor opened = sampler.openCursor();
        cursor = opened;
        beganNanos = nanoTime.getAsLong();
        return opened;
    }

    private long longestSeconds() {
        long seconds = sampler.getReportFrequencySeconds();
        return seconds > 0 ? seconds : STANDARD_SECONDS;
    }

    private static void close(@Nullable SamplingReport report) {
        if (report != null) {
            report.close();
        }
    }

    /** Forgets everything; may be used again. */
    @Override
    public void close() {
        close(last);
        close(growing);
        close(taken);
        last = null;
        growing = null;
        taken = null;
        if (cursor != null) {
            cursor.close();
            cursor = null;
        }
    }
}
