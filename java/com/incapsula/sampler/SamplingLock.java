// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * How long threads were blocked at one line of code while another line held the lock. See
 * {@link SamplingReport#getLocks()}.
 *
 * <p>Threads: immutable.
 *
 * @since 1.0
 */
public final class SamplingLock {

    private final String lockClass;
    private final String waitingLine;
    private final String holdingLine;
    private final long blockedNanos;

    private SamplingLock(String lockClass, String waitingLine, String holdingLine, long blockedNanos) {
        this.lockClass = lockClass;
        this.waitingLine = waitingLine;
        this.holdingLine = holdingLine;
        this.blockedNanos = blockedNanos;
    }

    /** @param document a report as JSON; other versions may lack the locks */
    static List<SamplingLock> of(Object document) {
        List<SamplingLock> locks = new ArrayList<>();
        if (document instanceof Map<?, ?> report && report.get("locks") instanceof List<?> rows) {
            for (Object row : rows) {
                if (row instanceof Map<?, ?> lock && lock.get("wall") instanceof Number wall) {
                    locks.add(new SamplingLock(
                            String.valueOf(lock.get("lock")),
                            String.valueOf(lock.get("waiting")),
                            String.valueOf(lock.get("holding")),
                            wall.longValue()));
                }
            }
        }
        return List.copyOf(locks);
    }

    /** {@return the class of the lock, such as {@code com.acme.Cart}; {@code [unknown lock]} if it is not known} */
    public String getLockClass() {
        return lockClass;
    }

    /**
     * {@return the line that waited for the lock, such as {@code com.acme.Cart.add(Cart.java:41)}} This is the
     * innermost line of the application in the waiting stack.
     */
    public String getWaitingLine() {
        return waitingLine;
    }

    /**
     * {@return the line that held the lock meanwhile, as {@link #getWaitingLine}; a text in brackets if the holder is
     * not known} This is the innermost line of the application in the holder's stack.
     */
    public String getHoldingLine() {
        return holdingLine;
    }

    /**
     * {@return how long threads were blocked, in nanoseconds} If several threads wait at the same time, each adds its
     * own time.
     */
    public long getBlockedNanos() {
        return blockedNanos;
    }

    /** All four. */
    @Override
    public String toString() {
        return lockClass + ": " + waitingLine + " waits for " + holdingLine + " [blockedNanos=" + blockedNanos + "]";
    }
}
