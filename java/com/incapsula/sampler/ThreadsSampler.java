// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Lifecycle;
import com.incapsula.sampler.internal.engine.LoadedLibrary;
import com.incapsula.sampler.internal.engine.Observer;
import com.incapsula.sampler.internal.engine.Property;
import com.incapsula.sampler.internal.engine.SamplerProperties;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.engine.SnapshotReaders.Maker;
import com.incapsula.sampler.internal.observe.Visibility;
import com.incapsula.sampler.internal.options.Times;
import com.incapsula.sampler.internal.report.OutputerParts;
import com.incapsula.sampler.manipulate.RegexThreadNameManipulator;
import com.incapsula.sampler.manipulate.ThreadNameManipulator;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Samples the threads of this JVM and reports where their time goes, waiting and computing.
 *
 * <pre>{@code
 * try (ThreadsSampler sampler = new ThreadsSampler()) {
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
 * <p>A JVM that exits without {@code close()} still writes the last report, if that takes no more than two seconds: a
 * shutdown hook ends the sampler. Other shutdown hooks may go on using it: {@code snapshot()} and cursors wait until
 * the sampler has stopped (two seconds at most) and give what was collected up to then, the second time nothing;
 * {@code printReport}, {@code sampleOnceAndPrint}, {@code pauseSampling}, {@code resumeSampling} and {@code close} do
 * nothing.
 *
 * <p>Properties may be set before and while the sampler runs; a change takes effect at the next tick. The
 * exceptions are {@code memoryLimitBytes}, {@code maxDepthFrames}, {@code engine}, {@code clock},
 * {@code samplingSignal}, {@code jmxName}, {@code jfrEvents}, and of counted calls all but {@code discardWarmUp}; they
 * are fixed from {@code init()} to {@code close()}.
 * A setter refuses a value out of range with an {@link IllegalArgumentException} that names property, value and range;
 * the property keeps its value.
 *
 * <p>Threads: any.
 * <ul>
 * <li>Getters, {@link #isRunning()}, {@link #isPaused()}, {@link #getStatistics()} and {@link #dump()} return at
 * once.</li>
 * <li>So does a setter of a running sampler: the value holds from the next tick on, and for each later call that waits
 *     for the sampler; {@link #dump()} may still show the old value. Only {@link #setThreadToBeSampled} and
 *     {@link #setSampleTheseThreadsOnly} wait for the end of a tick, unless the sampler's own outputer or manipulator
 *     calls them.</li>
 * <li>{@code close}, {@code shutdown}, {@code printReport}, {@code sampleOnceAndPrint}, {@code resetCollectedResults},
 *     {@code snapshot}, {@code openCursor}, {@code pauseSampling} and {@code resumeSampling} wait for the sampler's
 *     threads. Called from the sampler's own outputer or manipulator, where they would wait for themselves, they throw
 *     {@link IllegalStateException}.</li>
 * </ul>
 *
 * <p>No wait can be interrupted: {@code init} and {@code close} do their whole job on an interrupted thread and leave
 * it interrupted.
 *
 * @since 1.0
 */
public class ThreadsSampler implements AutoCloseable {

    private final Lifecycle lifecycle;
    private final SamplerProperties properties;
    private final Reports reports = new Reports();
    private volatile @Nullable String jmxName;
    private volatile boolean jfrEvents;

    /** A sampler with all properties at their defaults, not started. */
    public ThreadsSampler() {
        this(new Lifecycle());
    }

    ThreadsSampler(Lifecycle lifecycle) {
        this.lifecycle = lifecycle;
        this.properties = lifecycle.properties();
        lifecycle.setObserver(new Surroundings());
    }

    /**
     * Whether sampling is possible in this JVM: Linux, HotSpot, x86-64 or aarch64, and a native library that
     * can be loaded. Loads it at the first call.
     *
     * @return false where a sampler would sample nothing: {@link #init()} would warn, or throw where sampling is
     *         {@link #setRequired required}. Never changes
     */
    public static boolean isAvailable() {
        return unavailabilityCause() == null;
    }

    /**
     * Why sampling is not possible.
     *
     * @return an exception with the reason, or null where {@link #isAvailable()}
     */
    public static @Nullable Throwable unavailabilityCause() {
        return LoadedLibrary.unavailabilityCause();
    }

    /**
     * Starts sampling. When it returns, every thread was polled once: its time is credited from now on.
     *
     * <p>Where sampling is not possible (another platform; no folder for the native library; native access denied;
     * another version of this library samples, in another class loader; {@code clock} is CPU in a JVM that does not let
     * running threads be interrupted), the application is not stopped: a warning with the cause is logged, once, under
     * the name of this class, and given to the outputer's {@code printError} where reports do not go to the log anyway.
     * The sampler then runs and is inert. All its methods work, with nothing sampled: {@link #getStatistics()} has
     * figures of 0 and the cause in {@code getEngine()}, {@link #snapshot()} and cursors give reports without groups
     * that show the cause, {@link #printReport()} prints nothing, {@link #close()} closes the outputer. With
     * {@link #setRequired required} true, the cause is thrown.
     *
     * <p>In a JVM that has begun to exit, a sampler may still start. Where the exit is too far on for that, the sampler
     * is inert, without a warning, whether it is required or not.
     *
     * @throws IllegalStateException if the sampler was started and not closed, or a {@link #close()} has meanwhile gone
     *         on without this call, after {@code closeTimeoutSeconds}
     * @throws IllegalArgumentException if properties do not go together: {@code reportFrequencySeconds} is not 0 and
     *         shorter than {@code samplingFrequencyMillis}; {@code clock} is CPU and {@code engine} is JVMTI
     * @throws UnsupportedOperationException if sampling is required and not possible here, with the reason
     */
    public void init() {
        lifecycle.init();
    }

    /**
     * Ends sampling: takes one last sample, writes one last report, then closes the outputer. Returns when all that is
     * done, or when {@link #setCloseTimeoutSeconds closeTimeoutSeconds} are over. Does nothing before {@link #init()}
     * and after the sampler has ended; waits as long while another thread starts, changes or ends it.
     *
     * @throws IOException if the outputer cannot be closed; the sampler has ended nevertheless
     * @throws IllegalStateException if called from the sampler's own outputer or manipulator
     */
    @Override
    public void close() throws IOException {
        lifecycle.close();
    }

    /**
     * As {@link #close()}, but the outputer is left open, also by a {@code close()} that follows.
     *
     * @throws IllegalStateException if called from the sampler's own outputer or manipulator
     */
    public void shutdown() {
        lifecycle.shutdown();
    }

    /**
     * Pauses: nothing is sampled and no time is credited until {@link #resumeSampling()}. What was collected is kept,
     * reports go on. Does nothing while paused.
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
     * Whether the sampler runs: it was started and not closed, paused or not. An inert one, where sampling is not
     * possible, runs, too.
     *
     * @return true from {@link #init()} to {@link #close()} or {@link #shutdown()}, and not while either is under way
     */
    public boolean isRunning() {
        return lifecycle.liveState().isRunning();
    }

    /**
     * Whether the sampler is paused.
     *
     * @return true between {@link #pauseSampling()} and {@link #resumeSampling()}, if the sampler runs
     */
    public boolean isPaused() {
        return lifecycle.liveState().isPaused();
    }

    /**
     * Ends the interval and writes its report; returns when it is written. If the outputer fails, its
     * {@code printError} receives the failure and the report counts as failed, as every report does, and this method
     * returns.
     *
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     */
    public void printReport() {
        lifecycle.onDemand().printReport();
    }

    /**
     * Takes one sample, credited with one {@code samplingFrequencyMillis}, and writes a report as
     * {@link #printReport()}: what all threads are doing now.
     *
     * @throws IllegalStateException if the sampler is neither paused nor inactive, or does not run, or from its own
     *         outputer or manipulator
     */
    public void sampleOnceAndPrint() {
        lifecycle.onDemand().sampleOnceAndPrint();
    }

    /**
     * Counts calls anew: counts and times of counted trees begin at zero, in each report, snapshot and cursor. Threads
     * inside of a root method go on being counted. What was sampled, and reports that have been made, stay. Does
     * nothing where no calls are counted.
     *
     * <pre>{@code
     * sampler.setRootMethods("com.acme.OrderHandler.handle");
     * sampler.init();
     * warmUp();
     * sampler.resetCollectedResults();
     * measure();
     * }</pre>
     *
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     */
    public void resetCollectedResults() {
        lifecycle.onDemand().resetCollectedResults();
    }

    /**
     * Polls the threads that are due and gives everything since the last call of this method, the first time since
     * {@link #init()}. All callers share one reader; for intervals of your own, open a cursor. The periodic reports are
     * unaffected.
     *
     * <p>Intervals that this method has not given yet stay in a part of the memory limit. Past that part, the smallest
     * rows become rows {@code [folded]} of their callers in this report, not in others.
     *
     * @return a report, to be closed; it has no groups where nothing was sampled. It can be used after the sampler was
     *         closed
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     * @throws OutOfMemoryError if there is no memory for it now; nothing is lost
     * @throws StackOverflowError if the caller's stack is almost full; nothing is lost
     */
    public SamplingReport snapshot() {
        return lifecycle.readers().snapshot(reports);
    }

    /**
     * Opens a reader of its own, whose first interval begins now.
     *
     * @return a cursor, to be closed
     * @throws IllegalStateException if the sampler does not run, or from its own outputer or manipulator
     * @throws OutOfMemoryError if there is no memory for it, or 30 are open
     */
    public SamplingCursor openCursor() {
        return new SamplingCursor(lifecycle.readers().openCursor(), reports);
    }

    /**
     * Opens a reader of the last minutes, which are kept from now on, or from the next start on.
     *
     * @return a reader, to be closed; it stays open when the sampler is closed and started again
     */
    public RecentWindow openRecentWindow() {
        return new RecentWindow(lifecycle.readers(), reports);
    }

    /** Makes reports, with the options of the periodic ones. */
    private final class Reports implements Maker<SamplingReport> {

        @Override
        public SamplingReport make(Snapshot interval) {
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
                    SamplingStatus.of(lifecycle.liveState().statistics().status()));
        }
    }

    /** For the library's other classes. */
    Lifecycle lifecycle() {
        return lifecycle;
    }

    /** What happens around the sampler: the outputer that wants whole reports, JMX, the flight recorder. */
    private final class Surroundings implements Observer {

        private final Visibility visibility = new Visibility();

        @Override
        public void starting() {
            String name = jmxName;
            visibility.begin(name == null ? null : new SamplerBean(ThreadsSampler.this), name, jfrEvents);
        }

        @Override
        public void ended() {
            visibility.end();
        }

        @Override
        public boolean isInterested(SamplingOutputer outputer) {
            return takesReports(outputer) || visibility.areEventsWanted();
        }

        @Override
        public void interval(Snapshot snapshot, SamplingOutputer outputer) {
            if (visibility.areEventsWanted()) {
                visibility.writeEvents(snapshot);
            }
            if (takesReports(outputer)) {
                try (SamplingReport report = heldReportOf(snapshot)) {
                    outputer.report(report);
                }
            }
        }

        private SamplingReport heldReportOf(Snapshot snapshot) {
            Snapshot held = snapshot.hold();
            try {
                return reports.make(held);
            } catch (RuntimeException | Error e) {
                held.release();
                throw e;
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
     * What the sampler counted, in total and in the current interval.
     *
     * @return the figures of the last tick, which may be a second ago where all threads are idle; after the end the
     *         last ones; before the first {@link #init()} zeros
     */
    public SamplerStatistics getStatistics() {
        return new SamplerStatistics(lifecycle.liveState().statistics(), getClock());
    }

    /**
     * How long {@link #close()} and {@link #shutdown()} may take, in seconds. Default 60. An outputer or a name rule may
     * block for ever, and it must not keep the application with it. When the time is over, a warning has the stack of
     * the thread that is blocked, the reports that were not written count as failed, and the call returns; the sampler
     * may be started again. When the blocked call ends, no further one follows, and the outputer is closed unless a
     * sampler that was started again uses it. A call of {@link #init()} that is blocked fails when it goes on. The exit
     * of the JVM waits for two seconds at most, or for this time if that is shorter. Takes effect at once.
     *
     * @param closeTimeoutSeconds 0 (without a limit) to 86,400
     * @throws IllegalArgumentException if it is out of range
     */
    public void setCloseTimeoutSeconds(long closeTimeoutSeconds) {
        properties.setCloseTimeoutSeconds(closeTimeoutSeconds);
    }

    /**
     * How long {@link #close()} may take.
     *
     * @return seconds; 0: without a limit
     */
    public long getCloseTimeoutSeconds() {
        return properties.closeTimeoutSeconds();
    }

    /**
     * The same as {@link #setCloseTimeoutSeconds}.
     *
     * @param closeTimeout whole seconds
     * @throws IllegalArgumentException if it is null, not whole seconds, or out of range
     */
    public void setCloseTimeout(Duration closeTimeout) {
        setCloseTimeoutSeconds(Times.wholeSeconds("closeTimeout", closeTimeout));
    }

    /**
     * How long {@link #close()} may take; zero: without a limit.
     *
     * @return the time
     */
    public Duration getCloseTimeout() {
        return Duration.ofSeconds(getCloseTimeoutSeconds());
    }

    /**
     * The live state of this sampler as text, to be read and not parsed: what it does now, threads by how they are
     * polled, lengths of queues, memory by owner, the overhead limit's throttle, options as they are in force, and the
     * counts of {@link #getStatistics()}. Lines {@code name: value}; names and order may change with each version, so
     * programs use {@link #getStatistics()}.
     *
     * <p>It sends no signal and waits for no thread of the sampler: it is as of the last tick and says how long ago
     * that was. So it answers where the sampler's own threads are stuck, too.
     *
     * @return at most 16 KB; before {@code init()} and after {@code close()} two lines that say so
     * @throws OutOfMemoryError if there is no memory for it
     */
    public String dump() {
        return lifecycle.liveState().dump();
    }

    /**
     * Whether {@link #init()} throws where sampling is not possible. Default false: it warns, and the application runs
     * on without samples. Takes effect with the next {@code init()}.
     *
     * @param required true to throw {@link UnsupportedOperationException}
     */
    public void setRequired(boolean required) {
        properties.setRequired(required);
    }

    /**
     * Whether {@link #init()} throws where sampling is not possible.
     *
     * @return true if it does
     */
    public boolean isRequired() {
        return properties.isRequired();
    }

    /**
     * Whether {@link #close()}, and the exit of the JVM, close the outputer. Default true. Set false if something else
     * owns the outputer and closes it after the sampler: Spring calls {@code close()} of a bean that a {@code @Bean}
     * method has made. Takes effect at once.
     *
     * @param closeOutputer false to leave it open
     */
    public void setCloseOutputer(boolean closeOutputer) {
        properties.setCloseOutputer(closeOutputer);
    }

    /**
     * Whether {@link #close()} closes the outputer.
     *
     * @return true if it does
     */
    public boolean isCloseOutputer() {
        return properties.isCloseOutputer();
    }

    /**
     * The mean time between two samples of a thread, in milliseconds. Default 50. The actual times vary by a tenth
     * around it.
     *
     * @param samplingFrequencyMillis 1 to 3,600,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setSamplingFrequencyMillis(long samplingFrequencyMillis) {
        properties.set(Property.SAMPLING_FREQUENCY_MILLIS, samplingFrequencyMillis);
    }

    /**
     * The mean time between two samples of a thread.
     *
     * @return milliseconds
     */
    public long getSamplingFrequencyMillis() {
        return (Long) properties.get(Property.SAMPLING_FREQUENCY_MILLIS);
    }

    /**
     * The same as {@link #setSamplingFrequencyMillis}.
     *
     * @param samplingFrequency whole milliseconds
     * @throws IllegalArgumentException if it is null, not whole milliseconds, or out of range
     */
    public void setSamplingFrequency(Duration samplingFrequency) {
        setSamplingFrequencyMillis(Times.wholeMillis("samplingFrequency", samplingFrequency));
    }

    /**
     * The mean time between two samples of a thread.
     *
     * @return the time
     */
    public Duration getSamplingFrequency() {
        return Duration.ofMillis(getSamplingFrequencyMillis());
    }

    /**
     * The time between two reports, in seconds. Default 900. With 0 there is one report, at the end.
     *
     * @param reportFrequencySeconds 0 to 31,536,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setReportFrequencySeconds(long reportFrequencySeconds) {
        properties.set(Property.REPORT_FREQUENCY_SECONDS, reportFrequencySeconds);
    }

    /**
     * The time between two reports.
     *
     * @return seconds
     */
    public long getReportFrequencySeconds() {
        return (Long) properties.get(Property.REPORT_FREQUENCY_SECONDS);
    }

    /**
     * The same as {@link #setReportFrequencySeconds}.
     *
     * @param reportFrequency whole seconds
     * @throws IllegalArgumentException if it is null, not whole seconds, or out of range
     */
    public void setReportFrequency(Duration reportFrequency) {
        setReportFrequencySeconds(Times.wholeSeconds("reportFrequency", reportFrequency));
    }

    /**
     * The time between two reports.
     *
     * @return the time
     */
    public Duration getReportFrequency() {
        return Duration.ofSeconds(getReportFrequencySeconds());
    }

    /**
     * The packages of interest, mostly your own. The time of a library call is credited to the library method that they
     * called, whatever that calls in turn. Default: empty, everything is of interest.
     *
     * <p>A prefix matches whole parts of a name: {@code com.acme} matches {@code com.acme.X} and
     * {@code com.acme.sub.X}, not {@code com.acmetools.X}. A prefix that ends with {@code .} or {@code *} is taken as
     * written. {@code auto} alone means your code as it is guessed: all classes but the JDK's and those of well-known
     * frameworks.
     *
     * @param monitoredPackages prefixes separated by commas, at most 1,000 of at most 1,000 bytes each; blanks and new
     *        lines around them and empty parts are ignored
     * @throws IllegalArgumentException if it is null, has too many or too long parts, or a part has white space,
     *         control characters, a semicolon, a slash, a brace (a placeholder that was not replaced) or an asterisk
     *         that is not the last character inside
     */
    public void setMonitoredPackages(String monitoredPackages) {
        properties.set(Property.MONITORED_PACKAGES, monitoredPackages);
    }

    /**
     * The packages of interest.
     *
     * @return prefixes separated by commas, without blanks and empty parts
     */
    public String getMonitoredPackages() {
        return (String) properties.get(Property.MONITORED_PACKAGES);
    }

    /**
     * Adds a thread to those that are sampled to the exclusion of all others. A chosen thread is sampled whether it is
     * a daemon or not; one that has not been started yet is sampled from its start. The sampler holds it weakly and
     * drops it when it ends; when all chosen threads have ended, nothing is sampled. A warning in the log says that a
     * thread had ended when it was chosen, or that all had when the sampler started.
     *
     * @param thread a platform thread
     * @throws IllegalArgumentException if it is null or a virtual thread
     */
    public void setThreadToBeSampled(Thread thread) {
        properties.chooseOne("threadToBeSampled", thread);
    }

    /**
     * The thread that was chosen last.
     *
     * @return a chosen thread that has not ended, or null where there is none
     */
    public @Nullable Thread getThreadToBeSampled() {
        List<Thread> chosen = properties.chosen();
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
        properties.choose("sampleTheseThreadsOnly", threads);
    }

    /**
     * The chosen threads.
     *
     * @return those that have not ended, in the order they were chosen; empty where none was chosen
     */
    public List<Thread> getSampleTheseThreadsOnly() {
        return properties.chosen();
    }

    /**
     * Does not sample daemon threads that were not chosen. Default false: many servers work in daemon threads.
     *
     * @param skipDaemonThreads true not to sample them
     */
    public void setSkipDaemonThreads(boolean skipDaemonThreads) {
        properties.set(Property.SKIP_DAEMON_THREADS, skipDaemonThreads);
    }

    /**
     * Whether daemon threads that were not chosen are not sampled.
     *
     * @return true if they are not
     */
    public boolean isSkipDaemonThreads() {
        return (Boolean) properties.get(Property.SKIP_DAEMON_THREADS);
    }

    /**
     * Also prints rows without method time where the package changes from caller to called method. Default false:
     * a row that passes all its time on to one other row is not printed.
     *
     * @param reportZeroTimePackages true to print them
     */
    public void setReportZeroTimePackages(boolean reportZeroTimePackages) {
        properties.set(Property.REPORT_ZERO_TIME_PACKAGES, reportZeroTimePackages);
    }

    /**
     * Whether rows without method time are printed where the package changes.
     *
     * @return true if they are
     */
    public boolean isReportZeroTimePackages() {
        return (Boolean) properties.get(Property.REPORT_ZERO_TIME_PACKAGES);
    }

    /**
     * Switches sampling on and off. Default true. An inactive sampler runs but samples nothing; its configuration
     * stays in the application, at next to no cost.
     *
     * @param active false to sample nothing
     */
    public void setActive(boolean active) {
        properties.set(Property.ACTIVE, active);
    }

    /**
     * Whether sampling is switched on.
     *
     * @return false if the sampler runs but samples nothing
     */
    public boolean isActive() {
        return (Boolean) properties.get(Property.ACTIVE);
    }

    /**
     * The order of the rows below one row of a report. Default {@link ReportOrder#BY_NAME}.
     *
     * @param reportOrder the order
     * @throws IllegalArgumentException if it is null
     */
    public void setReportOrder(ReportOrder reportOrder) {
        properties.set(Property.REPORT_ORDER, reportOrder == null ? null : reportOrder.name());
    }

    /**
     * The order of the rows below one row of a report.
     *
     * @return the order
     */
    public ReportOrder getReportOrder() {
        return ReportOrder.valueOf((String) properties.get(Property.REPORT_ORDER));
    }

    /**
     * Whether each row of a report ends in its share of its thread group, as {@code , Percent: 12.3}. Default false.
     *
     * @param reportPercent true for the column
     */
    public void setReportPercent(boolean reportPercent) {
        properties.set(Property.REPORT_PERCENT, reportPercent);
    }

    /**
     * Whether each row ends in its share of its thread group.
     *
     * @return true if it does
     */
    public boolean isReportPercent() {
        return (Boolean) properties.get(Property.REPORT_PERCENT);
    }

    /**
     * The share of its group's active time below which a row of the text report is not shown by itself, in percent.
     * Default 0.5. Active time is wall time in which a thread did not wait for work. Below each row one row stands
     * for all that are too small, and for the rows below these: {@code [12 rows below 0.5 %]}, with their sum, so that
     * each row still is the sum of the rows below it and its own time. A thread group that was idle throughout has
     * its outermost row alone. 0 shows all rows. Rows of counted calls are shown in any case, and the other forms of
     * a report are not affected.
     *
     * @param reportMinPercent 0 to 100, in steps of 0.1
     * @throws IllegalArgumentException if it is out of range or between two steps
     */
    public void setReportMinPercent(double reportMinPercent) {
        properties.set(
                Property.REPORT_MIN_PER_MILLE, ReportOptions.perMille("reportMinPercent", "0", reportMinPercent));
    }

    /**
     * The share of its group's active time below which a row of the text report is not shown by itself.
     *
     * @return percent; 0: all rows are shown
     */
    public double getReportMinPercent() {
        return (Long) properties.get(Property.REPORT_MIN_PER_MILLE) / 10.0;
    }

    /**
     * How much of the sampler's own account the text report has. Default {@link ReportAccount#SHORT}: three lines, and
     * those figures that need attention.
     *
     * @param reportAccount SHORT or FULL
     * @throws IllegalArgumentException if it is null
     */
    public void setReportAccount(ReportAccount reportAccount) {
        properties.set(Property.REPORT_ACCOUNT, reportAccount == null ? null : reportAccount.name());
    }

    /**
     * How much of the sampler's own account the text report has.
     *
     * @return SHORT or FULL
     */
    public ReportAccount getReportAccount() {
        return ReportAccount.valueOf((String) properties.get(Property.REPORT_ACCOUNT));
    }

    /**
     * Whether a report begins with a summary: where the active time went, by lines of your code. Default true.
     *
     * @param reportSummary false for reports without it
     */
    public void setReportSummary(boolean reportSummary) {
        properties.set(Property.REPORT_SUMMARY, reportSummary);
    }

    /**
     * Whether a report begins with a summary.
     *
     * @return true if it does
     */
    public boolean isReportSummary() {
        return (Boolean) properties.get(Property.REPORT_SUMMARY);
    }

    /**
     * Whether a recursion is one row of the text report and of the page, which ends with
     * {@code , Recursion depth: <d>}: so a call that repeats those right above it adds no row. Amounts do not change: the
     * row has what its calls called once. Default true. Other formats have a row for each call, unless
     * {@link ReportOptions#withFoldRecursion} says otherwise.
     *
     * @param foldRecursion false for a row for each depth
     */
    public void setFoldRecursion(boolean foldRecursion) {
        properties.set(Property.FOLD_RECURSION, foldRecursion);
    }

    /**
     * Whether a recursion is one row of the text report and of the page.
     *
     * @return true if it is
     */
    public boolean isFoldRecursion() {
        return (Boolean) properties.get(Property.FOLD_RECURSION);
    }

    /**
     * The name under which the sampler is in JMX while it runs:
     * {@code com.incapsula.sampler:type=ThreadsSampler,name=<jmxName>}, see {@link ThreadsSamplerMXBean}. Where
     * another sampler has that name, {@code -2} is appended, or {@code -3} and so on. Default: null, the sampler is
     * not in JMX; the MBean server takes a tenth of a second to start where nothing else has started it.
     *
     * <p>In a JVM without the module {@code java.management} the sampler runs all the same.
     *
     * @param jmxName a name; null or blank: none
     * @throws IllegalStateException while the sampler runs
     */
    public void setJmxName(@Nullable String jmxName) {
        properties.changeWhileIdle(
                "jmxName", () -> this.jmxName = jmxName == null || jmxName.isBlank() ? null : jmxName.strip());
    }

    /**
     * The name under which the sampler is in JMX.
     *
     * @return the name, without what is appended to it; null: it is not in JMX
     */
    public @Nullable String getJmxName() {
        return jmxName;
    }

    /**
     * Whether the sampler's events are in all recordings of the JVM's flight recorder: {@code threadsampler.Interval}
     * and {@code threadsampler.HotLine}, for each interval together with its report. Default false: only in
     * recordings whose settings name them, as in
     * {@code -XX:StartFlightRecording:+threadsampler.Interval#enabled=true} (the plus is part of it). With true the
     * settings of a recording can switch them off.
     *
     * <p>In a JVM without the module {@code jdk.jfr} the sampler runs all the same.
     *
     * @param jfrEvents true to switch them on
     * @throws IllegalStateException while the sampler runs
     */
    public void setJfrEvents(boolean jfrEvents) {
        properties.changeWhileIdle("jfrEvents", () -> this.jfrEvents = jfrEvents);
    }

    /**
     * Whether the sampler's events are in all recordings.
     *
     * @return true if they are
     */
    public boolean isJfrEvents() {
        return jfrEvents;
    }

    /**
     * The most native memory the sampler may use for everything, in bytes. Default 64 MiB (67,108,864). At the limit
     * the smallest rows of each thread group, none with 0.1 % of it, become rows {@code [folded]} of their callers. If
     * there are none so small, time of new stacks goes to a row {@code [over memory limit]} of its thread group. Both
     * are counted.
     *
     * @param memoryLimitBytes 4 MiB (4,194,304) to 1 TiB (1,099,511,627,776)
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMemoryLimitBytes(long memoryLimitBytes) {
        properties.set(Property.MEMORY_LIMIT_BYTES, memoryLimitBytes);
    }

    /**
     * The most native memory the sampler may use.
     *
     * @return bytes
     */
    public long getMemoryLimitBytes() {
        return (Long) properties.get(Property.MEMORY_LIMIT_BYTES);
    }

    /**
     * How many frames of one stack are reported. Default 1024. A deeper stack keeps its first and its last frames, with
     * a row between them that says how many are missing. One that a handshake has walked, or that has more than 65,536
     * frames, keeps those of its leaf's end, below a row {@code [frames omitted]}: to read its root, a thread would be
     * stopped for as long as its stack is deep.
     *
     * @param maxDepthFrames 16 to 65,536
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxDepthFrames(int maxDepthFrames) {
        properties.set(Property.MAX_DEPTH_FRAMES, (long) maxDepthFrames);
    }

    /**
     * How many frames of one stack are reported.
     *
     * @return frames
     */
    public int getMaxDepthFrames() {
        return Math.toIntExact((Long) properties.get(Property.MAX_DEPTH_FRAMES));
    }

    /**
     * How stacks are walked. Default {@link SamplingEngine#AUTO}. {@link SamplerStatistics#getEngine()} says what is in
     * use.
     *
     * @param engine the engine
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setEngine(SamplingEngine engine) {
        properties.set(Property.ENGINE, engine == null ? null : engine.name());
    }

    /**
     * How stacks are walked.
     *
     * @return the engine
     */
    public SamplingEngine getEngine() {
        return SamplingEngine.valueOf((String) properties.get(Property.ENGINE));
    }

    /**
     * Which time is sampled. Default {@link SamplingClock#WALL}. With {@link SamplingClock#CPU} a thread is sampled
     * whenever it has used {@code samplingFrequencyMillis} of CPU time, and not while it waits: all times of a report
     * are CPU times, to within half that time for each thread, and its account says {@code clock: CPU}. The system
     * checks such timers on its own tick (mostly every 4 ms); what becomes due in between counts as one sample with
     * the time of several. {@code idleLookbackMillis} has no meaning then, {@code overheadLimitPercent} limits only
     * what a {@link ThreadNameManipulator} of yours costs, which is called for all threads, and
     * {@link #sampleOnceAndPrint()} sees running threads only. Virtual threads are one group,
     * {@code [virtual threads]}.
     *
     * <p>Each thread has a timer, which counts against the user's {@code RLIMIT_SIGPENDING} ({@code ulimit -i}). The
     * CPU time of threads past the limit is reported as {@code [no CPU timer]}, and counted.
     *
     * @param clock the clock; {@link SamplingClock#CPU} needs {@link SamplingEngine#AUTO}, and, where calls are counted,
     *     a method timing other than {@link MethodTiming#EXACT}
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setClock(SamplingClock clock) {
        properties.set(Property.CLOCK, clock == null ? null : clock.name());
    }

    /**
     * Which time is sampled.
     *
     * @return the clock
     */
    public SamplingClock getClock() {
        return SamplingClock.valueOf((String) properties.get(Property.CLOCK));
    }

    /**
     * The number of the real-time signal that makes a thread walk its own stack while it runs Java code. Default 38. It matters only
     * where other native code of this process uses the same signal: a handler that was installed before
     * {@link #init()} goes on getting its signals; a handler that is installed over the sampler's takes the sampler's
     * signals away, and their time is reported as {@code [signal not answered]}.
     *
     * <p>HotSpot and its flight recorder use no real-time signal; the JDK's class library uses 62, to wake threads that
     * wait for files and sockets; glibc reserves 32 and 33. All other numbers from 34 on are free. musl reserves 34,
     * too; valgrind uses 64. The sampler's handler stays installed when the sampler is closed, so that a signal that
     * comes late does not end the process. Samplers of one JVM may have different signals.
     *
     * @param samplingSignal 34 to 64
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setSamplingSignal(int samplingSignal) {
        properties.set(Property.SAMPLING_SIGNAL, (long) samplingSignal);
    }

    /**
     * The number of the signal that makes a running thread walk its own stack.
     *
     * @return the number
     */
    public int getSamplingSignal() {
        return Math.toIntExact((Long) properties.get(Property.SAMPLING_SIGNAL));
    }

    /**
     * The longest time between two polls of an idle thread, in milliseconds. Default 1000. No time is lost between
     * them, because the thread's CPU clock proves that it was idle; but a thread that begins to run is seen at its next
     * poll only. A shorter time costs more CPU time where many threads are idle.
     *
     * @param idleLookbackMillis 1 to 60,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setIdleLookbackMillis(long idleLookbackMillis) {
        properties.set(Property.IDLE_LOOKBACK_MILLIS, idleLookbackMillis);
    }

    /**
     * The longest time between two polls of an idle thread.
     *
     * @return milliseconds
     */
    public long getIdleLookbackMillis() {
        return (Long) properties.get(Property.IDLE_LOOKBACK_MILLIS);
    }

    /**
     * The same as {@link #setIdleLookbackMillis}.
     *
     * @param idleLookback whole milliseconds
     * @throws IllegalArgumentException if it is null, not whole milliseconds, or out of range
     */
    public void setIdleLookback(Duration idleLookback) {
        setIdleLookbackMillis(Times.wholeMillis("idleLookback", idleLookback));
    }

    /**
     * The longest time between two polls of an idle thread.
     *
     * @return the time
     */
    public Duration getIdleLookback() {
        return Duration.ofMillis(getIdleLookbackMillis());
    }

    /**
     * The CPU time the sampling thread may use, in percent of one core. Default 1.0. Past the limit the sampler polls a
     * random part of the threads at each tick. The polls it makes count for those it skips, so totals and shares stay
     * unbiased, and the account counts the skipped ones. Writing reports is not part of it.
     *
     * <p>A start may use the limit of ten seconds more, at most 100 ms of CPU time, once: in a new JVM the sampler
     * meets each method and each stack for the first time. The probes of counted calls have a limit of the same size
     * for themselves: past it {@linkplain #setRootMethods short methods} lose theirs; with 100 none does, whatever the
     * probes cost.
     *
     * @param overheadLimitPercent 0.1 to 100, in steps of 0.1
     * @throws IllegalArgumentException if it is out of range or between two steps
     */
    public void setOverheadLimitPercent(double overheadLimitPercent) {
        properties.set(
                Property.OVERHEAD_LIMIT_PER_MILLE,
                ReportOptions.perMille("overheadLimitPercent", "0.1", overheadLimitPercent));
    }

    /**
     * The CPU time the sampling thread may use.
     *
     * @return percent of one core
     */
    public double getOverheadLimitPercent() {
        return (Long) properties.get(Property.OVERHEAD_LIMIT_PER_MILLE) / 10.0;
    }

    /**
     * Prints the CPU time of each row behind its other figures. Default false. CPU time is cumulative, as the first
     * figure is; that of a thread group is what the CPU clocks of its threads say.
     *
     * @param reportCpuTime true to print it
     */
    public void setReportCpuTime(boolean reportCpuTime) {
        properties.set(Property.REPORT_CPU_TIME, reportCpuTime);
    }

    /**
     * Whether CPU time is printed.
     *
     * @return true if it is
     */
    public boolean isReportCpuTime() {
        return (Boolean) properties.get(Property.REPORT_CPU_TIME);
    }

    /**
     * Prints each row's time by state behind its other figures, of the states that are not 0:
     * {@code , Running time(ms): 120, Blocked 30}. Default false. The states are running, runnable (wants a CPU),
     * blocked (waits for a lock), I/O, waiting and idle (waits for work); their sum is the row's wall time.
     *
     * @param reportStates true to print them
     */
    public void setReportStates(boolean reportStates) {
        properties.set(Property.REPORT_STATES, reportStates);
    }

    /**
     * Whether the time by state is printed.
     *
     * @return true if it is
     */
    public boolean isReportStates() {
        return (Boolean) properties.get(Property.REPORT_STATES);
    }

    /**
     * Methods in which a thread that waits does I/O, whatever it calls there: {@code com.acme.Driver.read}, or a class
     * or package as in {@link #setMonitoredPackages}. Default none. Those of the JDK are known. May change while the
     * sampler runs.
     *
     * @param ioMethods names, comma-separated; "" for none
     * @throws IllegalArgumentException as {@link #setMonitoredPackages} does
     */
    public void setIoMethods(String ioMethods) {
        properties.set(Property.IO_METHODS, ioMethods);
    }

    /**
     * The methods in which a thread that waits does I/O.
     *
     * @return names, comma-separated; "" for none
     */
    public String getIoMethods() {
        return (String) properties.get(Property.IO_METHODS);
    }

    /**
     * Methods in which a thread that waits is idle, because it waits for work: as {@link #setIoMethods}.
     *
     * @param idleMethods names, comma-separated; "" for none
     * @throws IllegalArgumentException as {@link #setMonitoredPackages} does
     */
    public void setIdleMethods(String idleMethods) {
        properties.set(Property.IDLE_METHODS, idleMethods);
    }

    /**
     * The methods in which a thread that waits is idle.
     *
     * @return names, comma-separated; "" for none
     */
    public String getIdleMethods() {
        return (String) properties.get(Property.IDLE_METHODS);
    }

    /**
     * Reports the CPU time of threads that are not Java's as the group {@code [JVM]}: a row for garbage collection,
     * one for the compilers, and so on. Default true. There, time is CPU time. Where threads have been chosen, reports
     * do not have the group.
     *
     * @param reportJvmThreads false for reports without the group
     */
    public void setReportJvmThreads(boolean reportJvmThreads) {
        properties.set(Property.REPORT_JVM_THREADS, reportJvmThreads);
    }

    /**
     * Whether the JVM's own threads are reported.
     *
     * @return true if they are
     */
    public boolean isReportJvmThreads() {
        return (Boolean) properties.get(Property.REPORT_JVM_THREADS);
    }

    /**
     * Samples virtual threads that are not mounted on a carrier as well: those that wait, and those that wait for a
     * carrier. Default false: only mounted ones are in the report. About ten times a second some of all virtual threads
     * are drawn at random, at most 200 a second, and those that are not mounted are walked; none is stopped for that.
     * The wall time of each stack is that of all the threads it stands for, so the times of a group add up to the time
     * that all its threads have lived. They are estimates: of two thousand stacks, a share of one half is right within
     * 2.2 points 95 times of 100. The number of threads is exact, except for executors whose thread factory is not the
     * JDK's own.
     *
     * <p>Needs JDK 25 or later, and the system property {@code jdk.trackAllThreads} not to be false. Otherwise the
     * sampler warns once and runs on without these threads; {@link SamplerStatistics#getEngine()} has the reason.
     * Threads forked in a {@code StructuredTaskScope} are not found. No effect with {@link SamplingClock#CPU} or
     * {@link #setSkipDaemonThreads} (virtual threads are daemons), or while threads are chosen. May change while the
     * sampler runs.
     *
     * @param sampleUnmountedVirtualThreads true to sample them
     */
    public void setSampleUnmountedVirtualThreads(boolean sampleUnmountedVirtualThreads) {
        properties.set(Property.SAMPLE_UNMOUNTED_VIRTUAL_THREADS, sampleUnmountedVirtualThreads);
    }

    /**
     * Whether virtual threads that are not mounted are sampled.
     *
     * @return true if they are
     */
    public boolean isSampleUnmountedVirtualThreads() {
        return (Boolean) properties.get(Property.SAMPLE_UNMOUNTED_VIRTUAL_THREADS);
    }

    /**
     * From which methods down calls are counted, exactly. Default: empty, no class is touched unless the
     * {@linkplain #setInstrumentation instrumentation} is TOTAL. With roots, reports have a record
     * {@code Counted thread: <group>} for each group: the tree of calls from these methods down, with the number of
     * calls and their time.
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
     * <p>A root that is not loaded yet is counted from its first call on. A misspelt one is in the report's account as
     * {@code not loaded yet}. Calls that run while the sampler starts are not counted, the next ones are. One
     * sampler of a JVM counts; another one warns and samples only. Counting may use half of {@code memoryLimitBytes} on
     * top of that limit.
     *
     * <p>Methods that are called often and are short lose their probes past {@code overheadLimitPercent}; the account
     * counts them and names the first 20. So do roots that a {@code *} or {@code **} stands for, and those that TOTAL
     * has without this property, if their calls of the last second were short as a whole. What an outermost root called
     * is then not counted any more. A root that is also named without a star keeps its probes.
     *
     * @param rootMethods methods separated by commas, at most 1,000 of at most 1,000 bytes; empty: none
     * @throws IllegalArgumentException if it is null, or what can be no method, with the reason
     * @throws IllegalStateException while the sampler runs
     */
    public void setRootMethods(String rootMethods) {
        properties.set(Property.ROOT_METHODS, rootMethods);
    }

    /**
     * From which methods down calls are counted.
     *
     * @return methods separated by commas; empty: none
     */
    public String getRootMethods() {
        return (String) properties.get(Property.ROOT_METHODS);
    }

    /**
     * Which methods below the {@link #setRootMethods root methods} are counted, and from when on. Default
     * {@link Instrumentation#AUTO}.
     *
     * @param instrumentation the scheme
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setInstrumentation(Instrumentation instrumentation) {
        properties.set(Property.INSTRUMENTATION, instrumentation == null ? null : instrumentation.name());
    }

    /**
     * Which methods below the root methods are counted.
     *
     * @return the scheme
     */
    public Instrumentation getInstrumentation() {
        return Instrumentation.valueOf((String) properties.get(Property.INSTRUMENTATION));
    }

    /**
     * The classes with the methods that are counted where a root calls them. Default: empty, all but those of the JDK
     * ({@code java. javax. jdk. sun. com.sun.}). A root is counted whatever this says.
     *
     * <pre>
     * com.acme, -com.acme.util    below com.acme, but not below com.acme.util
     * -com.acme.util              all but the JDK and com.acme.util
     * </pre>
     *
     * @param instrumentationFilter prefixes separated by commas, with a minus before those to leave out
     * @throws IllegalArgumentException if it is null, or what can be no prefix, with the reason
     * @throws IllegalStateException while the sampler runs
     */
    public void setInstrumentationFilter(String instrumentationFilter) {
        properties.set(Property.INSTRUMENTATION_FILTER, instrumentationFilter);
    }

    /**
     * The classes with the methods that are counted where a root calls them.
     *
     * @return prefixes separated by commas; empty: all but the JDK's
     */
    public String getInstrumentationFilter() {
        return (String) properties.get(Property.INSTRUMENTATION_FILTER);
    }

    /**
     * Where the times of counted calls come from. Default {@link MethodTiming#SAMPLED}.
     *
     * @param methodTiming the timing
     * @throws IllegalArgumentException if it is null
     * @throws IllegalStateException while the sampler runs
     */
    public void setMethodTiming(MethodTiming methodTiming) {
        properties.set(Property.METHOD_TIMING, methodTiming == null ? null : methodTiming.name());
    }

    /**
     * Where the times of counted calls come from.
     *
     * @return the timing
     */
    public MethodTiming getMethodTiming() {
        return MethodTiming.valueOf((String) properties.get(Property.METHOD_TIMING));
    }

    /**
     * Whether reports know how far chance may have moved each of their times: {@link SamplingRow#getError95}, and the
     * error bars of TOP, JSON and the page. Default true. A change takes effect with the next interval.
     *
     * @param errorBars false to leave them out, which saves 12 bytes for each row
     */
    public void setErrorBars(boolean errorBars) {
        properties.set(Property.ERROR_BARS, errorBars);
    }

    /**
     * Whether reports know how far chance may have moved each of their times.
     *
     * @return true if they do
     */
    public boolean isErrorBars() {
        return (Boolean) properties.get(Property.ERROR_BARS);
    }

    /**
     * Whether counts begin at zero, as with {@link #resetCollectedResults()}, once no method was newly instrumented for
     * three seconds. Default false. While methods are instrumented the JVM interprets code that it had compiled, so
     * times of that while are not those of a warm program.
     *
     * @param discardWarmUp true to do so, once
     */
    public void setDiscardWarmUp(boolean discardWarmUp) {
        properties.set(Property.DISCARD_WARM_UP, discardWarmUp);
    }

    /**
     * Whether counts begin at zero once no method was newly instrumented for three seconds.
     *
     * @return true if they do
     */
    public boolean isDiscardWarmUp() {
        return (Boolean) properties.get(Property.DISCARD_WARM_UP);
    }

    /**
     * How many methods are counted at most. Default 32,768. Where more could be, roots and the methods that are called
     * most are counted; each other one is tried for some seconds. Those beyond are counted as part of their callers; the
     * account has their number.
     *
     * @param maxCountedMethods 1 to 1,048,576
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxCountedMethods(int maxCountedMethods) {
        properties.set(Property.MAX_COUNTED_METHODS, (long) maxCountedMethods);
    }

    /**
     * How many methods are counted at most.
     *
     * @return the number
     */
    public int getMaxCountedMethods() {
        return Math.toIntExact((Long) properties.get(Property.MAX_COUNTED_METHODS));
    }

    /**
     * How many nodes a thread's tree of calls has at most, 96 bytes each. Default 100,000. Calls that have no place in
     * it are counted in the account.
     *
     * @param maxCallNodes 64 to 100,000,000
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxCallNodes(int maxCallNodes) {
        properties.set(Property.MAX_CALL_NODES, (long) maxCallNodes);
    }

    /**
     * How many nodes a thread's tree of calls has at most.
     *
     * @return the number
     */
    public int getMaxCallNodes() {
        return Math.toIntExact((Long) properties.get(Property.MAX_CALL_NODES));
    }

    /**
     * How deep a thread's tree of calls is at most. Default 1,000. Deeper calls are counted in the account.
     *
     * @param maxCallDepth 1 to 1,000,000
     * @throws IllegalArgumentException if it is out of range
     * @throws IllegalStateException while the sampler runs
     */
    public void setMaxCallDepth(int maxCallDepth) {
        properties.set(Property.MAX_CALL_DEPTH, (long) maxCallDepth);
    }

    /**
     * How deep a thread's tree of calls is at most.
     *
     * @return calls
     */
    public int getMaxCallDepth() {
        return Math.toIntExact((Long) properties.get(Property.MAX_CALL_DEPTH));
    }

    /**
     * Where reports go. Default: a {@link PrintStreamSamplingOutputer} on what is standard output at {@link #init()}.
     * Takes effect with the next report. The sampler closes the outputer that is set when it is closed itself, unless
     * {@link #setCloseOutputer closeOutputer} is false; it does not close one that was replaced. Whether a closed outputer can serve a sampler that is started again depends on
     * the outputer.
     *
     * @param samplingOutputer the outputer
     * @throws IllegalArgumentException if it is null
     */
    public void setSamplingOutputer(SamplingOutputer samplingOutputer) {
        properties.setOutputer(samplingOutputer);
    }

    /**
     * Where reports go.
     *
     * @return the outputer, never null
     */
    public SamplingOutputer getSamplingOutputer() {
        return properties.outputer();
    }

    /**
     * How many thread groups a report shows. Default 500. Of more groups, those with the least time that is not idle are
     * shown as one, {@code [other threads]}, whose line says how many groups and threads it holds; no time is lost. So a
     * report stays readable if each task has a thread name of its own. Takes effect with the next report.
     *
     * @param maxGroups 1 to 20,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setMaxGroups(int maxGroups) {
        properties.set(Property.MAX_GROUPS, (long) maxGroups);
    }

    /**
     * How many thread groups a report shows.
     *
     * @return groups
     */
    public int getMaxGroups() {
        return Math.toIntExact((Long) properties.get(Property.MAX_GROUPS));
    }

    /**
     * How threads are grouped. Default: a {@link RegexThreadNameManipulator}, which removes numbers and identifiers from names; that
     * rule runs without a call into Java. While the sampler runs, the manipulator's {@code init()} is called first.
     *
     * @param threadNameManipulator the manipulator
     * @throws IllegalArgumentException if it is null
     */
    public void setThreadNameManipulator(ThreadNameManipulator threadNameManipulator) {
        properties.setManipulator(threadNameManipulator);
    }

    /**
     * How threads are grouped.
     *
     * @return the manipulator, never null
     */
    public ThreadNameManipulator getThreadNameManipulator() {
        return properties.manipulator();
    }
}
