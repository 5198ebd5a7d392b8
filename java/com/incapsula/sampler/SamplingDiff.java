// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Snapshot;
import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.internal.report.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The difference of two reports: what has become slower. {@link SamplingReport#diff} makes it.
 *
 * <pre>{@code
 * try (SamplingDiff diff = SamplingReport.diff(lastWeek, today)) {
 *     diff.writeTo(ReportFormat.HTML, Path.of("diff.html"));
 * }
 * }</pre>
 *
 * <p>It can be written as
 * <ul>
 * <li>{@link ReportFormat#HTML}: the page, with the difference in colour and in its tables;</li>
 * <li>{@link ReportFormat#COLLAPSED}: a line {@code stack before after} per stack, the form that
 * {@code flamegraph.pl} reads as a differential flame graph; a side without the stack has 0;</li>
 * <li>{@link ReportFormat#JSON}: <code>{"before":...,"after":...}</code> with two documents as a report's.</li>
 * </ul>
 *
 * <p>Times are not scaled, so two reports of different lengths differ by their lengths, too.
 *
 * <p>Threads: any. It holds both reports' memory until it is closed; the reports themselves may be closed before.
 *
 * @since 1.0
 */
public final class SamplingDiff implements AutoCloseable {

    private final Snapshot before;
    private final Snapshot after;
    private boolean closed; // guarded by this

    /** Takes over the caller's hold of both. */
    SamplingDiff(Snapshot before, Snapshot after) {
        this.before = before;
        this.after = after;
    }

    /**
     * Writes the difference of wall times.
     *
     * @param format HTML, COLLAPSED or JSON
     * @param out the stream; flushed, not closed
     * @throws IOException if the stream throws it; a part may have been written
     * @throws IllegalArgumentException if an argument is null, or the format cannot show a difference
     * @throws IllegalStateException if the difference is closed
     * @throws OutOfMemoryError if there is no memory to work with; a part may have been written
     */
    public void writeTo(ReportFormat format, OutputStream out) throws IOException {
        writeTo(format, ReportOptions.standard(), out);
    }

    /**
     * Writes the difference.
     *
     * @param format HTML, COLLAPSED or JSON
     * @param options for COLLAPSED the measure
     * @param out the stream; flushed, not closed
     * @throws IOException as {@link #writeTo(ReportFormat, OutputStream)}
     */
    public void writeTo(ReportFormat format, ReportOptions options, OutputStream out) throws IOException {
        check(format);
        Values.notNull("options", options);
        Values.notNull("out", out);
        hold();
        try {
            write(format, options, out);
            out.flush();
        } finally {
            release();
        }
    }

    /**
     * Writes the difference of wall times into a file, which appears whole or not at all.
     *
     * @param format HTML, COLLAPSED or JSON
     * @param file the file; its folder must be there
     * @throws IOException with the file's name and the reason
     * @throws IllegalArgumentException if an argument is null, or the format cannot show a difference
     * @throws IllegalStateException if the difference is closed
     */
    public void writeTo(ReportFormat format, Path file) throws IOException {
        writeTo(format, ReportOptions.standard(), file);
    }

    /**
     * Writes the difference into a file, which appears whole or not at all.
     *
     * @param format HTML, COLLAPSED or JSON
     * @param options for COLLAPSED the measure
     * @param file the file; its folder must be there
     * @throws IOException as {@link #writeTo(ReportFormat, Path)}
     */
    public void writeTo(ReportFormat format, ReportOptions options, Path file) throws IOException {
        check(format);
        Values.notNull("options", options);
        Values.notNull("file", file);
        hold();
        try {
            WholeFile.write(file, out -> write(format, options, out));
        } finally {
            release();
        }
    }

    /**
     * Each frame's own value in both reports, without its callees.
     *
     * @param measure what is compared
     * @return each frame with an amount, the largest difference first; named as in {@link ReportFormat#COLLAPSED}
     * @throws IllegalArgumentException if the measure is null
     * @throws IllegalStateException if the difference is closed
     */
    public List<FrameDiff> getFrames(ReportMeasure measure) {
        Values.notNull("measure", measure);
        ByteArrayOutputStream stacks = new ByteArrayOutputStream();
        try {
            writeTo(ReportFormat.COLLAPSED, ReportOptions.standard().withMeasure(measure), stacks);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, FrameDiff> frames = new HashMap<>();
        stacks.toString(StandardCharsets.UTF_8)
                .lines()
                .map(FrameDiff::ofLine)
                .forEach(each -> frames.merge(each.frame(), each, FrameDiff::plus));
        return frames.values().stream()
                .sorted(Comparator.comparingLong((FrameDiff each) -> -Math.abs(each.difference()))
                        .thenComparing(FrameDiff::frame))
                .toList();
    }

    /**
     * A frame's own amounts, over all stacks in which it is the innermost frame.
     *
     * @param frame class, method and line
     * @param before nanoseconds, or a count, in the first report
     * @param after nanoseconds, or a count, in the second report
     * @since 1.0
     */
    public record FrameDiff(String frame, long before, long after) {

        /* "group;root;...;leaf before after" */
        static FrameDiff ofLine(String line) {
            int second = line.lastIndexOf(' ');
            int first = line.lastIndexOf(' ', second - 1);
            return new FrameDiff(
                    line.substring(line.lastIndexOf(';', first) + 1, first),
                    Long.parseLong(line.substring(first + 1, second)),
                    Long.parseLong(line.substring(second + 1)));
        }

        FrameDiff plus(FrameDiff other) {
            return new FrameDiff(frame, before + other.before, after + other.after);
        }

        /** {@return the change from the first report to the second; negative: the amount has decreased} */
        public long difference() {
            return after - before;
        }
    }

    /** Releases the memory. Does nothing the second time. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        release();
    }

    private static void check(ReportFormat format) {
        Values.notNull("format", format);
        if (format != ReportFormat.HTML && format != ReportFormat.COLLAPSED && format != ReportFormat.JSON) {
            throw new IllegalArgumentException(
                    "a difference can be written as HTML, COLLAPSED or JSON, not as " + format);
        }
    }

    private void write(ReportFormat format, ReportOptions options, OutputStream out) throws IOException {
        switch (format) {
            case HTML -> HtmlPage.write(out, this::writePageData);
            case JSON -> writeJson(out);
            default ->
                before.writeDifference(
                        after, format.ordinal(), options.getMeasure().ordinal(), out);
        }
    }

    private void writeJson(OutputStream out) throws IOException {
        writeReports(0, out);
        put(out, "}");
    }

    /** Both reports without their nodes and summaries, and one tree with the nodes of both. */
    private void writePageData(OutputStream out) throws IOException {
        writeReports(Snapshot.WITHOUT_NODES | Snapshot.WITHOUT_SUMMARY, out);
        put(out, ",\"difference\":");
        before.writeDifference(after, ReportFormat.JSON.ordinal(), ReportMeasure.WALL.ordinal(), out);
        put(out, "}");
    }

    private void writeReports(int flags, OutputStream out) throws IOException {
        put(out, "{\"before\":");
        writeReport(before, flags, out);
        put(out, ",\"after\":");
        writeReport(after, flags, out);
    }

    private static void writeReport(Snapshot report, int flags, OutputStream out) throws IOException {
        report.write(ReportFormat.JSON.ordinal(), ReportMeasure.WALL.ordinal(), flags, null, out);
    }

    private static void put(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private void hold() {
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("the difference is closed");
            }
            before.hold();
            after.hold();
        }
    }

    private void release() {
        before.release();
        after.release();
    }
}
