// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.page;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Reports for the page: a realistic one of a shop's service, and a very large one. */
final class SampleReports {
    private static final String[] WEB = {
        "java.lang.Thread.run:840",
        "org.apache.tomcat.util.threads.TaskThread$WrappingRunnable.run:63",
        "org.apache.tomcat.util.threads.ThreadPoolExecutor$Worker.run:659",
        "org.apache.tomcat.util.threads.ThreadPoolExecutor.runWorker:1190"
    };
    private static final String[] REQUEST = {
        "org.apache.tomcat.util.net.NioEndpoint$SocketProcessor.doRun:1744",
        "org.apache.coyote.http11.Http11Processor.service:398",
        "org.apache.catalina.connector.CoyoteAdapter.service:342",
        "org.apache.catalina.core.StandardWrapperValve.invoke:167",
        "org.springframework.web.servlet.DispatcherServlet.doDispatch:1014"
    };
    private static final String[] SOCKET = {
        "org.postgresql.core.VisibleBufferedInputStream.readMore:192",
        "java.net.Socket$SocketInputStream.read:966",
        "sun.nio.ch.NioSocketImpl.read:796",
        "sun.nio.ch.NioSocketImpl.park:191",
        "sun.nio.ch.Net.poll"
    };
    private static final String[] STATEMENT = {
        "com.zaxxer.hikari.pool.ProxyPreparedStatement.executeQuery:52",
        "org.postgresql.jdbc.PgPreparedStatement.executeQuery:137",
        "org.postgresql.core.v3.QueryExecutorImpl.processResults:2211"
    };
    private static final String[] PARK = {
        "java.util.concurrent.LinkedBlockingQueue.take:435",
        "java.util.concurrent.locks.LockSupport.park:341",
        "jdk.internal.misc.Unsafe.park"
    };

    private SampleReports() {}

    /**
     * @param slower the time of the price calculation, as a multiple of the usual time
     * @param cached the time of reading an order, as a multiple of the usual time
     */
    static ReportJson shop(double slower, double cached) {
        ReportJson report = new ReportJson();
        ReportJson.Group web = report.group("http-nio--exec-", 24);
        String order = "com.acme.shop.order.OrderController.place:48";
        String service = "com.acme.shop.order.OrderService.place:91";
        String prices = "com.acme.shop.pricing.PriceService.quote:57";
        web.stack(7_260_000, 0, 5_200, path(WEB, PARK));
        query(
                web,
                2_410_000 * cached,
                path(WEB, REQUEST, order, service, "com.acme.shop.order.OrderRepository.findOpen:133"));
        query(web, 690_000, path(WEB, REQUEST, order, service, "com.acme.shop.order.OrderRepository.save:164"));
        query(
                web,
                512_000,
                path(
                        WEB,
                        REQUEST,
                        "com.acme.shop.stock.StockController.show:37",
                        "com.acme.shop.stock.StockRepository.level:71"));
        compute(
                web,
                1_310_000 * slower,
                path(WEB, REQUEST, order, service, prices),
                "com.acme.shop.pricing.DiscountRules.apply:212",
                "com.acme.shop.pricing.DiscountRules.matches:247",
                "java.util.regex.Pattern.matcher:1134",
                "java.util.regex.Pattern$Loop.match:4915");
        compute(
                web,
                402_000,
                path(WEB, REQUEST, order, service, prices),
                "java.math.BigDecimal.divide:1742",
                "com.acme.shop.pricing.TaxTable.rateOf:88");
        compute(
                web,
                655_000,
                path(
                        WEB,
                        REQUEST,
                        "com.acme.shop.order.OrderController.list:72",
                        "com.fasterxml.jackson.databind.ObjectMapper.writeValue:3346"),
                "com.fasterxml.jackson.databind.ser.BeanSerializer.serialize:183",
                "com.fasterxml.jackson.core.json.UTF8JsonGenerator.writeString:537",
                "com.fasterxml.jackson.databind.ser.std.CollectionSerializer.serialize:107");
        web.stack(
                388_000,
                2_000,
                510,
                path(
                        WEB,
                        REQUEST,
                        "com.acme.shop.stock.StockController.reserve:55",
                        "com.acme.shop.stock.StockLedger.reserve:119"));
        web.stack(21_000, 21_000, 31, path(WEB, REQUEST, "com.acme.shop.web.AuditFilter.doFilter:44"));
        web.stack(310, 0, 9, "[thread ended]");

        ReportJson.Group batch = report.group("invoice-batch-", 4);
        String job = "com.acme.shop.invoice.InvoiceJob.run:66";
        compute(
                batch,
                1_450_000,
                path("java.lang.Thread.run:840", job, "com.acme.shop.invoice.PdfWriter.write:208"),
                "java.util.zip.Deflater.deflateBytesBytes",
                "com.acme.shop.invoice.Layout.wrap:91",
                "com.acme.shop.invoice.Layout.measure:127",
                "java.awt.font.TextLayout.getAdvance:1022");
        query(batch, 870_000, path("java.lang.Thread.run:840", job, "com.acme.shop.invoice.InvoiceRepository.due:45"));
        batch.stack(1_230_000, 0, 1_100, path("java.lang.Thread.run:840", PARK));

        ReportJson.Group events = report.group("kafka-consumer-", 3);
        String poll = "org.apache.kafka.clients.consumer.KafkaConsumer.poll:1197";
        events.stack(
                2_395_000,
                1_500,
                2_100,
                "java.lang.Thread.run:840",
                poll,
                "org.apache.kafka.common.network.Selector.select:873",
                "sun.nio.ch.EPoll.wait");
        compute(
                events,
                214_000,
                path("java.lang.Thread.run:840", "com.acme.shop.events.StockListener.onEvent:39"),
                "com.fasterxml.jackson.databind.ObjectMapper.readValue:3611",
                "com.acme.shop.stock.StockLedger.release:141");

        report.group("scheduling-", 2)
                .stack(
                        1_799_200,
                        900,
                        900,
                        "java.lang.Thread.run:840",
                        "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue.take:1182",
                        "java.util.concurrent.locks.LockSupport.parkNanos:252",
                        "jdk.internal.misc.Unsafe.park");
        report.group("HikariPool- housekeeper", 1)
                .stack(
                        899_900,
                        60,
                        900,
                        "java.lang.Thread.run:840",
                        "java.util.concurrent.locks.LockSupport.parkNanos:252",
                        "jdk.internal.misc.Unsafe.park");
        report.group("main", 1)
                .stack(900_000, 0, 900, "com.acme.shop.ShopApplication.main:21", "java.lang.Object.wait0");
        ReportJson.Group jvm = report.group("[JVM]", 9);
        jvm.stack(31_400, 31_400, 0, "[GC]")
                .stack(18_700, 18_700, 0, "[JIT compiler]")
                .stack(2_600, 2_600, 0, "[threads-sampler]")
                .stack(900, 900, 0, "[VM thread]");
        return report.outcome("DEEP_STACK_CUT", 12)
                .outcome("METHOD_WITHOUT_ID", 6)
                .outcome("IDLE", 14_310)
                .outcome("RECOVERED_IN_STUB", 412)
                .outcome("THREAD_ENDED_IN_WALK", 9)
                .outcome("SIGNAL_UNANSWERED", 27)
                .outcome("THREAD_ENDED", 41)
                .counter("TICKS", 17_982)
                .counter("LATE_TICKS", 3)
                .counter("UNSEEN_THREADS", 118);
    }

    /** Most of a query's time is waiting for the answer. */
    private static void query(ReportJson.Group group, double millis, String[] caller) {
        group.stack(millis * 0.84, 0, samples(millis * 0.84), path(caller, STATEMENT, SOCKET));
        group.stack(millis * 0.11, millis * 0.11, samples(millis * 0.11), path(caller, STATEMENT));
        group.stack(
                millis * 0.05,
                0,
                samples(millis * 0.05),
                path(
                        caller,
                        "com.zaxxer.hikari.HikariDataSource.getConnection:127",
                        "java.util.concurrent.locks.LockSupport.parkNanos:252",
                        "jdk.internal.misc.Unsafe.park"));
    }

    /** The frames below the caller have shares of 45, 25, 15 ... percent; the caller itself has the rest. */
    private static void compute(ReportJson.Group group, double millis, String[] caller, String... below) {
        double left = millis;
        double share = 0.45;
        for (String frame : below) {
            double part = millis * share;
            group.stack(part, part * 0.97, samples(part), path(caller, frame));
            left -= part;
            share *= 0.56;
        }
        group.stack(left, left * 0.97, samples(left), caller);
    }

    private static long samples(double millis) {
        return Math.max(1, Math.round(millis / 500));
    }

    static String[] path(Object... parts) {
        List<String> path = new ArrayList<>();
        for (Object part : parts) {
            path.addAll(part instanceof String[] many ? List.of(many) : List.of((String) part));
        }
        return path.toArray(String[]::new);
    }

    /** main: 3 s, 1 s in A.run itself and 2 s in A.load, which it calls; worker-: 1 s of waiting. */
    static ReportJson twoGroups() {
        ReportJson report = new ReportJson();
        report.group("main", 1)
                .stack(1_000, 500, 20, "com.acme.A.run:10")
                .stack(2_000, 1_000, 40, "com.acme.A.run:10", "com.acme.A.load:20");
        report.group("worker-", 2).stack(1_000, 0, 20, "java.lang.Thread.run:840", "com.acme.B.waitForWork");
        return report;
    }

    /** Stacks of a typical service: about 60 frames deep, a few frequent paths and thousands of rare ones. */
    static ReportJson large(int nodes, int groups) {
        String[] packages = {
            "com.acme.shop.order",
            "com.acme.shop.pricing",
            "com.acme.shop.web",
            "java.util.concurrent",
            "org.springframework.web.servlet",
            "org.apache.catalina.core",
            "org.postgresql.core",
            "sun.nio.ch"
        };
        Random random = new Random(7);
        ReportJson report = new ReportJson();
        int[] frames = new int[4_000];
        for (int i = 0; i < frames.length; i++) {
            String type = "Service" + i % 700;
            frames[i] = report.frame(
                    packages[random.nextInt(packages.length)] + "." + type, "method" + i % 37, type + ".java", 10 + i);
        }
        for (int g = 0; g < groups; g++) {
            ReportJson.Group group = report.group("worker-" + (char) ('a' + g) + "-", 3);
            int[] depths = new int[nodes / groups];
            for (int i = 0; i < depths.length; i++) {
                int parent = i == 0 ? -1 : parentOf(i, depths, random);
                // Always a new node, even if there is an equal one.
                int node = group.child(parent, i < frames.length ? frames[i] : frames[random.nextInt(frames.length)]);
                depths[node] = parent < 0 ? 0 : depths[parent] + 1;
                double wall = random.nextInt(10) < 4 ? 0 : 20 * Math.pow(random.nextDouble() + 1e-4, -0.8);
                group.add(node, wall, wall * random.nextDouble(), Math.max(1, Math.round(wall / 50)));
            }
        }
        return report;
    }

    private static int parentOf(int node, int[] depths, Random random) {
        int near = Math.max(0, node - 1 - (int) (random.nextDouble() * random.nextDouble() * 60));
        return depths[near] > 60 || random.nextInt(50) == 0 ? random.nextInt(Math.min(node, 200)) : near;
    }
}
