// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.util.concurrent.Semaphore;

/** Connections of a pool, which is too small. */
final class Connections {

    private static final long QUERY_MILLIS = 12;

    private final Semaphore free = new Semaphore(1);

    void store() throws InterruptedException {
        free.acquire();
        try {
            Thread.sleep(QUERY_MILLIS); // the database
        } finally {
            free.release();
        }
    }
}
