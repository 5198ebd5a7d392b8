// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.IOException;
import java.io.OutputStream;

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
     * @param weight see there
     * @param flags see there
     * @param out the stream
     * @throws IOException if the stream throws it
     */
    void write(int format, int weight, int flags, OutputStream out) throws IOException;

    /**
     * Makes one of two.
     *
     * @param other of the same kind
     * @return a new one, held by the caller
     */
    Snapshot mergedWith(Snapshot other);
}
