// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * A consumer of windows.
 *
 * <p>Threads: any.
 */
public interface Cursor {

    /**
     * Everything since the last call, or since the cursor was opened.
     *
     * @return held by the caller
     * @throws IllegalStateException if it is closed, the core has ended, or from the outputer or the manipulator
     */
    Snapshot next();

    /** Ends it. Idempotent; also after the core has ended. */
    void close();
}
