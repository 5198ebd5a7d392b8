// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.util.BitSet;

/** The seats of a train, behind one lock that the bookings and the synchronisation want. */
final class Seats {

    private static final int COUNT = 600;

    private final BitSet taken = new BitSet(COUNT);

    /** Bookings wait here while {@link SeatSync} has the lock. */
    synchronized int reserve() {
        int seat = taken.nextClearBit(0) % COUNT;
        taken.set(seat);
        return seat;
    }

    synchronized void clear() {
        taken.clear();
    }
}
