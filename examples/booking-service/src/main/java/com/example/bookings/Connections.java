// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.util.concurrent.Semaphore;

/** A connection pool that is too small. */
final class Connections {

    private static final long QUERY_MILLIS = 12;

    private final Semaphore free = new Semaphore(1);

    void store() throws InterruptedException {
        free.acquire();
        try {
            Thread.sleep(QUERY_MILLIS); // stands for the database
        } finally {
            free.release();
        }
    }
}
