// SPDX-License-Identifier: Apache-2.0
package com.example.kiosk;

import java.util.concurrent.TimeUnit;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** A web application that sells tickets: some of its time is waiting, some is work. */
@SpringBootApplication
@RestController
public class Kiosk {

    private static final int SEATS = 400;
    private static final int PAYMENT_MILLIS = 20;
    private static final int PRINT_MILLIS = 15;

    public static void main(String[] args) {
        SpringApplication.run(Kiosk.class, args);
    }

    /** Sells a ticket for the best free seat. */
    @GetMapping("/ticket")
    public String ticket(@RequestParam(name = "show", defaultValue = "1") int show) throws InterruptedException {
        int seat = bestSeat(show);
        awaitPayment();
        print();
        return "show " + show + ", seat " + seat;
    }

    /* Compares each seat with each other one, which is deliberately slow. */
    private static int bestSeat(int show) {
        int best = 0;
        for (int seat = 0; seat < SEATS; seat++) {
            int betterThan = 0;
            for (int other = 0; other < SEATS; other++) {
                if (view(show, seat) > view(show, other)) {
                    betterThan++;
                }
            }
            best = betterThan == SEATS - 1 ? seat : best;
        }
        return best;
    }

    private static double view(int show, int seat) {
        return Math.sin(show) * Math.cos(seat) + 1.0 / (seat + 1);
    }

    private static void awaitPayment() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(PAYMENT_MILLIS);
    }

    /* There is one printer for all customers. */
    private static synchronized void print() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(PRINT_MILLIS);
    }
}
