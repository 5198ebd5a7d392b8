// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.io.IOException;
import java.net.Socket;

/** Payments, which a slow service authorises. */
final class Payments implements AutoCloseable {

    private static final int BANK_MILLIS = 20;

    private final Socket bank;

    Payments(Downstream downstream) throws IOException {
        bank = downstream.connect();
    }

    boolean authorise() throws IOException {
        bank.getOutputStream().write(BANK_MILLIS);
        return bank.getInputStream().read() == 1;
    }

    @Override
    public void close() throws IOException {
        bank.close();
    }
}
