// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.time.LocalDate;

/** A journey that is for sale. */
record Offer(String day, long cents) implements Comparable<Offer> {

    /** Parses both dates again in each comparison. */
    @Override
    public int compareTo(Offer other) {
        return LocalDate.parse(day).compareTo(LocalDate.parse(other.day));
    }
}
