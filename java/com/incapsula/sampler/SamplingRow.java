// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import com.incapsula.sampler.internal.engine.Snapshot;
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
 * <p>A row holds its own figures and nothing of the tree below it: {@link #children()} reads the next rows from the
 * report each time it is called. So a program holds only the rows that it looks at.
 *
 * <p>"Wall", "CPU" and "samples" include all rows below this one, as in the columns of a report; "own" amounts do not.
 * The own amounts of all rows of a group add up to the group's amount.
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
    private final Snapshot.Row raw;

    SamplingRow(SamplingReport report, List<String> measures, Snapshot.Row raw) {
        this.report = report;
        this.measures = measures;
        this.raw = raw;
    }

    /**
     * {@return the full name of the class with dots, without the numbers of generated classes; empty for a
     * {@linkplain #isPseudo() frame in brackets}}
     */
    public String getClassName() {
        return isPseudo() ? "" : raw.className();
    }

    /**
     * {@return the name of the method, without parameters; for a {@linkplain #isPseudo() frame in brackets} the whole
     * text, such as {@code [thread ended]}}
     */
    public String getMethodName() {
        String name = raw.methodName();
        return name == null ? raw.className() : name;
    }

    /** {@return the name of the source file without folders, or null if it is not known} */
    public @Nullable String getFileName() {
        return raw.file();
    }

    /**
     * {@return the line of the source file at which the method was, or called the next row; negative if it is not
     * known} Rows of counted groups are methods and have no line.
     */
    public int getLine() {
        return raw.line();
    }

    /** {@return true if the method is a native one, and so has no line} */
    public boolean isNativeMethod() {
        return raw.line() == NATIVE_METHOD;
    }

    /**
     * {@return true if the row is not a method and {@link #getMethodName()} is a text in brackets: time without a
     * stack, or machine code of the JVM that the row above called}
     */
    public boolean isPseudo() {
        return raw.methodName() == null;
    }

    /** {@return the wall time of the row and all rows below it, in nanoseconds} */
    public long getWallNanos() {
        return raw.totals()[ReportMeasure.WALL.ordinal()];
    }

    /** {@return the wall time of the row itself, in nanoseconds} */
    public long getOwnWallNanos() {
        return raw.own()[ReportMeasure.WALL.ordinal()];
    }

    /** {@return the CPU time of the row and all rows below it, in nanoseconds; 0 if the engine does not measure it} */
    public long getCpuNanos() {
        return raw.totals()[ReportMeasure.CPU.ordinal()];
    }

    /** {@return the CPU time of the row itself, in nanoseconds} */
    public long getOwnCpuNanos() {
        return raw.own()[ReportMeasure.CPU.ordinal()];
    }

    /**
     * {@return the number of samples with the row on their stack, at this place of the tree; see
     * {@link SamplingReport#getSamples()}}
     */
    public long getSamples() {
        return raw.totals()[ReportMeasure.SAMPLES.ordinal()];
    }

    /** {@return the number of samples whose innermost frame is the row} */
    public long getOwnSamples() {
        return raw.own()[ReportMeasure.SAMPLES.ordinal()];
    }

    /**
     * {@return how often the method was called at this place of the tree, without calls that the method made; 0 if the
     * group is not a {@linkplain SamplingReport#getCountedGroups() counted} one}
     */
    public long getCalls() {
        return raw.own()[ReportMeasure.CALLS.ordinal()];
    }

    /**
     * {@return all measures by name, as in {@link SamplingReport#getMeasures()}, of the row and all rows below it;
     * {@code calls} are the row's own; not modifiable}
     */
    public Map<String, Long> getMeasures() {
        return byName(raw.totals());
    }

    /** {@return all measures by name, as in {@link SamplingReport#getMeasures()}, of the row itself; not modifiable} */
    public Map<String, Long> getOwnMeasures() {
        return byName(raw.own());
    }

    /**
     * The 95 % confidence interval of an amount of the row and all rows below it. The sampler sees a thread only now
     * and then, so each amount has a random error.
     *
     * <ul>
     * <li>The interval has no width, because the amount is exact, for counts ({@code samples}, {@code calls}) and for
     * times in which no poll found a change: the thread's CPU clock proves that it was idle, or the row is on the stack
     * of its thread all the time.
     * <li>There is no interval with {@code errorBars} false, for times of counted groups, for a time of 0, and for a
     * state that is not all of the row's wall time.
     * <li>The interval covers the error of sampling only. It does not cover errors of the clocks, or threads that ended
     *     before they were seen.
     * </ul>
     *
     * <p>A merged report has the interval of the sum, if both reports had one.
     *
     * @param measure a name of {@link #getMeasures()}, such as {@code wall}
     * @return in the measure's unit, which is nanoseconds for times; null if it is not known
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
     * Reads the rows below this one.
     *
     * @return in descending wall time; not modifiable; empty for a leaf
     * @throws IllegalStateException if the report is closed
     * @throws OutOfMemoryError if there is no memory for them
     */
    public List<SamplingRow> children() {
        return report.rowsBelow(raw.node());
    }

    /**
     * {@return a new stream of this row and all rows below it, each before its children} The rows are read while the
     * stream runs, and it holds only the rows on the current path and their siblings. The stream throws
     * {@link IllegalStateException} if the report is closed meanwhile.
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

    /** Descends without recursion, because a stack may have thousands of frames. */
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
