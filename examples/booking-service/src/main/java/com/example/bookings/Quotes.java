// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Prices of insurances, fetched by a pool with a single thread. */
final class Quotes implements AutoCloseable {

    private static final long INSURER_MILLIS = 4;
    private static final long MOST_SECONDS = 30;

    private final ExecutorService pool = Executors.newFixedThreadPool(1, task -> new Thread(task, "quote-1"));

    long best() {
        CompletableFuture<Long> quote = CompletableFuture.supplyAsync(Quotes::fetched, pool);
        return quote.join();
    }

    private static long fetched() {
        try {
            Thread.sleep(INSURER_MILLIS);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        return 990;
    }

    @Override
    public void close() throws InterruptedException {
        pool.shutdown();
        pool.awaitTermination(MOST_SECONDS, TimeUnit.SECONDS);
    }
}
