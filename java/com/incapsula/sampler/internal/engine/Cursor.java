// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.internal.engine.SnapshotReaders.Maker;

/**
 * A reader with intervals of its own.
 *
 * <p>Threads: any.
 */
public interface Cursor {

    /**
     * Everything since the last call that did not fail, or since the cursor was opened.
     *
     * @param <T> what the caller gets
     * @param maker makes it of the interval
     * @return the result
     * @throws IllegalStateException if it is closed, the engine has ended, or from the outputer or the manipulator
     */
    <T> T next(Maker<T> maker);

    /** Ends the reader. Idempotent; does nothing after the engine has ended. */
    void close();
}
