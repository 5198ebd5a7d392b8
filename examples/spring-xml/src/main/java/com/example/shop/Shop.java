// SPDX-License-Identifier: Apache-2.0
package com.example.shop;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.support.ClassPathXmlApplicationContext;

/** A shop with three tills, as a Spring bean; the sampler is another bean beside it (sampler.xml). */
public class Shop {

    private final AtomicInteger numbers = new AtomicInteger();
    private final ExecutorService tills =
            Executors.newFixedThreadPool(3, task -> new Thread(task, "till-" + numbers.incrementAndGet()));
    private final AtomicInteger customers = new AtomicInteger();
    private volatile boolean open;

    public static void main(String[] args) throws InterruptedException {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 5;
        try (var context = new ClassPathXmlApplicationContext("sampler.xml")) {
            TimeUnit.SECONDS.sleep(seconds);
            System.out.println(
                    "customers served: " + context.getBean(Shop.class).customers());
        }
    }

    public void open() {
        open = true;
        for (int till = 0; till < 3; till++) {
            tills.execute(this::serve);
        }
    }

    public void close() throws InterruptedException {
        open = false;
        tills.shutdown();
        tills.awaitTermination(10, TimeUnit.SECONDS);
    }

    public int customers() {
        return customers.get();
    }

    private void serve() {
        while (open) {
            waitForCustomer();
            addUp(customers.incrementAndGet());
        }
    }

    private void waitForCustomer() {
        try {
            TimeUnit.MILLISECONDS.sleep(30);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            open = false;
        }
    }

    private static double addUp(int items) {
        double sum = 0;
        long until = System.nanoTime() + 3_000_000;
        while (System.nanoTime() < until) {
            sum += Math.sqrt(items);
        }
        return sum;
    }
}
