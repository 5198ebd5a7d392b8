// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Figure;
import com.incapsula.sampler.internal.engine.RawGroups;
import com.incapsula.sampler.internal.engine.RawReport;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.json.JsonParser;
import com.incapsula.sampler.internal.json.MalformedJson;
import com.incapsula.sampler.internal.report.Content;
import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.internal.report.StaysOpen;
import com.incapsula.sampler.internal.report.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPOutputStream;

/**
 * What was sampled in one interval, to be read and to be written in the forms that other tools open.
 * {@link ThreadsSampler#snapshot()} and a {@link SamplingCursor} give reports, and
 * {@link com.incapsula.sampler.outputer.SamplingOutputer#report} receives them.
 *
 * <pre>{@code
 * try (SamplingReport report = sampler.snapshot()) {
 *     report.writeTo(ReportFormat.HTML, Path.of("report.html"));
 * }
 * }</pre>
 *
 * <p>A report does not change while the sampler goes on, and it can be used after the sampler was closed. It holds
 * native memory, part of the sampler's {@code memoryLimitBytes}, until it is closed; a report that is forgotten is
 * freed some time after the garbage collector has found it.
 *
 * <p>Threads: any; several may write it at the same time. {@link #close()} does not wait for them; they finish.
 *
 * @since 1.0
 */
public final class SamplingReport implements AutoCloseable {

    private static final int GZIP_BUFFER_BYTES = 16 * 1024;

    private final Snapshot snapshot;
    private final ReportOptions options;
    private final SamplingStatus status;
    private final RawReport raw;
    private final List<SamplingGroup> groups;
    private final List<SamplingGroup> countedGroups;
    private final List<SamplingGroup> lockHolders;
    private final Map<String, Long> outcomes = new LinkedHashMap<>();
    private final Map<String, Long> counters = new LinkedHashMap<>();
    private boolean closed; // guarded by this

    /** @param snapshot held by the report from now on; where this fails, by the caller as before */
    SamplingReport(Snapshot snapshot, ReportOptions options, SamplingStatus status) {
        this.snapshot = snapshot;
        this.options = options;
        this.status = status;
        this.raw = snapshot.figures();
        this.groups = groups(raw.groups(), raw.measures());
        this.countedGroups = groups(raw.counted(), raw.measures());
        this.lockHolders = groups(raw.holders(), raw.measures());
        for (int i = 0; i < raw.accountNames().size(); i++) {
            sort(raw.accountNames().get(i), raw.account()[i]);
        }
    }

    private static List<SamplingGroup> groups(RawGroups raw, List<String> measures) {
        List<SamplingGroup> groups = new ArrayList<>(raw.names().size());
        for (int i = 0; i < raw.names().size(); i++) {
            groups.add(new SamplingGroup(raw.names().get(i), measures, raw.figuresOf(i)));
        }
        return Collections.unmodifiableList(groups);
    }

    /* Drops a name of no known kind: figures that an older class does not know are no reason to fail. */
    private void sort(String name, long value) {
        if (name.startsWith("outcome.")) {
            outcomes.put(name.substring("outcome.".length()), value);
        } else if (name.startsWith("counter.")) {
            counters.put(name.substring("counter.".length()), value);
        }
    }

    /**
     * Makes one report of two, of the same sampler or of different ones, in any order: times and counts add up. What is
     * so at the end of an interval, such as roots that are not loaded yet, is that of the one that ends later. Neither
     * changes, and the caller still has to close both.
     *
     * @param a one
     * @param b the other
     * @return a new report from the earlier begin to the later end; written with the options of {@code a}
     * @throws IllegalArgumentException if one is null, or one is by the wall clock and the other by CPU clocks
     * @throws IllegalStateException if one is closed
     * @throws OutOfMemoryError if there is no memory for it
     */
    public static SamplingReport merge(SamplingReport a, SamplingReport b) {
        requireNotNull("a", a);
        requireNotNull("b", b);
        Snapshot first = a.hold();
        try {
            Snapshot second = b.hold();
            try {
                return ofMerged(first.mergedWith(second), a.options, a.status.with(b.status));
            } finally {
                second.release();
            }
        } finally {
            first.release();
        }
    }

    private static SamplingReport ofMerged(Snapshot merged, ReportOptions options, SamplingStatus status) {
        try {
            return new SamplingReport(merged, options, status);
        } catch (RuntimeException | Error e) {
            merged.release();
            throw e;
        }
    }

    /**
     * Compares two reports. Both may be closed afterwards.
     *
     * @param before what was
     * @param after what is
     * @return the difference, to be closed
     * @throws IllegalArgumentException if one is null
     * @throws IllegalStateException if one is closed
     */
    public static SamplingDiff diff(SamplingReport before, SamplingReport after) {
        requireNotNull("before", before);
        requireNotNull("after", after);
        Snapshot first = before.hold();
        Snapshot second = null;
        try {
            second = after.hold();
        } finally {
            if (second == null) {
                first.release();
            }
        }
        return new SamplingDiff(first, second);
    }

    static void requireNotNull(String name, Object value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " must not be null");
        }
    }

    /**
     * Where it begins, by the wall clock.
     *
     * @return to the millisecond
     */
    public Instant getFrom() {
        return Instant.ofEpochMilli(Figure.FROM.of(raw));
    }

    /**
     * Where it ends, by the wall clock.
     *
     * @return to the millisecond
     */
    public Instant getTill() {
        return Instant.ofEpochMilli(Figure.TILL.of(raw));
    }

    /**
     * The time that was covered: by the monotonic clock and without pauses.
     *
     * @return not negative
     */
    public Duration getElapsed() {
        return Duration.ofNanos(Figure.ELAPSED.of(raw));
    }

    /**
     * The thread groups.
     *
     * @return in descending wall time; not modifiable
     */
    public List<SamplingGroup> getGroups() {
        return groups;
    }

    /**
     * The thread groups in which calls are counted ({@code rootMethods}). Their trees have the counted methods only,
     * and begin at root methods. Their times are in the sampled group of the same name, too: do not add the two.
     *
     * @return in descending wall time; not modifiable; empty where no calls are counted
     */
    public List<SamplingGroup> getCountedGroups() {
        return countedGroups;
    }

    /**
     * The thread groups whose threads have held locks that other threads waited for. Their wall time is the time for
     * which those threads were {@code blocked}, at the stacks that the holders had meanwhile; {@link
     * SamplingGroup#getThreads()} is how many threads have waited. All of them together have the {@code blocked} time of
     * {@link #getMeasures()}. Holders that are not known are in the group {@code [unknown]}, in rows that say why.
     *
     * @return in descending wall time; not modifiable; empty where no thread was blocked
     */
    public List<SamplingGroup> getLockHolders() {
        return lockHolders;
    }

    /**
     * Reads the locks that threads waited for: by the class of the lock, the line that waited, and the line that held
     * the lock. It is the time of {@link #getLockHolders()}, without what is not known of a wait.
     *
     * @return in descending time; not modifiable; empty where no thread was blocked
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingLock> getLocks() {
        return SamplingLock.of(withoutNodes(Snapshot.WITHOUT_SUMMARY));
    }

    /**
     * Summarises the report: where the active time went, by lines of your code. Your code is what
     * {@code monitoredPackages} names; else it is guessed: the packages of the main class, and all that is neither the
     * JDK's nor a known framework's. Text reports begin with {@link SamplingSummary#toString()}.
     *
     * @return whatever {@code reportSummary} is
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for it
     */
    public SamplingSummary getSummary() {
        return SamplingSummary.of(withoutNodes(0));
    }

    /**
     * Reads the lines of your code with the most active time, each in one state and one thread group: more than the
     * summary's, which are of all groups together. Your code is as in {@link #getSummary()}.
     *
     * @return in descending time: at most 64, and each has a thousandth of the active time or more; not modifiable
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingHotSpot> getHotSpots() {
        return SamplingSummary.of(withoutNodes(Snapshot.SPOTS_BY_GROUP)).getHotSpots();
    }

    /** @return what JSON has besides frames and nodes */
    private Object withoutNodes(int flags) {
        Snapshot held = hold();
        try {
            ByteArrayOutputStream json = new ByteArrayOutputStream();
            held.write(ReportFormat.JSON.ordinal(), ReportMeasure.WALL.ordinal(), Snapshot.WITHOUT_NODES | flags, json);
            return JsonParser.parse(json.toString(StandardCharsets.UTF_8));
        } catch (IOException | MalformedJson e) {
            throw new IllegalStateException(e); // neither comes from memory
        } finally {
            held.release();
        }
    }

    /**
     * Reads the root rows of a thread group; {@link SamplingRow#children()} and {@link SamplingRow#stream()} read on
     * from there. Nothing is left out and nothing is shortened, unlike in {@link ReportFormat#TEXT}, so amounts of rows
     * add up exactly to those of their group.
     *
     * <pre>{@code
     * for (SamplingGroup group : report.getGroups()) {
     *     long inDatabase = report.rows(group).stream()
     *             .flatMap(SamplingRow::stream)
     *             .filter(row -> row.getClassName().startsWith("com.example.db."))
     *             .mapToLong(SamplingRow::getOwnWallNanos)
     *             .sum();
     *     if (inDatabase > group.getWallNanos() / 2) {
     *         alert(group.getName() + " waits for the database");
     *     }
     * }
     * }</pre>
     *
     * @param group one of {@link #getGroups()}, {@link #getCountedGroups()} or {@link #getLockHolders()} of this report
     * @return in descending wall time; not modifiable; empty for a group without a stack
     * @throws IllegalArgumentException if the group is null or of another report
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingRow> rows(SamplingGroup group) {
        requireNotNull("group", group);
        if (!isOwn(groups, group) && !isOwn(countedGroups, group) && !isOwn(lockHolders, group)) {
            throw new IllegalArgumentException("group " + group.getName() + " is of another report");
        }
        return group.root() == 0 ? requireOpen(List.of()) : rowsBelow(group.root());
    }

    private static boolean isOwn(List<SamplingGroup> own, SamplingGroup group) {
        return own.stream().anyMatch(each -> each == group);
    }

    private <T> T requireOpen(T result) {
        hold().release();
        return result;
    }

    /** The rows right below a node. */
    List<SamplingRow> rowsBelow(long node) {
        Snapshot held = hold();
        try {
            return held.children(node).stream()
                    .map(row -> new SamplingRow(this, raw.measures(), row))
                    .toList();
        } finally {
            held.release();
        }
    }

    /**
     * The wall time of all groups.
     *
     * @return nanoseconds
     */
    public long getWallNanos() {
        return raw.total(ReportMeasure.WALL);
    }

    /**
     * The options its sampler had when it was made, with which it is written by default.
     *
     * @return the options
     */
    public ReportOptions getOptions() {
        return options;
    }

    /**
     * How the stacks were walked, as of the time when the report was made.
     *
     * @return INERT where nothing was sampled
     */
    public SamplingMode getMode() {
        return status.mode();
    }

    /**
     * What was not done in the best way.
     *
     * @return in no particular order; not modifiable
     */
    public List<SamplingLimitation> getLimitations() {
        return status.limitations();
    }

    /**
     * Whether it is the report of a sampler that cannot sample.
     *
     * @return true if {@link #getMode()} is INERT; {@link #getLimitations()} has the cause
     */
    public boolean isInert() {
        return getMode() == SamplingMode.INERT;
    }

    /**
     * Which time was sampled.
     *
     * @return CPU if all times of the report are CPU times; WALL also where nothing is sampled
     */
    public SamplingClock getClock() {
        return Figure.CPU_CLOCK.of(raw) != 0 ? SamplingClock.CPU : SamplingClock.WALL;
    }

    /**
     * The CPU time of all groups; 0 where the engine does not measure it.
     *
     * @return nanoseconds
     */
    public long getCpuNanos() {
        return raw.total(ReportMeasure.CPU);
    }

    /**
     * How often a thread's stack was obtained, in all groups. A poll gives a sample if the thread was walked, if its
     * stack was recovered, or if the thread had not run, so that its stack was still the last one: the outcomes whose
     * texts in the account begin with "samples taken", "recovered" or "credited as idle". Failed and skipped polls give
     * none, though their time is in the report. It is the sum of what every form of the report shows as samples.
     *
     * @return the number, at most {@link #getPolls()}
     */
    public long getSamples() {
        return raw.total(ReportMeasure.SAMPLES);
    }

    /**
     * The totals of all measures over all groups, by the names that they have in the JSON form: {@code wall},
     * {@code cpu}, {@code samples}, {@code calls} (0 where no calls are counted), the states {@code running},
     * {@code runnable}, {@code blocked}, {@code io}, {@code waiting} and {@code idle}, whose sum is the wall time (0 by
     * {@link SamplingClock#CPU}), and what later releases measure.
     *
     * @return nanoseconds of times, else how many; in the core's order, not modifiable; empty where nothing is sampled
     */
    public Map<String, Long> getMeasures() {
        Map<String, Long> totals = new LinkedHashMap<>();
        for (int i = 0; i < raw.measures().size(); i++) {
            totals.put(raw.measures().get(i), raw.total(i));
        }
        return Collections.unmodifiableMap(totals);
    }

    /**
     * How often a thread was polled or a poll of it was skipped.
     *
     * @return the sum of {@link #getOutcomes()}
     */
    public long getPolls() {
        return Figure.POLLS.of(raw);
    }

    /**
     * How polls ended.
     *
     * @return every outcome there is with its count, 0 included, in the order of the sampler's account, by its code,
     *         such as {@code THREAD_UNIDENTIFIED}; codes are stable, the glossary in {@code java/REFERENCE.md} says what
     *         each means; not modifiable
     */
    public Map<String, Long> getOutcomes() {
        return Collections.unmodifiableMap(outcomes);
    }

    /**
     * Counts of everything that is not a poll: ticks, late ticks, failed reports and others.
     *
     * @return as {@link #getOutcomes()}
     */
    public Map<String, Long> getCounters() {
        return Collections.unmodifiableMap(counters);
    }

    /**
     * The sampler's account: outcomes, then counters.
     *
     * @return those that are not 0, in the order in which a report prints them; a copy
     */
    public Map<String, Long> getAccount() {
        Map<String, Long> account = new LinkedHashMap<>(outcomes);
        account.putAll(counters);
        account.values().removeIf(value -> value == 0);
        return account;
    }

    /**
     * CPU time the sampler itself used.
     *
     * @return nanoseconds
     */
    public long getOwnCpuNanos() {
        return Figure.OWN_CPU.of(raw);
    }

    /**
     * Native memory the sampler used when the report was made.
     *
     * @return bytes
     */
    public long getMemoryUsedBytes() {
        return Figure.MEMORY_USED.of(raw);
    }

    /**
     * The limit of native memory.
     *
     * @return bytes
     */
    public long getMemoryLimitBytes() {
        return Figure.MEMORY_LIMIT.of(raw);
    }

    /**
     * The size of the call trees.
     *
     * @return nodes
     */
    public long getNodes() {
        return Figure.NODES.of(raw);
    }

    /**
     * Writes the report with the options its sampler had when it was made: order, rows and columns as in the sampler's
     * own reports, and wall time as the measure.
     *
     * @param format the form
     * @param out where to; flushed, not closed
     * @throws IOException what the stream throws; a part may have been written
     * @throws IllegalArgumentException if an argument is null
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory to work with; a part may have been written
     */
    public void writeTo(ReportFormat format, OutputStream out) throws IOException {
        writeTo(format, options, out);
    }

    /**
     * Writes the report.
     *
     * @param format the form
     * @param chosen options; the format ignores those that do not concern it
     * @param out where to; flushed, not closed
     * @throws IOException as {@link #writeTo(ReportFormat, OutputStream)}
     */
    public void writeTo(ReportFormat format, ReportOptions chosen, OutputStream out) throws IOException {
        requireNotNull("format", format);
        requireNotNull("options", chosen);
        requireNotNull("out", out);
        Snapshot held = hold();
        try {
            write(held, format, chosen, out);
        } finally {
            held.release();
        }
    }

    /**
     * Writes the report into a file, which appears whole or not at all: a file that was there stays as it is until it
     * is replaced, and nothing is left behind where that fails.
     *
     * @param format the form
     * @param file the file; its folder must be there
     * @throws IOException with the file's name and the reason
     * @throws IllegalArgumentException if an argument is null
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory to work with
     */
    public void writeTo(ReportFormat format, Path file) throws IOException {
        writeTo(format, options, file);
    }

    /**
     * Writes the report into a file, with options.
     *
     * @param format the form
     * @param chosen options; the format ignores those that do not concern it
     * @param file the file; its folder must be there
     * @throws IOException as {@link #writeTo(ReportFormat, Path)}
     */
    public void writeTo(ReportFormat format, ReportOptions chosen, Path file) throws IOException {
        requireNotNull("file", file);
        Snapshot held = hold();
        try {
            WholeFile.write(file, out -> writeTo(format, chosen, out));
        } finally {
            held.release();
        }
    }

    /**
     * The report as a string. For reports of a moderate size.
     *
     * @param format a text form
     * @return the text
     * @throws IllegalArgumentException if the format is null or binary
     * @throws IllegalStateException if the report is closed
     */
    public String toString(ReportFormat format) {
        requireNotNull("format", format);
        if (format.isBinary()) {
            throw new IllegalArgumentException(format + " is no text");
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            writeTo(format, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Time, and the number of groups and samples. */
    @Override
    public String toString() {
        return "SamplingReport[from=" + getFrom() + ", till=" + getTill() + ", groups=" + groups.size() + ", samples="
                + getSamples() + "]";
    }

    /** Gives the memory back; the figures can still be read. Does nothing the second time. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        snapshot.release();
    }

    /** @return the snapshot, held for the caller */
    Snapshot hold() {
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the report is closed");
            }
            return snapshot.hold();
        }
    }

    private static void write(Snapshot held, ReportFormat format, ReportOptions chosen, OutputStream out)
            throws IOException {
        if (format == ReportFormat.HTML) {
            HtmlPage.write(out, new PageData(held, chosen));
        } else if (format == ReportFormat.PPROF) {
            try (OutputStream packed = new GZIPOutputStream(new StaysOpen(out), GZIP_BUFFER_BYTES)) {
                writeRaw(held, format, chosen, packed);
            }
        } else {
            writeRaw(held, format, chosen, out);
        }
        out.flush();
    }

    /** No lambda, which a JVM that exits would link. */
    private static final class PageData implements Content {

        private final Snapshot held;
        private final ReportOptions chosen;

        PageData(Snapshot held, ReportOptions chosen) {
            this.held = held;
            this.chosen = chosen;
        }

        @Override
        public void writeTo(OutputStream out) throws IOException {
            writeRaw(held, ReportFormat.HTML, chosen, out);
        }
    }

    static void writeRaw(Snapshot held, ReportFormat format, ReportOptions chosen, OutputStream out)
            throws IOException {
        ReportFormat written = format == ReportFormat.HTML ? ReportFormat.JSON : format;
        held.write(written.ordinal(), chosen.measureCode(), chosen.flagsOf(format), chosen.getFocus(), out);
    }
}
