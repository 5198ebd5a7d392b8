// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Reports that wait for the peer, oldest first, up to a number of bytes. The one that is being sent counts, too.
 *
 * <p>Threads: one at a time; the pusher's lock guards it.
 */
final class PushQueue {

    private final Deque<PushBody> waiting = new ArrayDeque<>();
    private @Nullable PushBody taken;
    private long bytes;

    /**
     * Adds a report. Where there is no room, the oldest are dropped; but only this one, where the report that is being
     * sent leaves it none.
     *
     * @return how many were dropped
     */
    int add(PushBody body, long limitBytes) {
        if ((taken == null ? 0 : taken.bytes()) + body.bytes() > limitBytes) {
            return 1;
        }
        int dropped = 0;
        while (bytes + body.bytes() > limitBytes) {
            bytes -= waiting.remove().bytes();
            dropped++;
        }
        waiting.add(body);
        bytes += body.bytes();
        return dropped;
    }

    /** @return the oldest one, which counts until {@link #done()}; null: there is none */
    @Nullable
    PushBody take() {
        taken = waiting.poll();
        return taken;
    }

    /**
     * Forgets the one that was taken.
     *
     * @return 1, or 0 where none was
     */
    int done() {
        if (taken == null) {
            return 0;
        }
        bytes -= taken.bytes();
        taken = null;
        return 1;
    }

    /** @return how many were forgotten, of those that wait */
    int clear() {
        int count = waiting.size();
        waiting.forEach(body -> bytes -= body.bytes());
        waiting.clear();
        return count;
    }

    int size() {
        return waiting.size() + (taken == null ? 0 : 1);
    }

    long bytes() {
        return bytes;
    }
}
