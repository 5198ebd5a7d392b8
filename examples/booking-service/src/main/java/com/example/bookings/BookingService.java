// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import com.incapsula.sampler.ThreadsSampler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A small service under load; {@code faults.txt} names what is wrong with it. Four workers book seats, one thread tells a
 * partner what is taken, two have cards authorised. Nothing leaves the machine. The sampler runs beside it with its
 * defaults and prints its report at the end.
 *
 * <p>Argument: seconds to run (default 8).
 */
public final class BookingService {

    private static final int WORKERS = 4;
    private static final int CASHIERS = 2;
    private static final long MOST_MILLIS_TO_END = 60_000;

    /** A thread repeats this until the time is over. */
    private interface Work {
        void once() throws Exception;
    }

    private BookingService() {}

    public static void main(String[] args) throws Exception {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 8;
        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.init();
            System.out.println("bookings handled: " + run(seconds));
        }
    }

    static long run(long seconds) throws Exception {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        Seats seats = new Seats();
        try (Downstream downstream = new Downstream();
                Quotes quotes = new Quotes();
                SeatSync sync = new SeatSync(seats, downstream)) {
            BookingHandler handler = new BookingHandler(seats, new Connections(), quotes);
            List<Thread> threads = new ArrayList<>();
            threads.add(started("seat-sync-1", until, sync::refresh));
            for (int i = 1; i <= WORKERS; i++) {
                threads.add(started("booking-" + i, until, handler::handle));
            }
            List<Payments> payments = new ArrayList<>();
            for (int i = 1; i <= CASHIERS; i++) {
                Payments cashier = new Payments(downstream);
                payments.add(cashier);
                threads.add(started("payment-" + i, until, cashier::authorise));
            }
            for (Thread thread : threads) {
                thread.join(MOST_MILLIS_TO_END);
            }
            for (Payments cashier : payments) {
                cashier.close();
            }
            return handler.handled();
        }
    }

    private static Thread started(String name, long until, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (System.nanoTime() < until) {
                            work.once();
                        }
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                name);
        thread.start();
        return thread;
    }
}
