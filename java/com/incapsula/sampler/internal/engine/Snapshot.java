// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
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

    /** {@return all figures} */
    RawReport figures();

    /** Writes the snapshot, see {@link NativeBridge#writeSnapshot}; does not flush. */
    void write(int format, int measure, int flags, @Nullable String focus, OutputStream out) throws IOException;

    /** Writes the snapshot without a focus. */
    default void write(int format, int measure, int flags, OutputStream out) throws IOException {
        write(format, measure, flags, null, out);
    }

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
    List<RawRow> children(long node);

    /**
     * Merges two snapshots.
     *
     * @param other of the same kind
     * @return a new snapshot, held by the caller
     */
    Snapshot mergedWith(Snapshot other);
}
