// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * A reader with intervals of its own.
 *
 * <p>Threads: any.
 */
public interface Cursor {

    /**
     * Everything since the last call, or since the cursor was opened.
     *
     * @return held by the caller
     * @throws IllegalStateException if it is closed, the engine has ended, or from the outputer or the manipulator
     */
    Snapshot next();

    /** Ends the reader. Idempotent; does nothing after the engine has ended. */
    void close();
}
