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
     * What a peer has answered.
     *
     * @param status of HTTP
     * @param retryAfter the header of this name, or null
     * @param text the first bytes of the body, on one line
     * @param rejected profiles of the report that an OTLP peer did not want, though it took the report
     */
    record Answer(int status, @Nullable String retryAfter, String text, long rejected) {

        /** Nothing was rejected. */
        Answer(int status, @Nullable String retryAfter, String text) {
            this(status, retryAfter, text, 0);
        }
    }

    /**
     * Sends.
     *
     * @param body the report
     * @param timeoutMillis for all of it
     * @return the answer, whatever it says
     * @throws IOException if there is none
     * @throws InterruptedException if the thread is interrupted
     */
    Answer send(PushBody body, long timeoutMillis) throws IOException, InterruptedException;

    /** Gives back what is held. Another {@link #send} may follow. */
    void close();
}
