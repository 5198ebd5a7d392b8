// SPDX-License-Identifier: Apache-2.0
package com.example.kiosk;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Four customers that buy tickets, in a process of their own. Arguments: the port of the kiosk, and seconds. */
final class Customers {

    private static final int COUNT = 4;
    private static final int OK = 200;

    private Customers() {}

    public static void main(String[] args) throws Exception {
        URI ticket = URI.create("http://127.0.0.1:" + args[0] + "/ticket");
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
        ExecutorService customers = Executors.newFixedThreadPool(COUNT, Customers::daemon);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < COUNT; i++) {
            all.add(customers.submit(() -> {
                buy(ticket, until);
                return null;
            }));
        }
        for (Future<?> each : all) {
            each.get();
        }
    }

    /* Daemon threads, so that this process ends once the kiosk is killed. */
    private static Thread daemon(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        return thread;
    }

    private static void buy(URI ticket, long until) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        while (System.nanoTime() < until) {
            HttpResponse<String> answer =
                    client.send(HttpRequest.newBuilder(ticket).build(), HttpResponse.BodyHandlers.ofString());
            if (answer.statusCode() != OK) {
                throw new IllegalStateException(answer.body());
            }
        }
    }
}
