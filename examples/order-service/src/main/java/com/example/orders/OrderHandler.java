// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import java.util.concurrent.atomic.AtomicLong;

/** The work of one request, on a worker thread. */
final class OrderHandler {

    private final OrderRepository orders;
    private final PriceBook prices;
    private final AtomicLong handled = new AtomicLong();

    OrderHandler(OrderRepository orders, PriceBook prices) {
        this.orders = orders;
        this.prices = prices;
    }

    void handle(String json) {
        Order order = Order.parse(json);
        long cents = prices.priceOf(order);
        orders.store(order, cents);
        long count = handled.incrementAndGet();
        if (count % 25 == 0) {
            orders.bestCustomer();
        }
    }

    long handled() {
        return handled.get();
    }
}
