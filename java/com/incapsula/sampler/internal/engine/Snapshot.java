// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportMeasure;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An immutable profile of an interval, freed when its last holder releases it. A caller that receives a snapshot holds
 * it.
 *
 * <p>Threads: any. {@link #release()} does not wait for other threads that use it.
 */
public interface Snapshot {

    /** Adds a holder. @throws IllegalStateException if it has been freed */
    Snapshot hold();

    /** Removes a holder. Each holder calls this method exactly once. */
    void release();

    /** Passes the caller's hold to the result of a maker; if the maker throws, releases it. */
    default <T> T heldBy(Function<Snapshot, T> maker) {
        try {
            return maker.apply(this);
        } catch (RuntimeException | Error e) {
            release();
            throw e;
        }
    }

    /** {@return all figures} */
    RawReport figures();

    /** Writes the snapshot, see {@link NativeBridge#writeSnapshot}; does not flush. */
    void write(int format, int measure, int flags, @Nullable String focus, OutputStream out) throws IOException;

    /** A flag of {@link #write}: JSON without frames and nodes, for use with {@link #writeDifference}. */
    int WITHOUT_NODES = 16;

    /** A bit of {@link #write}'s measure: PPROF has only this measure. */
    int MEASURE_ALONE = 256;

    /** A flag of {@link #write}: without a summary. */
    int WITHOUT_SUMMARY = 4;

    /** A flag of {@link #write}: JSON with more hot spots, each of one thread group. */
    int SPOTS_BY_GROUP = 1 << 30;

    /**
     * Writes the difference between this snapshot and a later one; does not flush.
     *
     * @param after of the same kind, or an inert one
     * @param format see {@link NativeBridge#writeDifference}
     */
    void writeDifference(Snapshot after, int format, int measure, OutputStream out) throws IOException;

    /**
     * Finds the lines of code with the most wall time of their own, each in one thread group.
     *
     * @param count limit
     * @return the hottest first
     */
    List<HotLine> hotLines(int count);

    /**
     * Reads the rows directly below a row.
     *
     * @param node of a row, or the root of a group
     * @return in descending wall time
     * @throws IllegalArgumentException if there is no such node
     */
    List<Row> children(long node);

    /**
     * Merges two snapshots.
     *
     * @param other of the same kind
     * @return a new snapshot, held by the caller
     */
    Snapshot mergedWith(Snapshot other);

    /**
     * A row of a snapshot's trees: one line of one method, below the rows that called it.
     *
     * @param node its number, for {@link Snapshot#children}
     * @param className dotted; for a frame in brackets the whole text
     * @param methodName null for a frame in brackets
     * @param file null if unknown
     * @param line as in {@link StackTraceElement}: -1 unknown, -2 a native method
     * @param totals amounts of the row and all rows below it, by measure, see {@link RawReport#measures}
     * @param own amounts of the row itself, by measure
     * @param errors the ends of the confidence interval of each total, two figures for each measure; -1 if not known
     */
    @SuppressWarnings("ArrayRecordComponent") // neither compared nor kept
    record Row(
            long node,
            String className,
            @Nullable String methodName,
            @Nullable String file,
            int line,
            long[] totals,
            long[] own,
            long[] errors) {}

    /**
     * A line of code with its own amounts in one thread group of a snapshot.
     *
     * @param text the frame as it is printed
     * @param group the thread group
     * @param className null for a frame in brackets
     * @param method null for a frame in brackets
     * @param line as in {@link StackTraceElement}: -1 unknown, -2 a native method
     * @param amounts by measure, see {@link RawReport#measures}
     */
    record HotLine(
            String text,
            String group,
            @Nullable String className,
            @Nullable String method,
            int line,
            List<Long> amounts) {

        /** {@return one of its amounts: nanoseconds, or a number} */
        public long of(ReportMeasure measure) {
            return amounts.get(measure.ordinal());
        }
    }
}
