// SPDX-License-Identifier: Apache-2.0
package com.example.orders;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.outputer.FileSamplingOutputer;
import com.incapsula.sampler.outputer.PrintStreamSamplingOutputer;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A small service under load: six workers named as a servlet container names them take orders as JSON, price
 * them under one lock, store them in H2 through a connection pool, and now and then run a slow query.
 * Two pools only wait. The sampler runs beside it for the whole time and says where the time went.
 *
 * <p>Arguments: seconds to run (default 8), JDBC URL (default in memory; {@code jdbc:h2:file:/path/orders} for
 * a real file), file for the report (default standard output; a name that ends in {@code .html} gets the page with the
 * flame graph), methods from which on calls are counted, such as {@code com.example.orders.OrderHandler.handle}.
 */
public final class OrderService {

    static final String IN_MEMORY = "jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1";

    private OrderService() {}

    public static void main(String[] args) throws Exception {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 8;
        String url = args.length > 1 ? args[1] : IN_MEMORY;
        SamplingOutputer outputer = args.length > 2 ? outputTo(args[2]) : new PrintStreamSamplingOutputer();

        try (ThreadsSampler sampler = new ThreadsSampler()) {
            sampler.setMonitoredPackages("com.example.orders");
            sampler.setReportFrequencySeconds(0);
            sampler.setSamplingFrequencyMillis(20);
            sampler.setSamplingOutputer(outputer);
            if (args.length > 3) {
                sampler.setRootMethods(args[3]);
                sampler.setInstrumentationFilter("com.example.orders, com.zaxxer.hikari.pool.HikariProxy*");
            }
            sampler.init();
            System.out.println("orders handled: " + run(url, seconds));
        }
    }

    private static SamplingOutputer outputTo(String file) throws IOException {
        return file.endsWith(".html") ? new FileSamplingOutputer(file) : new PrintStreamSamplingOutputer(file);
    }

    static long run(String url, long seconds) throws Exception {
        try (Database database = new Database(url)) {
            OrderHandler handler = new OrderHandler(new OrderRepository(database), new PriceBook());
            ExecutorService workers = Executors.newFixedThreadPool(6, threads("http-nio-8080-exec-"));
            Semaphore accepted = new Semaphore(18);
            ExecutorService mail = idlePool("mail-sender-");
            ExecutorService audit = idlePool("audit-writer-");

            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            for (int number = 1; System.nanoTime() < until; number++) {
                String json = Order.example(number).toJson();
                accepted.acquire();
                workers.execute(() -> {
                    handler.handle(json);
                    accepted.release();
                });
            }
            for (ExecutorService pool : new ExecutorService[] {workers, mail, audit}) {
                pool.shutdown();
                pool.awaitTermination(30, TimeUnit.SECONDS);
            }
            return handler.handled();
        }
    }

    /** A pool whose threads are started and idle. */
    private static ExecutorService idlePool(String prefix) {
        ThreadPoolExecutor pool = (ThreadPoolExecutor) Executors.newFixedThreadPool(2, threads(prefix));
        pool.prestartAllCoreThreads();
        return pool;
    }

    private static ThreadFactory threads(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return task -> new Thread(task, prefix + number.incrementAndGet());
    }
}
