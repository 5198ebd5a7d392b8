// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** The offers of a year, sorted for each booking. */
final class Offers {

    private static final int COUNT = 200;

    private final List<Offer> all = new ArrayList<>();

    Offers() {
        Random random = new Random(7);
        for (int i = 0; i < COUNT; i++) {
            all.add(new Offer(
                    LocalDate.of(2030, 1, 1).plusDays(random.nextInt(365)).toString(), 1900L + i));
        }
    }

    Offer first() {
        List<Offer> sorted = new ArrayList<>(all);
        Collections.sort(sorted);
        return sorted.get(0);
    }
}
