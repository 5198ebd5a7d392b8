// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.RawReport;
import com.incapsula.sampler.internal.engine.RawReport.Figure;
import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.json.JsonParser;
import com.incapsula.sampler.internal.json.MalformedJson;
import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.internal.report.WholeFile;
import com.incapsula.sampler.internal.report.Writable;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
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
 * The data of one interval, to be read, or written in the formats of other tools. {@link ThreadsSampler#snapshot()} and
 * a {@link SamplingCursor} return reports, and {@link com.incapsula.sampler.outputer.SamplingOutputer#report} receives
 * them.
 *
 * <pre>{@code
 * try (SamplingReport report = sampler.snapshot()) {
 *     report.writeTo(ReportFormat.HTML, Path.of("report.html"));
 * }
 * }</pre>
 *
 * <p>A report does not change while the sampler goes on, and it can be used after the sampler was closed. It holds
 * native memory, part of the sampler's {@code memoryLimitBytes}, until it is closed. If it is not closed, its memory is
 * freed some time after the garbage collector has found it.
 *
 * <p>Threads: any; several threads may write the report at the same time. {@link #close()} does not wait for them, and
 * they finish.
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

    /** @param snapshot held by the report from now on; if this constructor fails, still held by the caller */
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

    private static List<SamplingGroup> groups(RawReport.Groups raw, List<String> measures) {
        List<SamplingGroup> groups = new ArrayList<>(raw.names().size());
        for (int i = 0; i < raw.names().size(); i++) {
            groups.add(new SamplingGroup(raw.names().get(i), measures, raw.figuresOf(i)));
        }
        return Collections.unmodifiableList(groups);
    }

    /* Ignores a name of unknown kind: a newer core may have figures that this class does not know. */
    private void sort(String name, long value) {
        if (name.startsWith("outcome.")) {
            outcomes.put(name.substring("outcome.".length()), value);
        } else if (name.startsWith("counter.")) {
            counters.put(name.substring("counter.".length()), value);
        }
    }

    /**
     * Merges two reports, of the same sampler or of different ones, in any order: times and counts add up. Figures that
     * describe the end of an interval, such as root methods that are not loaded yet, come from the report that ends
     * later. Neither report changes, and the caller still has to close both.
     *
     * @param a one report
     * @param b the other report
     * @return a new report from the earlier begin to the later end; written with the options of {@code a}
     * @throws IllegalArgumentException if one is null, or one has wall times and the other CPU times
     * @throws IllegalStateException if one is closed
     * @throws OutOfMemoryError if there is no memory for it
     */
    public static SamplingReport merge(SamplingReport a, SamplingReport b) {
        Values.notNull("a", a);
        Values.notNull("b", b);
        Snapshot first = a.hold();
        try {
            Snapshot second = b.hold();
            try {
                return first.mergedWith(second)
                        .heldBy(merged -> new SamplingReport(merged, a.options, a.status.with(b.status)));
            } finally {
                second.release();
            }
        } finally {
            first.release();
        }
    }

    /**
     * Compares two reports. Both may be closed afterwards.
     *
     * @param before the earlier report
     * @param after the later report
     * @return the difference, to be closed
     * @throws IllegalArgumentException if one is null
     * @throws IllegalStateException if one is closed
     */
    public static SamplingDiff diff(SamplingReport before, SamplingReport after) {
        Values.notNull("before", before);
        Values.notNull("after", after);
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

    /** {@return the begin of the interval, by the wall clock, to the millisecond} */
    public Instant getFrom() {
        return Instant.ofEpochMilli(Figure.FROM.of(raw));
    }

    /** {@return the end of the interval, by the wall clock, to the millisecond} */
    public Instant getTill() {
        return Instant.ofEpochMilli(Figure.TILL.of(raw));
    }

    /** {@return the length of the interval, by the monotonic clock and without pauses; not negative} */
    public Duration getElapsed() {
        return Duration.ofNanos(Figure.ELAPSED.of(raw));
    }

    /** {@return the thread groups, in descending wall time; not modifiable} */
    public List<SamplingGroup> getGroups() {
        return groups;
    }

    /**
     * {@return the thread groups in which calls are counted ({@code rootMethods}), in descending wall time; empty if
     * there are none; not modifiable} Their trees have only counted methods and begin at root methods. The sampled
     * group of the same name includes their times, so do not add the two.
     */
    public List<SamplingGroup> getCountedGroups() {
        return countedGroups;
    }

    /**
     * The thread groups whose threads held locks that other threads waited for. Their wall time is the time in which
     * those other threads were {@code blocked}, credited to the stacks of the holders;
     * {@link SamplingGroup#getThreads()} is the number of threads that waited. Their wall times add up to the
     * {@code blocked} time of {@link #getMeasures()}. Unknown holders are in the group {@code [unknown]}, in rows that
     * name the reason.
     *
     * @return in descending wall time; not modifiable; empty if no thread was blocked
     */
    public List<SamplingGroup> getLockHolders() {
        return lockHolders;
    }

    /**
     * Reads the locks that threads waited for: by the class of the lock, the line that waited, and the line that held
     * the lock. The times are those of {@link #getLockHolders()}, without waits of which nothing is known.
     *
     * @return in descending time; not modifiable; empty if no thread was blocked
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingLock> getLocks() {
        return SamplingLock.of(withoutNodes(Snapshot.WITHOUT_SUMMARY));
    }

    /**
     * Summarises the active time by lines of your code. Your code are the classes that {@code monitoredPackages} names.
     * If it names none, your code is guessed: the packages of the main class, and all classes that belong neither to
     * the JDK nor to a known framework. Text reports begin with {@link SamplingSummary#toString()}.
     *
     * @return the summary, also if {@code reportSummary} is false
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for it
     */
    public SamplingSummary getSummary() {
        return SamplingSummary.of(withoutNodes(0));
    }

    /**
     * Reads the lines of your code with the most active time, each in one state and one thread group. These are more
     * than in the summary, which adds up all groups. Your code is defined as in {@link #getSummary()}.
     *
     * @return in descending time: at most 64, each with at least a thousandth of the active time; not modifiable
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingHotSpot> getHotSpots() {
        return SamplingSummary.of(withoutNodes(Snapshot.SPOTS_BY_GROUP)).getHotSpots();
    }

    /** @return the JSON document without frames and nodes */
    private Object withoutNodes(int flags) {
        Snapshot held = hold();
        try {
            ByteArrayOutputStream json = new ByteArrayOutputStream();
            held.write(
                    ReportFormat.JSON.ordinal(),
                    ReportMeasure.WALL.ordinal(),
                    Snapshot.WITHOUT_NODES | flags,
                    null,
                    json);
            return JsonParser.parse(json.toString(StandardCharsets.UTF_8));
        } catch (IOException | MalformedJson e) {
            throw new IllegalStateException(e); // neither comes from memory
        } finally {
            held.release();
        }
    }

    /**
     * Reads the root rows of a thread group; {@link SamplingRow#children()} and {@link SamplingRow#stream()} read on
     * from there. Unlike in {@link ReportFormat#TEXT}, no row is folded or omitted, so amounts of rows add up exactly
     * to those of their group.
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
     * @throws IllegalArgumentException if the group is null or belongs to another report
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingRow> rows(SamplingGroup group) {
        Values.notNull("group", group);
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

    /** {@return the wall time of all groups, in nanoseconds} */
    public long getWallNanos() {
        return raw.total(ReportMeasure.WALL);
    }

    /** {@return the options of the sampler at the time when the report was made, which are the default for writing} */
    public ReportOptions getOptions() {
        return options;
    }

    /** {@return how stacks were walked at the time when the report was made; INERT if the sampler could not sample} */
    public SamplingMode getMode() {
        return status.mode();
    }

    /**
     * {@return the limitations of the sampler at the time when the report was made, in no particular order; not
     * modifiable}
     */
    public List<SamplingLimitation> getLimitations() {
        return status.limitations();
    }

    /**
     * {@return true if the sampler of the report cannot sample: {@link #getMode()} is INERT} {@link #getLimitations()}
     * has the cause.
     */
    public boolean isInert() {
        return getMode() == SamplingMode.INERT;
    }

    /**
     * {@return which time was sampled: CPU if all times of the report are CPU times; WALL also if the sampler could not
     * sample}
     */
    public SamplingClock getClock() {
        return Figure.CPU_CLOCK.of(raw) != 0 ? SamplingClock.CPU : SamplingClock.WALL;
    }

    /** {@return the CPU time of all groups, in nanoseconds; 0 if the engine does not measure it} */
    public long getCpuNanos() {
        return raw.total(ReportMeasure.CPU);
    }

    /**
     * How often a thread's stack was obtained, in all groups. A poll yields a sample if the thread was walked, if its
     * stack was recovered, or if the thread had not run and so still had its last stack. These are the outcomes whose
     * texts in the account begin with "samples taken", "recovered" or "credited as idle". Failed and skipped polls
     * yield no sample, though their time is in the report. The number is the sum of the samples in each format of the
     * report.
     *
     * @return the number, at most {@link #getPolls()}
     */
    public long getSamples() {
        return raw.total(ReportMeasure.SAMPLES);
    }

    /**
     * The totals of all measures over all groups, by their names in the JSON format: {@code wall}, {@code cpu},
     * {@code samples}, {@code calls} (0 if no calls are counted), and the states {@code running}, {@code runnable},
     * {@code blocked}, {@code io}, {@code waiting} and {@code idle}, whose sum is the wall time (0 with
     * {@link SamplingClock#CPU}). Later releases may add measures.
     *
     * @return nanoseconds for times, else numbers; in the core's order, not modifiable; empty if nothing is sampled
     */
    public Map<String, Long> getMeasures() {
        Map<String, Long> totals = new LinkedHashMap<>();
        for (int i = 0; i < raw.measures().size(); i++) {
            totals.put(raw.measures().get(i), raw.total(i));
        }
        return Collections.unmodifiableMap(totals);
    }

    /** {@return the number of polls, skipped ones included: the sum of {@link #getOutcomes()}} */
    public long getPolls() {
        return Figure.POLLS.of(raw);
    }

    /**
     * {@return the count of polls for every outcome, 0 included, by its code, such as {@code THREAD_UNIDENTIFIED}, in
     * the order of the sampler's account; not modifiable} Codes are stable, and {@code java/REFERENCE.md} explains
     * each.
     */
    public Map<String, Long> getOutcomes() {
        return Collections.unmodifiableMap(outcomes);
    }

    /** {@return all other counts, such as ticks, late ticks and failed reports, as {@link #getOutcomes()}} */
    public Map<String, Long> getCounters() {
        return Collections.unmodifiableMap(counters);
    }

    /**
     * {@return a copy of the sampler's account: outcomes, then counters, without those that are 0, in the order in
     * which a report prints them}
     */
    public Map<String, Long> getAccount() {
        Map<String, Long> account = new LinkedHashMap<>(outcomes);
        account.putAll(counters);
        account.values().removeIf(value -> value == 0);
        return account;
    }

    /** {@return the CPU time of the sampler itself, in nanoseconds} */
    public long getOwnCpuNanos() {
        return Figure.OWN_CPU.of(raw);
    }

    /** {@return the sampler's native memory when the report was made, in bytes} */
    public long getMemoryUsedBytes() {
        return Figure.MEMORY_USED.of(raw);
    }

    /** {@return the limit of the sampler's native memory, in bytes} */
    public long getMemoryLimitBytes() {
        return Figure.MEMORY_LIMIT.of(raw);
    }

    /** {@return the size of the call trees, in nodes} */
    public long getNodes() {
        return Figure.NODES.of(raw);
    }

    /**
     * Writes the report with {@link #getOptions()}: order, rows and columns as in the sampler's own reports, and wall
     * time as the measure.
     *
     * @param format the format
     * @param out the stream; flushed, not closed
     * @throws IOException if the stream throws it; a part may have been written
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
     * @param format the format
     * @param chosen options; the format ignores those that do not concern it
     * @param out the stream; flushed, not closed
     * @throws IOException as {@link #writeTo(ReportFormat, OutputStream)}
     */
    public void writeTo(ReportFormat format, ReportOptions chosen, OutputStream out) throws IOException {
        Values.notNull("format", format);
        Values.notNull("options", chosen);
        Values.notNull("out", out);
        Snapshot held = hold();
        try {
            write(held, format, chosen, out);
        } finally {
            held.release();
        }
    }

    /**
     * Writes the report into a file, as a whole or not at all: an existing file is replaced once the new one is
     * complete. If writing fails, the existing file is unchanged and no other file is left.
     *
     * @param format the format
     * @param file the file; its folder must exist
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
     * @param format the format
     * @param chosen options; the format ignores those that do not concern it
     * @param file the file; its folder must exist
     * @throws IOException as {@link #writeTo(ReportFormat, Path)}
     */
    public void writeTo(ReportFormat format, ReportOptions chosen, Path file) throws IOException {
        Values.notNull("file", file);
        Snapshot held = hold();
        try {
            WholeFile.write(file, out -> writeTo(format, chosen, out));
        } finally {
            held.release();
        }
    }

    /**
     * Writes the report to a string. For reports of moderate size.
     *
     * @param format a text format
     * @return the text
     * @throws IllegalArgumentException if the format is null or binary
     * @throws IllegalStateException if the report is closed
     */
    public String toString(ReportFormat format) {
        Values.notNull("format", format);
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

    /** Interval, and the number of groups and samples. */
    @Override
    public String toString() {
        return "SamplingReport[from=" + getFrom() + ", till=" + getTill() + ", groups=" + groups.size() + ", samples="
                + getSamples() + "]";
    }

    /** Frees the memory. The figures can still be read. Does nothing the second time. */
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
            try (OutputStream packed = new GZIPOutputStream(new CloseShield(out), GZIP_BUFFER_BYTES)) {
                writeRaw(held, format, chosen, packed);
            }
        } else {
            writeRaw(held, format, chosen, out);
        }
        out.flush();
    }

    /** A class instead of a lambda, which an exiting JVM would link. */
    private static final class PageData implements Writable {

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

    /** A stream whose {@link #close()} only flushes, because the caller closes the stream below. */
    private static final class CloseShield extends FilterOutputStream {

        CloseShield(OutputStream out) {
            super(out);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
            flush();
        }
    }
}
