// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Waiting reports, oldest first, with a limit of bytes. The report that is being sent counts, too.
 *
 * <p>Threads: one at a time; the pusher's lock guards it.
 */
final class PushQueue {

    private final Deque<PushBody> waiting = new ArrayDeque<>();
    private @Nullable PushBody taken;
    private long bytes;

    /**
     * Adds a report. If there is not enough room, the oldest are dropped. If the report that is being sent leaves too
     * little room even then, only the new one is dropped.
     *
     * @return the number of dropped reports
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

    /** @return the oldest report, which counts until {@link #done()}; null if there is none */
    @Nullable
    PushBody take() {
        taken = waiting.poll();
        return taken;
    }

    /** Forgets the report that was taken. @return 1, or 0 if none was taken */
    int done() {
        if (taken == null) {
            return 0;
        }
        bytes -= taken.bytes();
        taken = null;
        return 1;
    }

    /** Forgets all waiting reports. @return their number */
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
