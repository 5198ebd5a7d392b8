// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

/** A fault that this service has on purpose, and that a profile has to show. */
public enum Fault {
    /** A lock that is held while another thread waits for a socket. */
    LOCK_ACROSS_IO(
            "Seats.java", "int seat = taken.nextClearBit", "blocked", "SeatSync.java", "partner.getInputStream()"),
    /** The socket that is waited for with that lock in hand. */
    PARTNER("SeatSync.java", "partner.getInputStream()", "io", null, null),
    /** A slow service is read from, one question after the other. */
    SLOW_BANK("Payments.java", "bank.getInputStream()", "io", null, null),
    /** A comparison of a sort that parses. */
    SLOW_COMPARISON("Offer.java", "LocalDate.parse(day)", "running", null, null),
    /** Exceptions as a way to return. */
    EXCEPTIONS("Tickets.java", "Integer.parseInt(", "running", null, null),
    /** A pattern that backtracks. */
    BACKTRACKING("Names.java", ".matches()", "running", null, null),
    /** A pool of connections with one permit for four workers. */
    SMALL_POOL("Connections.java", "free.acquire()", "blocked", null, null),
    /** A future whose executor has one thread. */
    FULL_EXECUTOR("Quotes.java", "quote.join()", "waiting", null, null);

    /** The group of the threads that hold the lock. */
    static final String HOLDERS = "seat-sync-";

    private final String file;
    private final String code;
    private final String state;
    private final String holdingFile;
    private final String holdingCode;

    Fault(String file, String code, String state, String holdingFile, String holdingCode) {
        this.file = file;
        this.code = code;
        this.state = state;
        this.holdingFile = holdingFile;
        this.holdingCode = holdingCode;
    }

    /** @return the source file that it is in */
    public String file() {
        return file;
    }

    /** @return a part of its line that no other line of the file has */
    public String code() {
        return code;
    }

    /** @return the state of the threads in that line */
    public String state() {
        return state;
    }

    /** @return the file of the line that holds the lock; null where none is waited for */
    public String holdingFile() {
        return holdingFile;
    }

    /** @return a part of that line */
    public String holdingCode() {
        return holdingCode;
    }
}
