// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.accuracy;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.locks.LockSupport;

/** Runs a service of the examples without the sampler that its own main method starts. */
final class ServiceProgram {

    private static final String SHOP = "http://127.0.0.1:8081/ticket?show=";
    private static final int CUSTOMERS = 4;
    private static final long START_MILLIS = 200;
    private static final String IN_MEMORY = "jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1";

    private ServiceProgram() {}

    /**
     * Runs it until the seconds are over.
     *
     * @param arguments the class of the service, and seconds
     */
    public static void main(String... arguments) throws Exception {
        Class<?> service = Class.forName(arguments[0]);
        long seconds = Long.parseLong(arguments[1]);
        switch (service.getSimpleName()) {
            case "OrderService" -> call(service, "run", IN_MEMORY, seconds);
            case "BookingService" -> call(service, "run", seconds);
            default -> {
                call(service, "main", (Object) new String[] {"--threads-sampler.enabled=false"});
                buy(seconds);
            }
        }
        System.exit(0);
    }

    private static void call(Class<?> service, String name, Object... arguments) throws Exception {
        for (Method method : service.getDeclaredMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length) {
                method.setAccessible(true);
                method.invoke(null, arguments);
                return;
            }
        }
        throw new NoSuchMethodException(service + "." + name);
    }

    private static void buy(long seconds) throws InterruptedException {
        long until = System.nanoTime() + seconds * 1_000_000_000;
        HttpClient client = HttpClient.newHttpClient();
        Thread[] customers = new Thread[CUSTOMERS];
        for (int i = 0; i < CUSTOMERS; i++) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(SHOP + i)).build();
            customers[i] = new Thread(() -> buyAgainAndAgain(client, request, until), "customer-" + i);
            customers[i].start();
        }
        for (Thread customer : customers) {
            customer.join();
        }
    }

    private static void buyAgainAndAgain(HttpClient client, HttpRequest request, long until) {
        while (System.nanoTime() < until) {
            try {
                client.send(request, HttpResponse.BodyHandlers.ofString());
            } catch (IOException notYet) {
                LockSupport.parkNanos(START_MILLIS * 1_000_000);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
