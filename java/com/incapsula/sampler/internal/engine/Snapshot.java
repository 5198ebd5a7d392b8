// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An immutable profile of an interval, freed when its last holder releases it. A caller that gets one holds it.
 *
 * <p>Threads: any. {@link #release()} does not wait for other threads that use it.
 */
public interface Snapshot {

    /**
     * One more holder.
     *
     * @return this
     * @throws IllegalStateException if it has been freed
     */
    Snapshot hold();

    /** One holder less. Each holder calls it exactly once. */
    void release();

    /**
     * Reads all figures.
     *
     * @return the figures
     */
    RawReport figures();

    /**
     * Writes it; does not flush.
     *
     * @param format see {@link NativeBridge#writeSnapshot}
     * @param measure see there
     * @param flags see there
     * @param focus see there
     * @param out the stream
     * @throws IOException if the stream throws it
     */
    void write(int format, int measure, int flags, @Nullable String focus, OutputStream out) throws IOException;

    /**
     * Writes it without a focus.
     *
     * @param format see there
     * @param measure see there
     * @param flags see there
     * @param out the stream
     * @throws IOException if the stream throws it
     */
    default void write(int format, int measure, int flags, OutputStream out) throws IOException {
        write(format, measure, flags, null, out);
    }

    /** For {@link #write}, in flags: JSON without frames and nodes, as {@link #writeDifference} goes with. */
    int WITHOUT_NODES = 16;

    /** A bit of {@link #write}'s measure: PPROF has no other one. */
    int MEASURE_ALONE = 256;

    /** For {@link #write}, in flags: without a summary. */
    int WITHOUT_SUMMARY = 4;

    /** For {@link #write}, in flags: JSON whose hot spots are of one thread group each, and more. */
    int SPOTS_BY_GROUP = 1 << 30;

    /**
     * Writes what differs between this one and a later one; does not flush.
     *
     * @param after of the same kind, or one in which nothing was sampled
     * @param format see {@link NativeBridge#writeDifference}
     * @param measure see there
     * @param out where to
     * @throws IOException what the stream throws
     */
    void writeDifference(Snapshot after, int format, int measure, OutputStream out) throws IOException;

    /**
     * Finds the lines of code with the most wall time of their own, each in one thread group.
     *
     * @param count how many at most
     * @return the hottest first
     */
    List<HotLine> hotLines(int count);

    /**
     * Reads the rows right below a row.
     *
     * @param node of a row, or the root of a group
     * @return in descending wall time
     * @throws IllegalArgumentException if there is no such node
     */
    List<RawRow> children(long node);

    /**
     * Makes one of two.
     *
     * @param other of the same kind
     * @return a new one, held by the caller
     */
    Snapshot mergedWith(Snapshot other);
}
