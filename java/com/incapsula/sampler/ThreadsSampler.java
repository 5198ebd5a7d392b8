// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Lifecycle;
import com.incapsula.sampler.internal.engine.LifecycleListener;
import com.incapsula.sampler.internal.engine.LoadedLibrary;
import com.incapsula.sampler.internal.engine.Option;
import com.incapsula.sampler.internal.engine.Options;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.observe.ToolRegistration;
import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Samples the threads of this JVM and reports where their time goes, both computing and waiting.
 *
 * <pre>{@code try (ThreadsSampler sampler = new ThreadsSampler()) {
 *     sampler.setMonitoredPackages("com.example");
 *     sampler.setReportFrequencySeconds(0);
 *     sampler.init();
 *     work();
 * }   // here the report is written
 * }</pre>
 *
 * <p>Lifecycle: set the properties, {@link #init()}, then {@link #close()} or {@link #shutdown()}; after that
 * {@code init()} starts afresh. Several samplers may run at the same time.
 *
 * <p>If the JVM exits without {@code close()}, a shutdown hook ends the sampler and writes the last report, if that
 * takes at most two seconds. Other shutdown hooks may go on using the sampler: {@code snapshot()} and cursors wait
 * until it has stopped (two seconds at most) and return what was collected up to then, the second time nothing;
 * {@code printReport}, {@code sampleOnceAndPrint}, {@code pauseSampling}, {@code resumeSampling} and {@code close} do
 * nothing.
 *
 * <p>Properties may be set before and while the sampler runs; a change takes effect at the next tick. These are fixed
 * from {@code init()} to {@code close()}: {@code memoryLimitBytes}, {@code maxDepthFrames}, {@code engine},
 * {@code clock}, {@code samplingSignal}, {@code jmxName}, {@code jfrEvents}, and all properties of counted calls but
 * {@code discardWarmUp}. A setter refuses a value out of range with an {@link IllegalArgumentException} that names
 * property, value and range; the property keeps its old value.
 *
 * <p>Threads: any.
 * <ul>
 * <li>Getters, {@link #isRunning()}, {@link #isPaused()}, {@link #getStatistics()} and {@link #dump()} return at
 * once.</li>
 * <li>Setters of a running sampler return at once, too: the value holds from the next tick on, and for each later call
 * that waits for the sampler; {@link #dump()} may still show the old value. Only {@link #setThreadToBeSampled} and
 * {@link #setSampleTheseThreadsOnly} wait for the end of a tick, unless the sampler's own outputer or manipulator calls
 * them.</li>
 * <li>{@code close}, {@code shutdown}, {@code printReport}, {@code sampleOnceAndPrint}, {@code resetCollectedResults},
 *     {@code snapshot}, {@code openCursor}, {@code pauseSampling} and {@code resumeSampling} wait for the sampler's
 *     threads. Called from the sampler's own outputer or manipulator, where they would wait for themselves, they throw
 *     {@link IllegalStateException}.</li>
 * </ul>
 *
 * <p>Interrupts do not shorten any wait: {@code init} and {@code close} do their whole job on an interrupted thread and
 * leave it interrupted.
 *
 * @since 1.0
 */
public class ThreadsSampler implements AutoCloseable {

    private final Lifecycle lifecycle;
    private final Options options;
    private final Reports reports = new Reports();
    private volatile @Nullable String jmxName;
    private volatile boolean jfrEvents;

    /** Creates a sampler with all properties at their defaults. It is not started. */
    public ThreadsSampler() {
        this(new Lifecycle());
    }

    ThreadsSampler(Lifecycle lifecycle) {
        this.lifecycle = lifecycle;
        this.options = lifecycle.options();
        lifecycle.setListener(new Listener());
    }

    /**
     * Whether sampling is possible in this JVM: it needs Linux, HotSpot, x86-64 or aarch64, and a native library that
     * can be loaded. The first call loads the library.
     *
     * @return false if a sampler would sample nothing: {@link #init()} would warn, or throw if sampling is
     *     {@link     #setRequired required}. The answer never changes
     */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /** {@return an exception with the reason why sampling is not possible, or null if {@link #isAvailable()}} */
    public static @Nullable Throwable unavailabilityCause() {
        return LoadedLibrary.unavailabilityCause();
    }

    /**
     * Starts sampling. When this method returns, every thread was polled once, and its time is credited from then on.
     *
     * <p>Sampling may not be possible: on another platform; without a folder for the native library; if native access
     * is denied; if another version of this library samples, in another class loader; or if {@code clock} is CPU in a
     * JVM that does not let running threads be interrupted. The application then runs on. A warning with the cause is
     * logged once, under the name of this class, and passed to the outputer's {@code printError} unless reports go to
     * the log anyway. The sampler runs and is inert. All its methods work, with nothing sampled:
     * {@link #getStatistics()} has figures of 0 and the cause in {@code getEngine()}, {@link #snapshot()} and cursors
     * return reports without groups that show the cause, {@link #printReport()} prints nothing, {@link #close()} closes
     * the outputer. If {@link #setRequired required} is true, the cause is thrown instead.
     *
     * <p>In a JVM that has begun to exit, a sampler may still start. If the exit has gone too far for that, the sampler
     * is inert, without a warning, whether it is required or not.
     *
     * @throws IllegalStateException if the sampler was started and not closed, or if a {@link #close()} has given up
     *     waiting for this call after {@code closeTimeoutSeconds}
     * @throws IllegalArgumentException if properties do not go together: {@code reportFrequencySeconds} is not 0 and
     *         shorter than {@code samplingFrequencyMillis}; {@code clock} is CPU and {@code engine} is JVMTI
     * @throws UnsupportedOperationException if sampling is required and not possible here, with the reason
     */
    public void init() {
        lifecycle.init();
    }

    /**
     * Ends sampling: takes one last sample, writes one last report, then closes the outputer. Returns when all that is
     * done, or when {@link #setCloseTimeoutSeconds closeTimeoutSeconds} are over. While another thread starts, changes
     * or ends the sampler, this call waits for that thread, within the same time. Does nothing before {@link #init()}
     * and after the sampler has ended.
     *
     * @throws IOException if the outputer cannot be closed; the sampler has ended nevertheless
     * @throws IllegalStateException if called from the sampler's own outputer or manipulator
     */
    @Override
    public void close() throws IOException {
        lifecycle.close();
    }

    /**
     * As {@link #close()}, but leaves the outputer open; a {@code close()} that follows leaves it open, too.
     *
     * @throws IllegalStateException if called from the sampler's own outputer or manipulator
     */
    public void shutdown() {
        lifecycle.shutdown();
    }

    /**
     * Pauses the sampler: nothing is sampled and no time is credited until {@link #resumeSampling()}. Collected data is
     * kept, and periodic reports continue. Does nothing while paused.
     *
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     */
    public void pauseSampling() {
        lifecycle.pause();
    }

    /**
     * Ends a pause. Does nothing while not paused.
     *
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     */
    public void resumeSampling() {
        lifecycle.resume();
    }

    /**
     * Whether the sampler runs: it was started and not closed, whether paused or not. An inert sampler runs, too.
     *
     * @return true from the end of {@link #init()} to the beginning of {@link #close()} or {@link #shutdown()}
     */
    public boolean isRunning() {
        return lifecycle.isRunning();
    }

    /** {@return true if the sampler runs and is between {@link #pauseSampling()} and {@link #resumeSampling()}} */
    public boolean isPaused() {
        return lifecycle.isPaused();
    }

    /**
     * Ends the interval and writes its report; returns when the report is written. If the outputer fails, its
     * {@code printError} receives the failure, the report counts as failed, and this method returns normally.
     *
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     */
    public void printReport() {
        lifecycle.printReport();
    }

    /**
     * Takes one sample of all threads, credited with one {@code samplingFrequencyMillis}, and writes a report as
     * {@link #printReport()} does: it shows what all threads are doing now.
     *
     * @throws IllegalStateException if the sampler is neither paused nor inactive, or does not run, or from its own
     *         outputer or manipulator
     */
    public void sampleOnceAndPrint() {
        lifecycle.sampleOnceAndPrint();
    }

    /**
     * Resets counted calls: counts and times of counted trees begin at zero, in each report, snapshot and cursor.
     * Threads inside a root method continue to be counted. Sampled data and finished reports are unaffected. Does
     * nothing if no calls are counted.
     *
     * <pre>{@code sampler.setRootMethods("com.acme.OrderHandler.handle");
     * sampler.init();
     * warmUp();
     * sampler.resetCollectedResults();
     * measure();
     * }</pre>
     *
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     */
    public void resetCollectedResults() {
        lifecycle.resetCollectedResults();
    }

    /**
     * Polls the threads that are due and returns everything since the last call of this method; the first call returns
     * everything since {@link #init()}. All callers share one reader; for intervals of your own, open a cursor.
     * Periodic reports are unaffected.
     *
     * <p>Intervals that this method has not returned yet are kept within a part of the memory limit. If they need more,
     * the smallest rows become rows {@code [folded]} of their callers in this report, not in others.
     *
     * @return a report, to be closed; it has no groups if nothing was sampled. It can be used after the sampler was
     *     closed
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     * @throws OutOfMemoryError if there is not enough memory now; the next call returns the data
     * @throws StackOverflowError if the caller's stack is almost full; the next call returns the data
     */
    public SamplingReport snapshot() {
        return lifecycle.readers().snapshot(reports);
    }

    /**
     * Opens a reader with intervals of its own, the first of which begins now.
     *
     * @return a cursor, to be closed
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     * @throws OutOfMemoryError if there is no memory for it, or 30 are open
     */
    public SamplingCursor openCursor() {
        return new SamplingCursor(lifecycle.readers().openCursor(), reports);
    }

    /**
     * Opens a reader of the last minutes. They are kept from now on; if the sampler does not run, from its next start
     * on.
     *
     * @return a reader, to be closed; it stays open when the sampler is closed and started again
     */
    public RecentWindow openRecentWindow() {
        return new RecentWindow(lifecycle.readers(), reports);
    }

    /** Makes reports with the options of the periodic reports. */
    private final class Reports implements Function<Snapshot, SamplingReport> {

        @Override
        public SamplingReport apply(Snapshot interval) {
            return new SamplingReport(
                    interval,
                    ReportOptions.standard()
                            .withOrder(getReportOrder())
                            .withZeroTimePackages(isReportZeroTimePackages())
                            .withCpuTime(isReportCpuTime())
                            .withStates(isReportStates())
                            .withPercent(isReportPercent())
                            .withMinPercent(getReportMinPercent())
                            .withAccount(getReportAccount())
                            .withSummary(isReportSummary())
                            .unfoldedUnless(isFoldRecursion()),
                    SamplingStatus.of(lifecycle.statistics().status()));
        }
    }

    /** For the library's other classes. */
    Lifecycle lifecycle() {
        return lifecycle;
    }

    /** Passes intervals to outputers that want whole reports; registers the sampler with JMX and JFR. */
    private final class Listener implements LifecycleListener {

        private final ToolRegistration registration = new ToolRegistration();

        @Override
        public void starting() {
            String name = jmxName;
            registration.begin(name == null ? null : new SamplerBean(ThreadsSampler.this), name, jfrEvents);
        }

        @Override
        public void ended() {
            registration.end();
        }

        @Override
        public boolean isInterested(SamplingOutputer outputer) {
            return takesReports(outputer) || registration.areEventsWanted();
        }

        @Override
        public void interval(Snapshot snapshot, SamplingOutputer outputer) {
            if (registration.areEventsWanted()) {
                registration.writeEvents(snapshot);
            }
            if (takesReports(outputer)) {
                try (SamplingReport report = snapshot.hold().heldBy(reports)) {
                    outputer.report(report);
                }
            }
        }

        private boolean takesReports(SamplingOutputer outputer) {
            for (SamplingOutputer part : OutputerParts.of(outputer)) {
                if (overridesReport(part)) {
                    return true;
                }
            }
            return false;
        }

        private boolean overridesReport(SamplingOutputer outputer) {
            try {
                return outputer.getClass()
                                .getMethod("report", SamplingReport.class)
                                .getDeclaringClass()
                        != SamplingOutputer.class;
            } catch (NoSuchMethodException | LinkageError unclear) {
                return true;
            }
        }
    }

    /**
     * The sampler's figures, in total and in the current interval.
     *
     * @return the figures of the last tick, which may be a second ago if all threads are idle; after the end, the last
     *     figures; before the first {@link #init()}, zeros
     */
    public SamplerStatistics getStatistics() {
        return new SamplerStatistics(lifecycle.statistics(), getClock());
    }

    /**
     * Limits how long {@link #close()} and {@link #shutdown()} may take, in seconds. Default 60. An outputer or a name
     * manipulator may block for ever, and the application must not block with it. When the time is over, a warning with
     * the stack of the blocked thread is logged, reports that were not written count as failed, and the call returns;
     * the sampler may be started again. When the blocked call returns, no further call follows, and the outputer is
     * closed unless a restarted sampler uses it. A blocked {@link #init()} fails as soon as it continues. The exit of
     * the JVM waits for two seconds at most, or for this time if that is shorter. Takes effect at once.
     *
     * @param closeTimeoutSeconds 0 (no limit) to 86,400
     * @throws IllegalArgumentException if it is out of range
     */
    public void setCloseTimeoutSeconds(long closeTimeoutSeconds) {
        options.setCloseTimeoutSeconds(closeTimeoutSeconds);
    }

    /** {@return how long {@link #close()} may take, in seconds; 0: no limit} */
    public long getCloseTimeoutSeconds() {
        return options.closeTimeoutSeconds();
    }

    /**
     * The same as {@link #setCloseTimeoutSeconds}.
     *
     * @param closeTimeout whole seconds
     * @throws IllegalArgumentException if it is null, not whole seconds, or out of range
     */
    public void setCloseTimeout(Duration closeTimeout) {
        setCloseTimeoutSeconds(Values.wholeSeconds("closeTimeout", closeTimeout));
    }

    /** {@return how long {@link #close()} may take; zero: no limit} */
    public Duration getCloseTimeout() {
        return Duration.ofSeconds(getCloseTimeoutSeconds());
    }

    /**
     * The live state of this sampler as text for people: its current activity, threads by how they are polled, lengths
     * of queues, memory by owner, the overhead limit's throttle, the options in force, and the counts of
     * {@link #getStatistics()}. The text has lines {@code name: value}. Names and order may change with each version,
     * so programs should use {@link #getStatistics()}.
     *
     * <p>This method sends no signal and waits for no thread of the sampler, so it works even if the sampler's own
     * threads are stuck. The text describes the last tick and says how long ago that was.
     *
     * @return at most 16 KB; before {@code init()} and after {@code close()} two lines that say so
     * @throws OutOfMemoryError if there is no memory for it
     */
    public String dump() {
        return lifecycle.dump();
    }

    /**
     * Sets whether {@link #init()} throws if sampling is not possible. Default false: it warns, and the application
     * runs on without samples. Takes effect with the next {@code init()}.
     *
     * @param required true to throw {@link UnsupportedOperationException}
     */
    public void setRequired(boolean required) {
        options.setRequired(required);
    }

    /** {@return whether {@link #init()} throws if sampling is not possible} */
    public boolean isRequired() {
        return options.isRequired();
    }

    /**
     * Sets whether {@link #close()} and the exit of the JVM close the outputer. Default true. Set false if other code
     * owns the outputer and closes it after the sampler: Spring calls {@code close()} of a bean that a {@code @Bean}
     * method has made. Takes effect at once.
     *
     * @param closeOutputer false to leave it open
     */
    public void setCloseOutputer(boolean closeOutputer) {
        options.setCloseOutputer(closeOutputer);
    }

    /** {@return whether {@link #close()} closes the outputer} */
    public boolean isCloseOutputer() {
        return options.isCloseOutputer();
    }

    /**
     * Sets the mean time between two samples of a thread, in milliseconds. Default 50. Each actual time is drawn at
     * random between half and one and a half times the mean, so that the sampler cannot lock onto a periodic program.
     *
     * @param samplingFrequencyMillis 1 to 3,600,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setSamplingFrequencyMillis(long samplingFrequencyMillis) {
        options.set(Option.SAMPLING_FREQUENCY_MILLIS, samplingFrequencyMillis);
    }

    /** {@return the mean time between two samples of a thread, in milliseconds} */
    public long getSamplingFrequencyMillis() {
        return options.number(Option.SAMPLING_FREQUENCY_MILLIS);
    }

    /**
     * The same as {@link #setSamplingFrequencyMillis}.
     *
     * @param samplingFrequency whole milliseconds
     * @throws IllegalArgumentException if it is null, not whole milliseconds, or out of range
     */
    public void setSamplingFrequency(Duration samplingFrequency) {
        setSamplingFrequencyMillis(Values.wholeMillis("samplingFrequency", samplingFrequency));
    }

    /** {@return the mean time between two samples of a thread} */
    public Duration getSamplingFrequency() {
        return Duration.ofMillis(getSamplingFrequencyMillis());
    }

    /**
     * Sets the time between two reports, in seconds. Default 900. With 0 there is one report, at the end.
     *
     * @param reportFrequencySeconds 0 to 31,536,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setReportFrequencySeconds(long reportFrequencySeconds) {
        options.set(Option.REPORT_FREQUENCY_SECONDS, reportFrequencySeconds);
    }

    /** {@return the time between two reports, in seconds} */
    public long getReportFrequencySeconds() {
        return options.number(Option.REPORT_FREQUENCY_SECONDS);
    }

    /**
     * The same as {@link #setReportFrequencySeconds}.
     *
     * @param reportFrequency whole seconds
     * @throws IllegalArgumentException if it is null, not whole seconds, or out of range
     */
    public void setReportFrequency(Duration reportFrequency) {
        setReportFrequencySeconds(Values.wholeSeconds("reportFrequency", reportFrequency));
    }

    /** {@return the time between two reports} */
    public Duration getReportFrequency() {
        return Duration.ofSeconds(getReportFrequencySeconds());
    }

    /**
     * Sets the packages of interest, mostly your own. The time of a library call is credited to the library method that
     * they called, whatever that method calls in turn. Default: empty, all packages are of interest.
     *
     * <p>A prefix matches whole parts of a name: {@code com.acme} matches {@code com.acme.X} and
     * {@code com.acme.sub.X}, not {@code com.acmetools.X}. A prefix that ends with {@code .} or {@code *} is taken as
     * written. {@code auto} alone is a guess at your code: all classes but the JDK's and those of well-known
     * frameworks.
     *
     * @param monitoredPackages prefixes separated by commas, at most 1,000 of at most 1,000 bytes each; blanks and new
     *        lines around them and empty parts are ignored
     * @throws IllegalArgumentException if it is null, has too many or too long parts, or a part has white space,
     *         control characters, a semicolon, a slash, a brace (a placeholder that was not replaced) or an asterisk
     *         that is not the last character inside
     */
    public void setMonitoredPackages(String monitoredPackages) {
        options.set(Option.MONITORED_PACKAGES, monitoredPackages);
    }

    /** {@return the packages of interest: prefixes separated by commas, without blanks and empty parts} */
    public String getMonitoredPackages() {
        return options.text(Option.MONITORED_PACKAGES);
    }

    /**
     * Adds a thread to the chosen ones. If threads are chosen, all others are not sampled. A chosen thread is sampled
     * whether it is a daemon or not; if it has not been started yet, it is sampled from its start. The sampler holds it
     * weakly and drops it when it ends; when all chosen threads have ended, nothing is sampled. A warning is logged if
     * a thread has already ended when it is chosen, or if all have ended when the sampler starts.
     *
     * @param thread a platform thread
     * @throws IllegalArgumentException if it is null or a virtual thread
     */
    public void setThreadToBeSampled(Thread thread) {
        options.chooseOne("threadToBeSampled", thread);
    }

    /** {@return the thread that was chosen last and has not ended, or null if there is none} */
    public @Nullable Thread getThreadToBeSampled() {
        List<Thread> chosen = options.chosen();
        return chosen.isEmpty() ? null : chosen.get(chosen.size() - 1);
    }

    /**
     * Adds threads as {@link #setThreadToBeSampled(Thread)} does. An empty list undoes all choices: every thread is
     * sampled, as by default.
     *
     * @param threads platform threads
     * @throws IllegalArgumentException if the list or a thread is null, or a thread is virtual; nothing has changed
     */
    public void setSampleTheseThreadsOnly(List<Thread> threads) {
        options.choose("sampleTheseThreadsOnly", threads);
    }

    /**
     * {@return the chosen threads that have not ended, in the order in which they were chosen; empty if none was
     * chosen}
     */
    public List<Thread> getSampleTheseThreadsOnly() {
        return options.chosen();
    }

    /**
     * Sets whether to skip daemon threads that were not chosen. Default false: many servers work in daemon threads.
     *
     * @param skipDaemonThreads true to skip them
     */
    public void setSkipDaemonThreads(boolean skipDaemonThreads) {
        options.set(Option.SKIP_DAEMON_THREADS, skipDaemonThreads);
    }

    /** {@return whether daemon threads that were not chosen are skipped} */
    public boolean isSkipDaemonThreads() {
        return options.flag(Option.SKIP_DAEMON_THREADS);
    }

    /**
     * Sets whether rows without method time are also printed if the package changes from the caller to the called
     * method. Default false: a row whose time is all in one row below it is not printed.
     *
     * @param reportZeroTimePackages true to print them
     */
    public void setReportZeroTimePackages(boolean reportZeroTimePackages) {
        options.set(Option.REPORT_ZERO_TIME_PACKAGES, reportZeroTimePackages);
    }

    /** {@return whether rows without method time are printed where the package changes} */
    public boolean isReportZeroTimePackages() {
        return options.flag(Option.REPORT_ZERO_TIME_PACKAGES);
    }

    /**
     * Switches sampling on and off. Default true. An inactive sampler runs but samples nothing, at almost no cost, so
     * its configuration can stay in the application.
     *
     * @param active false to sample nothing
     */
    public void setActive(boolean active) {
        options.set(Option.ACTIVE, active);
    }

    /** {@return whether sampling is switched on; if not, the sampler runs but samples nothing} */
    public boolean isActive() {
        return options.flag(Option.ACTIVE);
    }

    /**
     * Sets the order of the rows below one row of a report. Default {@link ReportOrder#BY_NAME}.
     *
     * @param reportOrder the order
     * @throws IllegalArgumentException if it is null
     */
    public void setReportOrder(ReportOrder reportOrder) {
        options.set(Option.REPORT_ORDER, reportOrder == null ? null : reportOrder.name());
    }

    /** {@return the order of the rows below one row of a report} */
    public ReportOrder getReportOrder() {
        return ReportOrder.valueOf(options.text(Option.REPORT_ORDER));
    }

    /**
     * Sets whether each row of a report ends with its share of its thread group's time, as in {@code , Percent: 12.3}.
     * Default false.
     *
     * @param reportPercent true for the column
     */
    public void setReportPercent(boolean reportPercent) {
        options.set(Option.REPORT_PERCENT, reportPercent);
    }

    /** {@return whether each row ends with its share of its thread group's time} */
    public boolean isReportPercent() {
        return options.flag(Option.REPORT_PERCENT);
    }

    /**
     * Sets the share of its group's active time below which a row of the text report is folded, in percent. Default
     * 0.5. Active time is wall time in which a thread did not wait for work. The small rows below one row are shown as
     * a single row with their sum, {@code [12 rows below 0.5 %]}, so each row still equals its own time plus the rows
     * below it. A thread group that was idle throughout has only its outermost row. 0 shows all rows. Rows of counted
     * calls are always shown, and other formats are not affected.
     *
     * @param reportMinPercent 0 to 100, in steps of 0.1
     * @throws IllegalArgumentException if it is out of range or between two steps
     */
    public void setReportMinPercent(double reportMinPercent) {
        options.set(Option.REPORT_MIN_PER_MILLE, ReportOptions.perMille("reportMinPercent", "0", reportMinPercent));
    }

    /**
     * {@return the share of its group's active time below which a row of the text report is not shown by itself, in
     * percent; 0: all rows are shown}
     */
    public double getReportMinPercent() {
        return options.number(Option.REPORT_MIN_PER_MILLE) / 10.0;
    }

    /**
     * Sets how much of the sampler's own account the text report has. Default {@link ReportAccount#SHORT}: three lines,
     * and figures that need attention.
     *
     * @param reportAccount SHORT or FULL
     * @throws IllegalArgumentException if it is null
     */
    public void setReportAccount(ReportAccount reportAccount) {
        options.set(Option.REPORT_ACCOUNT, reportAccount == null ? null : reportAccount.name());
    }

    /** {@return how much of the sampler's own account the text report has: SHORT or FULL} */
    public ReportAccount getReportAccount() {
        return ReportAccount.valueOf(options.text(Option.REPORT_ACCOUNT));
    }

    /**
     * Sets whether a report begins with a summary, which shows where the active time went, by lines of your code.
     * Default true.
     *
     * @param reportSummary false for reports without it
     */
    public void setReportSummary(boolean reportSummary) {
        options.set(Option.REPORT_SUMMARY, reportSummary);
    }

    /** {@return whether a report begins with a summary} */
    public boolean isReportSummary() {
        return options.flag(Option.REPORT_SUMMARY);
    }

    /**
     * Sets whether the text report and the page show a recursion as one row, which ends with {@code , Recursion depth:
     * <d>}. Default true. Calls that repeat the ones right above them then add no rows. Amounts do not change: each
     * callee's time is counted once. Other formats have a row for each call, unless
     * {@link ReportOptions#withFoldRecursion} says otherwise.
     *
     * @param foldRecursion false for a row for each depth
     */
    public void setFoldRecursion(boolean foldRecursion) {
        options.set(Option.FOLD_RECURSION, foldRecursion);
    }

    /** {@return whether the text report and the page show a recursion as one row} */
    public boolean isFoldRecursion() {
        return options.flag(Option.FOLD_RECURSION);
    }

    /**
     * Sets the name under which the sampler is registered in JMX while it runs:
     * {@code com.incapsula.sampler:type=ThreadsSampler,name=<jmxName>}, see {@link ThreadsSamplerMXBean}. If another
     * sampler has that name, {@code -2} is appended, or {@code -3} and so on. Default: null, the sampler is not
     * registered, because the MBean server takes a tenth of a second to start if nothing else has started it.
     *
     * <p>In a JVM without the module {@code java.management} the sampler runs all the same.
     *
     * @param jmxName a name; null or blank: none
     * @throws IllegalStateException while the sampler runs
     */
    public void setJmxName(@Nullable String jmxName) {
        options.changeWhileIdle(
                "jmxName", () -> this.jmxName = jmxName == null || jmxName.isBlank() ? null : jmxName.strip());
    }

    /**
     * {@return the name under which the sampler is registered in JMX, without an appended number; null: it is not
     * registered}
     */
    public @Nullable String getJmxName() {
        return jmxName;
    }

    /**
     * Sets whether all recordings of the JVM's flight recorder have the sampler's events {@code threadsampler.Interval}
     * and {@code threadsampler.HotLine}, which are written for each interval together with its report. Default false:
     * only recordings whose settings name the events have them, as in
     * {@code -XX:StartFlightRecording:+threadsampler.Interval#enabled=true} (with the plus sign). With true, the
     * settings of a recording can switch them off.
     *
     * <p>In a JVM without the module {@code jdk.jfr} the sampler runs all the same.
     *
     * @param jfrEvents true to switch them on
     * @throws IllegalStateException while the sampler runs
     */
    public void setJfrEvents(boolean jfrEvents) {
        options.changeWhileIdle("jfrEvents", () -> this.jfrEvents = jfrEvents);
    }

    /** {@return whether all recordings have the sampler's events} */
    public boolean isJfrEvents() {
        return jfrEvents;
    }

    /**
     * Limits the sampler's native memory as a whole, in bytes. Default 64 MiB (67,108,864). At the limit, rows below
     * 0.1 % of their thread group become rows {@code [folded]} of their callers, the smallest rows first. If no row is
     * that small, the time of new stacks goes to a row {@code [over memory limit]} of its thread group. Both cases are
     * counted.
     *
     * @param memoryLimitBytes 4 MiB (4,194,304) to 1 TiB (1,099,511,627,776)
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMemoryLimitBytes(long memoryLimitBytes) {
        options.set(Option.MEMORY_LIMIT_BYTES, memoryLimitBytes);
    }

    /** {@return the limit of the sampler's native memory, in bytes} */
    public long getMemoryLimitBytes() {
        return options.number(Option.MEMORY_LIMIT_BYTES);
    }

    /**
     * Limits how many frames of one stack are reported. Default 1024. A deeper stack keeps its outermost and innermost
     * frames, with a row between them that says how many are missing. A stack that was walked by a handshake, or that
     * has more than 65,536 frames, keeps only its innermost frames, below a row {@code [frames omitted]}: the time to
     * reach the root, for which the thread is stopped, grows with the depth.
     *
     * @param maxDepthFrames 16 to 65,536
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxDepthFrames(int maxDepthFrames) {
        options.set(Option.MAX_DEPTH_FRAMES, (long) maxDepthFrames);
    }

    /** {@return how many frames of one stack are reported} */
    public int getMaxDepthFrames() {
        return Math.toIntExact(options.number(Option.MAX_DEPTH_FRAMES));
    }

    /**
     * Sets how stacks are walked. Default {@link SamplingEngine#AUTO}. {@link SamplerStatistics#getEngine()} names the
     * engine in use.
     *
     * @param engine the engine
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setEngine(SamplingEngine engine) {
        options.set(Option.ENGINE, engine == null ? null : engine.name());
    }

    /** {@return how stacks are walked} */
    public SamplingEngine getEngine() {
        return SamplingEngine.valueOf(options.text(Option.ENGINE));
    }

    /**
     * Sets which time is sampled. Default {@link SamplingClock#WALL}. With {@link SamplingClock#CPU} a thread is
     * sampled whenever it has used {@code samplingFrequencyMillis} of CPU time, and not while it waits. All times of a
     * report are then CPU times, to within half that time for each thread, and its account says {@code clock: CPU}. The
     * operating system checks such timers on its own tick (mostly every 4 ms); if several samples become due between
     * two ticks, one sample gets the time of all. {@code idleLookbackMillis} has no effect,
     * {@code overheadLimitPercent} limits only the cost of a {@link ThreadNameManipulator} of yours, which is called
     * for all threads, and {@link #sampleOnceAndPrint()} samples running threads only. Virtual threads are one group,
     * {@code [virtual threads]}.
     *
     * <p>Each thread has a timer, which counts against the user's {@code RLIMIT_SIGPENDING} ({@code ulimit -i}). The
     * CPU time of threads beyond that limit is reported as {@code [no CPU timer]}, and counted.
     *
     * @param clock the clock; {@link SamplingClock#CPU} needs {@link SamplingEngine#AUTO} and, if calls are counted, a
     *     method timing other than {@link MethodTiming#EXACT}
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setClock(SamplingClock clock) {
        options.set(Option.CLOCK, clock == null ? null : clock.name());
    }

    /** {@return which time is sampled} */
    public SamplingClock getClock() {
        return SamplingClock.valueOf(options.text(Option.CLOCK));
    }

    /**
     * Sets the number of the real-time signal whose handler walks the stack of a thread that runs Java code. Default
     * 38. The number matters only if other native code of this process uses the same signal: a handler that was
     * installed before {@link #init()} still receives its signals; a handler that replaces the sampler's also receives
     * the sampler's signals, and their time is reported as {@code [signal not answered]}.
     *
     * <p>HotSpot and its flight recorder use no real-time signal. The JDK's class library uses 62, to wake threads that
     * wait for files and sockets. glibc reserves 32 and 33, musl also 34; valgrind uses 64. The other numbers from 34
     * on are free. The sampler's handler stays installed when the sampler is closed, so that a late signal does not end
     * the process. Samplers of one JVM may have different signals.
     *
     * @param samplingSignal 34 to 64
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setSamplingSignal(int samplingSignal) {
        options.set(Option.SAMPLING_SIGNAL, (long) samplingSignal);
    }

    /** {@return the number of the signal whose handler walks the stack of a running thread} */
    public int getSamplingSignal() {
        return Math.toIntExact(options.number(Option.SAMPLING_SIGNAL));
    }

    /**
     * Limits the time between two polls of an idle thread, in milliseconds. Default 1000. No time is lost between them,
     * because the thread's CPU clock proves that it was idle. But if the thread begins to run, the sampler sees that
     * only at its next poll. A shorter time costs more CPU time if many threads are idle.
     *
     * @param idleLookbackMillis 1 to 60,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setIdleLookbackMillis(long idleLookbackMillis) {
        options.set(Option.IDLE_LOOKBACK_MILLIS, idleLookbackMillis);
    }

    /** {@return the longest time between two polls of an idle thread, in milliseconds} */
    public long getIdleLookbackMillis() {
        return options.number(Option.IDLE_LOOKBACK_MILLIS);
    }

    /**
     * The same as {@link #setIdleLookbackMillis}.
     *
     * @param idleLookback whole milliseconds
     * @throws IllegalArgumentException if it is null, not whole milliseconds, or out of range
     */
    public void setIdleLookback(Duration idleLookback) {
        setIdleLookbackMillis(Values.wholeMillis("idleLookback", idleLookback));
    }

    /** {@return the longest time between two polls of an idle thread} */
    public Duration getIdleLookback() {
        return Duration.ofMillis(getIdleLookbackMillis());
    }

    /**
     * Limits the CPU time of the sampling thread, in percent of one core. Default 1.0. Above the limit, each tick polls
     * a random part of the threads. Their polls also stand for the skipped ones, so totals and shares stay unbiased,
     * and the account counts the skipped polls. Writing reports does not count against the limit.
     *
     * <p>A start may once use the limit of ten seconds in addition, at most 100 ms of CPU time: in a new JVM the
     * sampler sees each method and each stack for the first time. The probes of counted calls have a separate limit of
     * the same size. Above it {@linkplain #setRootMethods short methods} lose their probes; with 100 no method does,
     * whatever the probes cost.
     *
     * @param overheadLimitPercent 0.1 to 100, in steps of 0.1
     * @throws IllegalArgumentException if it is out of range or between two steps
     */
    public void setOverheadLimitPercent(double overheadLimitPercent) {
        options.set(
                Option.OVERHEAD_LIMIT_PER_MILLE,
                ReportOptions.perMille("overheadLimitPercent", "0.1", overheadLimitPercent));
    }

    /** {@return the limit of the sampling thread's CPU time, in percent of one core} */
    public double getOverheadLimitPercent() {
        return options.number(Option.OVERHEAD_LIMIT_PER_MILLE) / 10.0;
    }

    /**
     * Sets whether the CPU time of each row is printed after its other figures. Default false. CPU time is cumulative,
     * like the first figure. The CPU time of a thread group is the sum of its threads' CPU clocks.
     *
     * @param reportCpuTime true to print it
     */
    public void setReportCpuTime(boolean reportCpuTime) {
        options.set(Option.REPORT_CPU_TIME, reportCpuTime);
    }

    /** {@return whether CPU time is printed} */
    public boolean isReportCpuTime() {
        return options.flag(Option.REPORT_CPU_TIME);
    }

    /**
     * Sets whether each row's time by state is printed after its other figures, for states that are not 0: {@code ,
     * Running time(ms): 120, Blocked 30}. Default false. The states are running, runnable (waits for a CPU), blocked
     * (waits for a lock), I/O, waiting and idle (waits for work); their sum is the row's wall time.
     *
     * @param reportStates true to print them
     */
    public void setReportStates(boolean reportStates) {
        options.set(Option.REPORT_STATES, reportStates);
    }

    /** {@return whether the time by state is printed} */
    public boolean isReportStates() {
        return options.flag(Option.REPORT_STATES);
    }

    /**
     * Sets methods in which a waiting thread does I/O, whatever they call: {@code com.acme.Driver.read}, or a class or
     * package as in {@link #setMonitoredPackages}. Default: none. The methods of the JDK are known. May change while
     * the sampler runs.
     *
     * @param ioMethods names, comma-separated; "" for none
     * @throws IllegalArgumentException as {@link #setMonitoredPackages} does
     */
    public void setIoMethods(String ioMethods) {
        options.set(Option.IO_METHODS, ioMethods);
    }

    /** {@return the methods in which a waiting thread does I/O: names, comma-separated; "" for none} */
    public String getIoMethods() {
        return options.text(Option.IO_METHODS);
    }

    /**
     * Sets methods in which a waiting thread is idle, that is, it waits for work. Written as for {@link #setIoMethods}.
     * Default: none.
     *
     * @param idleMethods names, comma-separated; "" for none
     * @throws IllegalArgumentException as {@link #setMonitoredPackages} does
     */
    public void setIdleMethods(String idleMethods) {
        options.set(Option.IDLE_METHODS, idleMethods);
    }

    /** {@return the methods in which a waiting thread is idle: names, comma-separated; "" for none} */
    public String getIdleMethods() {
        return options.text(Option.IDLE_METHODS);
    }

    /**
     * Sets whether reports have a group {@code [JVM]} with the CPU time of the JVM's own threads: a row for garbage
     * collection, one for the compilers, and so on. Default true. All times of this group are CPU times. If threads are
     * chosen, reports do not have the group.
     *
     * @param reportJvmThreads false for reports without the group
     */
    public void setReportJvmThreads(boolean reportJvmThreads) {
        options.set(Option.REPORT_JVM_THREADS, reportJvmThreads);
    }

    /** {@return whether the JVM's own threads are reported} */
    public boolean isReportJvmThreads() {
        return options.flag(Option.REPORT_JVM_THREADS);
    }

    /**
     * Sets whether virtual threads that are not mounted on a carrier are sampled, too, whether they wait for an event
     * or for a carrier. Default false: only mounted virtual threads are in the report. About ten times a second, some
     * of all virtual threads are drawn at random, at most 200 a second, and those that are not mounted are walked,
     * without being stopped. Each stack gets the wall time of all the threads it stands for, so the times of a group
     * add up to the total lifetime of its threads. These times are estimates: with two thousand stacks, a share of one
     * half has a 95 % confidence interval of ±2.2 points. The number of threads is exact, except for executors with a
     * thread factory other than the JDK's own.
     *
     * <p>Needs JDK 25 or later; the system property {@code jdk.trackAllThreads} must not be false. Otherwise the
     * sampler warns once and runs on without these threads; {@link SamplerStatistics#getEngine()} has the reason.
     * Threads forked in a {@code StructuredTaskScope} are not found. No effect with {@link SamplingClock#CPU} or
     * {@link #setSkipDaemonThreads} (virtual threads are daemons), or while threads are chosen. May change while the
     * sampler runs.
     *
     * @param sampleUnmountedVirtualThreads true to sample them
     */
    public void setSampleUnmountedVirtualThreads(boolean sampleUnmountedVirtualThreads) {
        options.set(Option.SAMPLE_UNMOUNTED_VIRTUAL_THREADS, sampleUnmountedVirtualThreads);
    }

    /** {@return whether virtual threads that are not mounted are sampled} */
    public boolean isSampleUnmountedVirtualThreads() {
        return options.flag(Option.SAMPLE_UNMOUNTED_VIRTUAL_THREADS);
    }

    /**
     * Sets the root methods: calls of these methods, and calls below them, are counted exactly. Default: empty, no
     * class is changed unless the {@linkplain #setInstrumentation instrumentation} is TOTAL. With root methods, reports
     * have a record {@code Counted thread: <group>} for each group: the tree of calls from the root methods down, with
     * the number of calls and their time.
     *
     * <pre>
     * com.acme.OrderHandler.handle               a method, all its overloads
     * com.acme.OrderHandler.handle(long, String) one overload: types as in Java source, their packages may be left out
     * com.acme.Order.&lt;init&gt;                      its constructors, once their super() or this() has returned
     * com.acme.jobs.*.run                        * is any text between two dots
     * com.acme.batch.**                          ** is one level or more: all methods of all classes below
     * com.acme.Order                             all methods of a class, but its constructors, as com.acme.Order.*
     * com.acme.Order$Line.price                  a nested class has a dollar sign
     * </pre>
     *
     * <p>A root method whose class is not loaded yet is counted from its first call on. A misspelt root method is
     * listed in the report's account as {@code not loaded yet}. Calls that are under way when the sampler starts are
     * not counted; later ones are. Only one sampler in a JVM counts; another one warns and only samples. Counting may
     * use half of {@code memoryLimitBytes} on top of that limit.
     *
     * <p>Short methods that are called often lose their probes above {@code overheadLimitPercent}; the account counts
     * them and names the first 20. This also applies to root methods that match a {@code *} or {@code **}, and to the
     * roots of TOTAL, if their calls of the last second were short as a whole; calls below such an outermost root are
     * then no longer counted. A root method that is also named without a star keeps its probes.
     *
     * @param rootMethods methods separated by commas, at most 1,000 of at most 1,000 bytes; empty: none
     * @throws IllegalArgumentException if it is null or a part cannot be a method, with the reason
     * @throws IllegalStateException while the sampler runs
     */
    public void setRootMethods(String rootMethods) {
        options.set(Option.ROOT_METHODS, rootMethods);
    }

    /** {@return the methods from which on calls are counted, separated by commas; empty: none} */
    public String getRootMethods() {
        return options.text(Option.ROOT_METHODS);
    }

    /**
     * Sets which methods below the {@link #setRootMethods root methods} are counted, and from which moment on. Default
     * {@link Instrumentation#AUTO}.
     *
     * @param instrumentation the rule
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setInstrumentation(Instrumentation instrumentation) {
        options.set(Option.INSTRUMENTATION, instrumentation == null ? null : instrumentation.name());
    }

    /** {@return which methods below the root methods are counted} */
    public Instrumentation getInstrumentation() {
        return Instrumentation.valueOf(options.text(Option.INSTRUMENTATION));
    }

    /**
     * Sets the classes whose methods are counted below root methods. Default: empty, all classes but those of the JDK
     * ({@code java. javax. jdk. sun. com.sun.}). Root methods are counted regardless of this filter.
     *
     * <pre>
     * com.acme, -com.acme.util    below com.acme, but not below com.acme.util
     * -com.acme.util              all but the JDK and com.acme.util
     * </pre>
     *
     * @param instrumentationFilter prefixes separated by commas, with a minus before those to leave out
     * @throws IllegalArgumentException if it is null or a part cannot be a prefix, with the reason
     * @throws IllegalStateException while the sampler runs
     */
    public void setInstrumentationFilter(String instrumentationFilter) {
        options.set(Option.INSTRUMENTATION_FILTER, instrumentationFilter);
    }

    /**
     * {@return the classes whose methods are counted below root methods: prefixes separated by commas; empty: all but
     * the JDK's}
     */
    public String getInstrumentationFilter() {
        return options.text(Option.INSTRUMENTATION_FILTER);
    }

    /**
     * Sets where the times of counted calls come from. Default {@link MethodTiming#SAMPLED}.
     *
     * @param methodTiming the timing
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setMethodTiming(MethodTiming methodTiming) {
        options.set(Option.METHOD_TIMING, methodTiming == null ? null : methodTiming.name());
    }

    /** {@return the source of the times of counted calls} */
    public MethodTiming getMethodTiming() {
        return MethodTiming.valueOf(options.text(Option.METHOD_TIMING));
    }

    /**
     * Sets whether reports have a 95 % confidence interval for each time: {@link SamplingRow#getError95}, and the error
     * bars of TOP, JSON and the page. Default true. A change takes effect with the next interval.
     *
     * @param errorBars false to save their 12 bytes for each row
     */
    public void setErrorBars(boolean errorBars) {
        options.set(Option.ERROR_BARS, errorBars);
    }

    /** {@return whether reports have a 95 % confidence interval for each time} */
    public boolean isErrorBars() {
        return options.flag(Option.ERROR_BARS);
    }

    /**
     * Sets whether counts are reset, as by {@link #resetCollectedResults()}, once no further method was instrumented
     * for three seconds. Default false. While methods are being instrumented, the JVM interprets code that it had
     * compiled, so times of that phase are not those of a warm program.
     *
     * @param discardWarmUp true to reset them once
     */
    public void setDiscardWarmUp(boolean discardWarmUp) {
        options.set(Option.DISCARD_WARM_UP, discardWarmUp);
    }

    /** {@return whether counts are reset once no further method was instrumented for three seconds} */
    public boolean isDiscardWarmUp() {
        return options.flag(Option.DISCARD_WARM_UP);
    }

    /**
     * Limits how many methods are counted. Default 32,768. If there are more candidates, root methods and the methods
     * with the most calls are counted; each other candidate is tried for some seconds. The time of methods that are not
     * counted belongs to their callers; the account has their number.
     *
     * @param maxCountedMethods 1 to 1,048,576
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxCountedMethods(int maxCountedMethods) {
        options.set(Option.MAX_COUNTED_METHODS, (long) maxCountedMethods);
    }

    /** {@return how many methods are counted at most} */
    public int getMaxCountedMethods() {
        return Math.toIntExact(options.number(Option.MAX_COUNTED_METHODS));
    }

    /**
     * Limits the nodes in the call tree of one thread, 96 bytes each. Default 100,000. The account counts the calls
     * that have no node.
     *
     * @param maxCallNodes 64 to 100,000,000
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxCallNodes(int maxCallNodes) {
        options.set(Option.MAX_CALL_NODES, (long) maxCallNodes);
    }

    /** {@return how many nodes a thread's tree of calls has at most} */
    public int getMaxCallNodes() {
        return Math.toIntExact(options.number(Option.MAX_CALL_NODES));
    }

    /**
     * Limits the depth of a thread's call tree. Default 1,000. The account counts deeper calls.
     *
     * @param maxCallDepth 1 to 1,000,000
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxCallDepth(int maxCallDepth) {
        options.set(Option.MAX_CALL_DEPTH, (long) maxCallDepth);
    }

    /** {@return how deep a thread's tree of calls is at most} */
    public int getMaxCallDepth() {
        return Math.toIntExact(options.number(Option.MAX_CALL_DEPTH));
    }

    /**
     * Sets where reports go. Default: a {@link PrintStreamSamplingOutputer} on the standard output at the time of
     * {@link #init()}. Takes effect with the next report. When the sampler is closed, it closes the current outputer,
     * unless {@link #setCloseOutputer closeOutputer} is false. It does not close an outputer that was replaced. Whether
     * a closed outputer can be used after a restart depends on the outputer.
     *
     * @param samplingOutputer the outputer
     * @throws IllegalArgumentException if it is null
     */
    public void setSamplingOutputer(SamplingOutputer samplingOutputer) {
        options.setOutputer(samplingOutputer);
    }

    /** {@return the destination of reports, never null} */
    public SamplingOutputer getSamplingOutputer() {
        return options.outputer();
    }

    /**
     * Limits how many thread groups a report shows. Default 500. The groups beyond the limit, those with the least
     * active time, are shown as one group {@code [other threads]}, whose line says how many groups and threads it
     * holds; no time is lost. So a report stays readable if each task has a thread name of its own. Takes effect with
     * the next report.
     *
     * @param maxGroups 1 to 20,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setMaxGroups(int maxGroups) {
        options.set(Option.MAX_GROUPS, (long) maxGroups);
    }

    /** {@return how many thread groups a report shows} */
    public int getMaxGroups() {
        return Math.toIntExact(options.number(Option.MAX_GROUPS));
    }

    /**
     * Sets how threads are grouped. Default: a {@link RegexThreadNameManipulator}, which removes numbers and
     * identifiers from names; its default rule runs in native code, without a call into Java. While the sampler runs,
     * the manipulator's {@code init()} is called first.
     *
     * @param threadNameManipulator the manipulator
     * @throws IllegalArgumentException if it is null
     */
    public void setThreadNameManipulator(ThreadNameManipulator threadNameManipulator) {
        options.setManipulator(threadNameManipulator);
    }

    /** {@return how threads are grouped, never null} */
    public ThreadNameManipulator getThreadNameManipulator() {
        return options.manipulator();
    }
}
