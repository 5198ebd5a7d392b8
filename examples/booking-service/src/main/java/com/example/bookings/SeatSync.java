// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.io.IOException;
import java.net.Socket;

/** Sends the taken seats to the partner again and again. */
final class SeatSync implements AutoCloseable {

    private static final int PARTNER_MILLIS = 25;
    private static final long REST_MILLIS = 15;

    private final Seats seats;
    private final Socket partner;

    SeatSync(Seats seats, Downstream downstream) throws IOException {
        this.seats = seats;
        this.partner = downstream.connect();
    }

    /** Holds the lock while it waits for the partner's answer. */
    void refresh() throws IOException, InterruptedException {
        synchronized (seats) {
            partner.getOutputStream().write(PARTNER_MILLIS);
            partner.getInputStream().read();
            seats.clear();
        }
        Thread.sleep(REST_MILLIS);
    }

    @Override
    public void close() throws IOException {
        partner.close();
    }
}
