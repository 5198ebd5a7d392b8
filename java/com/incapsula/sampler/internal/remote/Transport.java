// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Sends one report at a time.
 *
 * <p>Threads: one at a time, except {@link #close()}.
 */
public interface Transport {

    /**
     * A peer's answer.
     *
     * @param status of HTTP
     * @param retryAfter the header of this name, or null
     * @param text the first bytes of the body, on one line
     * @param rejected profiles that an OTLP peer rejected, though it took the report
     */
    record Answer(int status, @Nullable String retryAfter, String text, long rejected) {

        /** Nothing was rejected. */
        Answer(int status, @Nullable String retryAfter, String text) {
            this(status, retryAfter, text, 0);
        }
    }

    /**
     * Sends a report.
     *
     * @param timeoutMillis limit of the whole exchange
     * @return the answer, whatever its status
     * @throws IOException if there is no answer
     * @throws InterruptedException if the thread is interrupted
     */
    Answer send(PushBody body, long timeoutMillis) throws IOException, InterruptedException;

    /** Releases resources. Another {@link #send} may follow. */
    void close();
}
