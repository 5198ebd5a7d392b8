// SPDX-License-Identifier: Apache-2.0
package com.example.kiosk;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The kiosk and its sampler, as an HTTP client sees them. */
class KioskTest {

    private static final long HANG_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final int TICKETS_PER_LOOK = 10;
    private static final String LINE = "com.example.kiosk.Kiosk.";

    private static ConfigurableApplicationContext kiosk;
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    @BeforeAll
    static void open() {
        kiosk = SpringApplication.run(Kiosk.class, "--server.port=0");
    }

    @AfterAll
    static void close() {
        kiosk.close();
    }

    private static HttpResponse<byte[]> send(HttpRequest.Builder request) {
        try {
            return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static HttpRequest.Builder request(String path) {
        String port = kiosk.getEnvironment().getProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    }

    private static HttpResponse<byte[]> get(String path) {
        return send(request(path));
    }

    private static String text(HttpResponse<byte[]> answer) {
        assertThat(answer.statusCode()).isEqualTo(200);
        return new String(answer.body(), StandardCharsets.UTF_8);
    }

    private static HttpResponse<byte[]> post(String path) {
        return send(request(path).POST(HttpRequest.BodyPublishers.noBody()));
    }

    /*
     * Repeated, because on a busy machine the sampler may have to wait for a CPU. Reports count against its overhead
     * limit, so a report after each ticket would make samples rare.
     */
    private static void sellUntil(BooleanSupplier enough) {
        long start = System.nanoTime();
        while (!enough.getAsBoolean() && System.nanoTime() - start < HANG_NANOS) {
            for (int i = 0; i < TICKETS_PER_LOOK; i++) {
                assertThat(text(get("/ticket?show=3"))).startsWith("show 3, seat ");
            }
        }
        assertThat(enough.getAsBoolean()).isTrue();
    }

    @Test
    void theReportHasTheLinesOfTheKiosk() {
        sellUntil(() -> {
            String report = text(get("/actuator/threadsampler/report"));
            return report.contains(LINE + "awaitPayment(Kiosk.java:") && report.contains(LINE + "bestSeat(Kiosk.java:");
        });
        assertThat(text(get("/actuator/threadsampler/report"))).contains("Aggregated thread: http-nio-");
    }

    @Test
    void theFlameGraphIsAPage() {
        sellUntil(() -> text(get("/actuator/threadsampler/flamegraph")).contains("awaitPayment"));
        HttpResponse<byte[]> page = get("/actuator/threadsampler/flamegraph");
        assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html;charset=utf-8");
        assertThat(text(page)).startsWith("<!DOCTYPE html>");
    }

    @Test
    void theProfileIsCompressed() {
        assertThat(get("/actuator/threadsampler/pprof").body()).startsWith(0x1f, 0x8b);
    }

    @Test
    void prometheusReadsTheMeters() {
        sellUntil(() -> text(get("/actuator/prometheus"))
                .lines()
                .anyMatch(line -> line.startsWith("threadsampler_polls_total{") && !line.endsWith(" 0.0")));
        assertThat(text(get("/actuator/prometheus")))
                .contains("threadsampler_threads ", "threadsampler_busy_threads ", "threadsampler_memory_used_bytes ");
    }

    @Test
    void theSamplerStopsAndStartsAndTheKioskIsUp() {
        assertThat(text(post("/actuator/threadsampler/stop"))).contains("\"state\":\"STOPPED\"");
        assertThat(get("/actuator/threadsampler/report").statusCode()).isEqualTo(503);
        assertThat(text(get("/actuator/health"))).contains("\"status\":\"UP\"");
        assertThat(text(get("/ticket"))).startsWith("show 1, seat ");
        assertThat(text(post("/actuator/threadsampler/start"))).contains("\"state\":\"RUNNING\"");
    }
}
