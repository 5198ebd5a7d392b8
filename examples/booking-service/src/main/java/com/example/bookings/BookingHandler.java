// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Handles one booking, on a worker thread. */
final class BookingHandler {

    /* Each kind of work takes this long, on slow and on fast machines. */
    private static final long WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(6);

    private final Seats seats;
    private final Connections connections;
    private final Quotes quotes;
    private final Offers offers = new Offers();
    private final AtomicLong handled = new AtomicLong();

    BookingHandler(Seats seats, Connections connections, Quotes quotes) {
        this.seats = seats;
        this.connections = connections;
        this.quotes = quotes;
    }

    void handle() throws InterruptedException {
        long result = seats.reserve();
        for (long until = System.nanoTime() + WORK_NANOS; System.nanoTime() < until; ) {
            result += offers.first().cents();
        }
        for (long until = System.nanoTime() + WORK_NANOS; System.nanoTime() < until; ) {
            result += Tickets.number("A1702");
        }
        for (long until = System.nanoTime() + WORK_NANOS; System.nanoTime() < until; ) {
            result += Names.isComplete("ada king lovel!") ? 1 : 0;
        }
        result += quotes.best();
        connections.store();
        handled.addAndGet(result == 0 ? 0 : 1);
    }

    long handled() {
        return handled.get();
    }
}
