// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.outputer;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.options.Values;
import org.jspecify.annotations.Nullable;

/**
 * Receives reports. For each report the sampler calls, in this order: {@link #report} once, {@link #printIntervalTitle}
 * once, {@link #printThreadRecord} for the sampler's own account and then for every thread group, {@link #flush} once.
 * It makes no call for an interval in which nothing was sampled. {@link #printDeadlock} is called between two reports.
 *
 * <pre>{@code
 * sampler.setSamplingOutputer(new SamplingOutputer() {
 *     private final StringBuilder mail = new StringBuilder();
 *
 *     public void printIntervalTitle(String title) {
 *         mail.setLength(0);
 *         mail.append(title).append('\n');
 *     }
 *
 *     public void printThreadRecord(String threadTitle, String record) {
 *         mail.append(threadTitle).append('\n').append(record).append('\n');
 *     }
 *
 *     public void printError(String message, Throwable cause) {
 *         mail.append(message).append(": ").append(cause).append('\n');
 *     }
 *
 *     public void flush() {
 *         send(mail.toString());
 *     }
 *
 *     public void close() {
 *     }
 * });
 * }</pre>
 *
 * <p>Threads: one sampler makes its calls one after the other, on its reporter thread; {@link #close()} is called after
 * all others, on a thread of the call that closes the sampler. Slow methods delay reports, never samples. A method may
 * call the setters and {@code getStatistics()} of the sampler; {@code close()}, {@code shutdown()},
 * {@code printReport()} and the other waiting methods throw {@link IllegalStateException} there.
 *
 * <p>Errors: the sampler catches everything that a method throws. The report then counts as failed, the outputer
 * receives no further part of it, {@link #printError} is called once, and the next report follows at its time.
 *
 * <p>An outputer is not {@link AutoCloseable} on purpose: the sampler closes it, not the container that made it.
 *
 * @since 1.0
 */
public interface SamplingOutputer {

    /**
     * Creates an outputer that passes each report to an action and prints nothing. Failures are logged to the logger
     * with the name of this interface, by SLF4J if it is on the class path, else by {@link System.Logger}.
     *
     * <pre>{@code
     * sampler.setSamplingOutputer(SamplingOutputer.of(report -> upload(report.toString(ReportFormat.COLLAPSED))));
     * }</pre>
     *
     * @param action runs on the sampler's reporter thread; if it throws, the report counts as failed
     * @return an outputer
     * @throws IllegalArgumentException if the action is null
     */
    static SamplingOutputer of(ReportAction action) {
        return new ActionSamplingOutputer(Values.notNull("action", action));
    }

    /**
     * Joins two outputers: each call goes to this one, then to the other one. If one of them throws, it receives no
     * further part of that report, and the other one receives the whole report. At its end the report counts as failed,
     * and {@link #printError} of the outputer that failed receives its own failure. Both receive all other messages.
     * {@link #close()} closes both, and then throws the first failure.
     *
     * <pre>{@code
     * sampler.setSamplingOutputer(new LoggerSamplingOutputer()
     *         .and(new FileSamplingOutputer("/var/log/app/sampler-%t.html"))
     *         .and(SamplingOutputer.of(report -> alertOn(report))));
     * }</pre>
     *
     * <p>The result is for one sampler. Both outputers receive the same {@link #report report}, so neither may close
     * it.
     *
     * @param other the other outputer
     * @return an outputer for both
     * @throws IllegalArgumentException if the other outputer is null, or one outputer is part of both
     */
    default SamplingOutputer and(SamplingOutputer other) {
        return CompositeSamplingOutputer.of(this, Values.notNull("other", other));
    }

    /**
     * Checks that reports can be written. The sampler's {@code init()} calls this method before anything is sampled,
     * and {@code setSamplingOutputer} of a running sampler does; neither calls it if sampling is not possible. The
     * default does nothing. If this method throws, the caller throws the same exception, and the sampler does not
     * start, or keeps its previous outputer.
     */
    default void starting() {}

    /**
     * Receives the report as an object, which can be written in any format. The default does nothing, which is right
     * for most outputers; if an outputer does not override this method, the object is not made.
     *
     * @param report the interval of the report that follows; the sampler closes it when this method returns, so read or
     *     write it before
     */
    default void report(SamplingReport report) {}

    /**
     * Begins a report.
     *
     * @param title {@code Report interval: from <date> till <date>}, one line without a line end
     */
    void printIntervalTitle(String title);

    /**
     * Prints one thread group. Before the thread groups come the records {@code Summary.}, unless {@code reportSummary}
     * is false, and {@code Sampler account.}
     *
     * @param threadTitle one line without a line end
     * @param record the rows, each ended by {@code \n}
     */
    void printThreadRecord(String threadTitle, String record);

    /**
     * Prints a deadlock: threads each of which waits for a lock that the next one holds. This method is called once for
     * each deadlock, as soon as it is found, between two reports. The default prints the deadlock as a record, and
     * flushes.
     *
     * @param title {@code Deadlock: 2 threads [<name>, <name>]}, one line without a line end
     * @param record for each thread a line with the lock that it waits for and the holder of that lock, then its stack,
     *     innermost frame first; each line ends with {@code \n}
     */
    default void printDeadlock(String title, String record) {
        printThreadRecord(title, record);
        flush();
    }

    /**
     * Receives a failure. Exceptions of this method are ignored.
     *
     * @param message names the failure
     * @param cause the reason; may be null
     */
    void printError(String message, @Nullable Throwable cause);

    /**
     * {@return whether {@link #printError} writes to the application's log} If so, the sampler does not pass it
     * warnings that it logs itself. The default is false.
     */
    default boolean logsErrors() {
        return false;
    }

    /** Ends a report. When this method returns, the report should be visible to its readers. */
    void flush();

    /**
     * Closes the outputer. The sampler's {@code close()} calls this method once, after the last report;
     * {@code shutdown()} never does. A container that has made the outputer, such as Spring, may call it again, so a
     * second call must do nothing. All outputers of this library comply.
     */
    void close();
}
