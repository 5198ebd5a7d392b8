// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.SamplingReport;
import org.jspecify.annotations.Nullable;

/**
 * Receives reports. For each report the calls are, in this order: {@link #report} once, {@link #printIntervalTitle}
 * once, {@link #printThreadRecord} for every thread group and last for the sampler's own account, {@link #flush} once.
 * An interval in which nothing was sampled makes no call.
 *
 * <p>Threads: the calls of one sampler come one after the other from its reporter thread; {@link #close()} comes from
 * the thread that closes the sampler, after all others. Slow methods delay reports, never samples. From within a call
 * the setters and {@code getStatistics()} of the sampler may be used; {@code close()}, {@code shutdown()},
 * {@code printReport()} and the other waiting methods are refused with an {@link IllegalStateException}.
 *
 * <p>Errors: whatever a method throws is caught. The report counts as failed, the rest of it is not sent,
 * {@link #printError} is called once, and the next report is tried at its time.
 *
 * <p>Not {@link AutoCloseable} on purpose: it is the sampler that closes an outputer, not the container that made it.
 */
public interface SamplingOutputer {

    /**
     * Called by the sampler's {@code init()}, before anything is sampled, and by {@code setSamplingOutputer} of a sampler
     * that runs: the place to find out that reports could not be written. Not called where sampling is not possible.
     * Default: nothing is done. Whatever it throws is thrown by the caller, and the sampler is not started, or keeps the
     * outputer it has.
     */
    default void starting() {
    }

    /**
     * Receives a whole report, to be written in any form. For most outputers the default is right: it does nothing,
     * and then no such report is made.
     *
     * @param report the interval of the report that follows; closed when this method returns, so whatever is needed
     *        later has to be written or read before
     */
    default void report(SamplingReport report) {
    }

    /**
     * Begins a report.
     *
     * @param title {@code Report interval: from <date> till <date>}, one line without a line end
     */
    void printIntervalTitle(String title);

    /**
     * Prints one thread group.
     *
     * @param threadTitle one line without a line end
     * @param record the rows, each ended by {@code \n}
     */
    void printThreadRecord(String threadTitle, String record);

    /**
     * Tells of something that went wrong. What it throws is ignored.
     *
     * @param message what was being done
     * @param cause what happened; may be null
     */
    void printError(String message, @Nullable Throwable cause);

    /** Ends a report: when it returns, the report should be where readers can see it. */
    void flush();

    /** Called exactly once by the sampler's {@code close()}, after the last report. Never by {@code shutdown()}. */
    void close();
}
