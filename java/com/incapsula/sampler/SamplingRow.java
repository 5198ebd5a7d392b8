// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.RawRow;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A row of a {@link SamplingReport}: one line of one method, below the rows that called it.
 * {@link SamplingReport#rows} has an example.
 *
 * <p>A row keeps its own figures and nothing of the tree below it: {@link #children()} reads the next rows from the
 * report each time it is called, so a program holds what it looks at and no more.
 *
 * <p>"Wall", "CPU" and "samples" are of the row and of all below it, as the columns of a report are; "own" is of the
 * row itself. Of the rows of one group the own amounts add up to the group's.
 *
 * <p>Threads: immutable. The figures can be read after the report was closed; {@link #children()} and {@link #stream()}
 * then throw {@link IllegalStateException}.
 *
 * @since 1.0
 */
public final class SamplingRow {

    private static final int NATIVE_METHOD = -2;

    private final SamplingReport report;
    private final List<String> measures;
    private final RawRow raw;

    SamplingRow(SamplingReport report, List<String> measures, RawRow raw) {
        this.report = report;
        this.measures = measures;
        this.raw = raw;
    }

    /**
     * The class of the method.
     *
     * @return its full name with dots, numbers of generated classes removed; empty for a
     *         {@linkplain #isPseudo() frame in brackets}
     */
    public String getClassName() {
        return isPseudo() ? "" : raw.className();
    }

    /**
     * The method.
     *
     * @return its name, without parameters; of a {@linkplain #isPseudo() frame in brackets} the whole text, such as
     *         {@code [thread ended]}
     */
    public String getMethodName() {
        String name = raw.methodName();
        return name == null ? raw.className() : name;
    }

    /**
     * The source file.
     *
     * @return its name without folders, or null where it is not known
     */
    public @Nullable String getFileName() {
        return raw.file();
    }

    /**
     * The line of the source file: where the method was, or where it called the next row. Rows of counted groups are
     * methods and have none.
     *
     * @return above 0, or a negative number where it is not known
     */
    public int getLine() {
        return raw.line();
    }

    /**
     * Whether the method is a native one.
     *
     * @return true if it has no line for that reason
     */
    public boolean isNativeMethod() {
        return raw.line() == NATIVE_METHOD;
    }

    /**
     * Whether it is no method but a text in brackets: time without a stack, or machine code of the JVM that the row
     * above called.
     *
     * @return true if {@link #getMethodName()} is such a text
     */
    public boolean isPseudo() {
        return raw.methodName() == null;
    }

    /**
     * The wall time of the row and of all below it.
     *
     * @return nanoseconds
     */
    public long getWallNanos() {
        return raw.totals()[ReportMeasure.WALL.ordinal()];
    }

    /**
     * The wall time of the row itself.
     *
     * @return nanoseconds
     */
    public long getOwnWallNanos() {
        return raw.own()[ReportMeasure.WALL.ordinal()];
    }

    /**
     * The CPU time of the row and of all below it; 0 where the engine does not measure it.
     *
     * @return nanoseconds
     */
    public long getCpuNanos() {
        return raw.totals()[ReportMeasure.CPU.ordinal()];
    }

    /**
     * The CPU time of the row itself.
     *
     * @return nanoseconds
     */
    public long getOwnCpuNanos() {
        return raw.own()[ReportMeasure.CPU.ordinal()];
    }

    /**
     * How many samples have the row on their stack, at this place.
     *
     * @return the number, see {@link SamplingReport#getSamples()}
     */
    public long getSamples() {
        return raw.totals()[ReportMeasure.SAMPLES.ordinal()];
    }

    /**
     * How many samples end in the row.
     *
     * @return the number
     */
    public long getOwnSamples() {
        return raw.own()[ReportMeasure.SAMPLES.ordinal()];
    }

    /**
     * How often the method was called at this place, in a {@linkplain SamplingReport#getCountedGroups() counted group}.
     *
     * @return the number, without the calls that it made; 0 in other groups
     */
    public long getCalls() {
        return raw.own()[ReportMeasure.CALLS.ordinal()];
    }

    /**
     * All that was measured, by name, as {@link SamplingReport#getMeasures()}.
     *
     * @return of the row and all below it, but {@code calls}, which are the row's own; not modifiable
     */
    public Map<String, Long> getMeasures() {
        return byName(raw.totals());
    }

    /**
     * All that was measured, by name, as {@link SamplingReport#getMeasures()}.
     *
     * @return of the row itself; not modifiable
     */
    public Map<String, Long> getOwnMeasures() {
        return byName(raw.own());
    }

    /**
     * How far chance may have moved an amount of the row and all below it: between which two the true one lies, in 95
     * of 100 intervals. A sampler sees a thread now and then only, and what it did in between is a matter of chance.
     *
     * <ul>
     * <li>Exact, so that both are the amount itself: counts ({@code samples}, {@code calls}), and times in which no
     *     poll has found a change: a thread whose CPU clock proves that it was idle, a row that is on the stack of its
     *     thread all the time.
     * <li>Not known, so that there is none: with {@code errorBars} false; times of counted groups; a time of which the
     *     row has none; and a state, unless it is all of the row's wall time.
     * <li>The range covers the error of sampling only. It does not cover errors of the clocks, or threads that ended
     *     before they were seen.
     * </ul>
     *
     * <p>Of reports that were merged it is the range of the sum. Where one of them had none, there is none.
     *
     * @param measure a name of {@link #getMeasures()}, {@code wall} say
     * @return in the measure's unit, of times nanoseconds; null where it is not known
     * @throws IllegalArgumentException if there is no such measure
     * @since 1.0
     */
    public @Nullable ErrorRange getError95(String measure) {
        int index = measures.indexOf(measure);
        if (index < 0) {
            throw new IllegalArgumentException("measure must be one of " + measures + ", got " + measure);
        }
        long lower = raw.errors()[2 * index];
        return lower < 0 ? null : new ErrorRange(lower, raw.errors()[2 * index + 1]);
    }

    private Map<String, Long> byName(long[] amounts) {
        Map<String, Long> named = new LinkedHashMap<>();
        for (int i = 0; i < amounts.length; i++) {
            named.put(measures.get(i), amounts[i]);
        }
        return Collections.unmodifiableMap(named);
    }

    /**
     * Reads the rows that this one called.
     *
     * @return in descending wall time; not modifiable; empty for a leaf
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingRow> children() {
        return report.rowsBelow(raw.node());
    }

    /**
     * This row and all rows below it, each before its children. Read while the stream runs: at any time it holds the
     * rows on the way down and those beside them.
     *
     * @return one stream for each call; ends with {@link IllegalStateException} if the report is closed meanwhile
     */
    public Stream<SamplingRow> stream() {
        return StreamSupport.stream(new DepthFirst(this), false);
    }

    /**
     * The frame as a report prints it: {@code com.acme.Foo.bar(Foo.java:12)}. If the row has calls, they follow:
     * {@code com.acme.Foo.bar(Foo.java), Calls: 3}.
     */
    @Override
    public String toString() {
        String frame = isPseudo() ? raw.className() : getClassName() + "." + getMethodName() + "(" + place() + ")";
        return getCalls() == 0 ? frame : frame + ", Calls: " + getCalls();
    }

    private String place() {
        if (isNativeMethod()) {
            return "Native Method";
        }
        String file = raw.file();
        if (file == null) {
            return "Unknown Source";
        }
        return raw.line() > 0 ? file + ":" + raw.line() : file;
    }

    /** Goes down without recursion: a stack may have thousands of frames. */
    private static final class DepthFirst extends Spliterators.AbstractSpliterator<SamplingRow> {

        private final Deque<Iterator<SamplingRow>> path = new ArrayDeque<>();
        private @Nullable SamplingRow last; // its children come next

        DepthFirst(SamplingRow first) {
            super(Long.MAX_VALUE, Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE);
            path.push(List.of(first).iterator());
        }

        @Override
        public boolean tryAdvance(Consumer<? super SamplingRow> action) {
            if (last != null) {
                path.push(last.children().iterator());
                last = null;
            }
            while (!path.isEmpty() && !path.peek().hasNext()) {
                path.pop();
            }
            if (path.isEmpty()) {
                return false;
            }
            last = path.peek().next();
            action.accept(last);
            return true;
        }
    }
}
