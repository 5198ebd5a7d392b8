// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import java.io.IOException;
import java.io.OutputStream;

/**
 * An immutable snapshot of the core, freed when its last holder lets go. Whoever is given one holds it.
 *
 * <p>Threads: any. Letting go does not wait for others that use it.
 */
public interface Snapshot {

    /**
     * One more holder.
     *
     * @return this
     * @throws IllegalStateException if it has been freed
     */
    Snapshot hold();

    /** One holder less. Called exactly once by each. */
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
     * @param out where to
     * @throws IOException what the stream throws
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
