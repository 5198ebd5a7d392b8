// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import java.util.HashMap;
import java.util.Map;

/** Prices behind one lock that all workers need: a profile should show the contention. */
final class PriceBook {

    private final Map<String, Long> cents = new HashMap<>();

    PriceBook() {
        for (int i = 0; i < 50; i++) {
            cents.put("article-" + i, 100L + i * 37);
        }
    }

    /** Lets in one worker at a time, for two milliseconds. */
    synchronized long priceOf(Order order) {
        return discounted(order);
    }

    private long discounted(Order order) {
        long sum = 0;
        long until = System.nanoTime() + 2_000_000;
        do {
            sum = 0;
            for (Order.Line line : order.lines()) {
                sum += cents.get(line.article()) * line.quantity();
            }
        } while (System.nanoTime() < until);
        return sum;
    }
}
