// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import static com.incapsula.sampler.spring.Patience.patiently;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.micrometer.ThreadsSamplerMetrics;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** The endpoint and the meters of a web application, over HTTP. */
class ThreadsSamplerEndpointIT {

    private static final String UNRESTRICTED = "--management.endpoint.threadsampler.access=unrestricted";

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    private static ConfigurableApplicationContext shared; // its sampler runs at the beginning of each test

    private final HttpClient client = HttpClient.newHttpClient();
    private ConfigurableApplicationContext application = shared;

    @BeforeAll
    static void open() {
        shared = run(UNRESTRICTED);
    }

    @AfterAll
    static void close() {
        shared.close();
    }

    @AfterEach
    void startAgain() {
        ThreadsSampler sampler = shared.getBean(ThreadsSampler.class);
        if (!sampler.isRunning()) {
            sampler.init();
        }
    }

    private static ConfigurableApplicationContext run(String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "--server.port=0",
                "--management.endpoints.web.exposure.include=threadsampler,health,metrics",
                "--threads-sampler.sampling-frequency=5",
                "--threads-sampler.monitored-packages=com.acme",
                "--threads-sampler.output.log.enabled=false"));
        all.addAll(List.of(properties));
        return SpringApplication.run(Application.class, all.toArray(String[]::new));
    }

    private ThreadsSampler sampler() {
        return application.getBean(ThreadsSampler.class);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:"
                + application.getEnvironment().getProperty("local.server.port") + "/actuator/" + path));
    }

    private HttpResponse<byte[]> send(HttpRequest.Builder request) {
        try {
            return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private HttpResponse<byte[]> get(String path) {
        return send(request(path));
    }

    private HttpResponse<byte[]> post(String path) {
        return send(request(path).POST(HttpRequest.BodyPublishers.noBody()));
    }

    private HttpResponse<byte[]> set(String name, String value) {
        return send(request("threadsampler")
                .header("Content-Type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(
                        "{\"name\": \"" + name + "\", \"value\": \"" + value + "\"}")));
    }

    private static String text(HttpResponse<byte[]> answer) {
        return new String(answer.body(), UTF_8);
    }

    private static Map<String, Object> json(HttpResponse<byte[]> answer) {
        return JsonParserFactory.getJsonParser().parseMap(text(answer));
    }

    private void awaitPolls() {
        patiently().until(() -> sampler().getStatistics().getPolls() > 0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    report     | text/plain;charset=utf-8 | Report interval: from
                    summary    | text/plain;charset=utf-8 | Summary.
                    top        | text/plain;charset=utf-8 | method
                    calls?measure=calls&per=class&focus=a.B | text/plain;charset=utf-8 | No calls were counted
                    flamegraph | text/html;charset=utf-8  | <!DOCTYPE html>
                    collapsed  | text/plain;charset=utf-8 | ;
                    speedscope | application/json         | speedscope.app
                    json       | application/json         | threads-sampler/1
                    """)
    void aReportHasItsFormAndItsMediaType(String form, String type, String content) {
        awaitPolls();
        HttpResponse<byte[]> answer = get("threadsampler/" + form);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValueSatisfying(found -> assertThat(found).isEqualToIgnoringCase(type));
        assertThat(text(answer)).contains(content);
    }

    @Test
    void aProfileIsForPprof() {
        awaitPolls();
        HttpResponse<byte[]> answer = get("threadsampler/pprof");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/octet-stream");
        assertThat(answer.body()).startsWith(0x1f, 0x8b);
    }

    @Test
    void aBrowserThatTakesOnlyHtmlGetsThePage() {
        HttpResponse<byte[]> answer = send(request("threadsampler/flamegraph").header("Accept", "text/html"));
        assertThat(answer.statusCode()).isEqualTo(200);
    }

    @Test
    void theNextSecondsAreAReportOfTheirOwn() {
        awaitPolls();
        long begin = System.nanoTime();
        HttpResponse<byte[]> answer = get("threadsampler/json?seconds=1");
        long took = System.nanoTime() - begin;
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(took).isGreaterThanOrEqualTo(1_000_000_000L);
        assertThat(text(answer)).contains("threads-sampler/1");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1m", "5m", "15m", "start"})
    void aWindowIsChosenAndEmptiesNothing(String window) {
        awaitPolls();
        for (int i = 0; i < 2; i++) {
            HttpResponse<byte[]> answer = get("threadsampler/summary?window=" + window);
            assertThat(answer.statusCode()).isEqualTo(200);
            assertThat(text(answer)).startsWith("Summary.");
        }
    }

    @Test
    void aWrongWindowIsRefused() {
        HttpResponse<byte[]> answer = get("threadsampler/report?window=2m");
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(text(answer)).isEqualTo("window must be one of 1m, 5m, 15m, start, got \"2m\"\n");
        assertThat(text(get("threadsampler/report?window=1m&seconds=1"))).isEqualTo("give either window or seconds\n");
    }

    /** A client that reads the figures often does not cause a report each time. */
    @Test
    void theStatusMakesASummaryOnceInAMinute() {
        awaitPolls();
        AtomicLong nanos = new AtomicLong();
        try (ThreadsSamplerEndpoint endpoint = new ThreadsSamplerEndpoint(sampler(), nanos::get)) {
            Object first = endpoint.status().get("summary");
            assertThat(first).asInstanceOf(InstanceOfAssertFactories.MAP).containsKeys("from", "till", "hotSpots");
            nanos.addAndGet(TimeUnit.SECONDS.toNanos(ThreadsSamplerEndpoint.SUMMARY_SECONDS) - 1);
            assertThat(endpoint.status().get("summary")).isSameAs(first);
            nanos.addAndGet(1);
            assertThat(endpoint.status().get("summary")).isNotNull().isNotSameAs(first);
        }
    }

    @Test
    void anUnknownReportIsRefused() {
        assertThat(get("threadsampler/poster").statusCode()).isEqualTo(404);
        assertThat(text(get("threadsampler/poster")))
                .isEqualTo(
                        "there is no report poster; there are summary, report, top, calls, flamegraph, pprof, collapsed, speedscope,"
                                + " json\n");
        assertThat(get("threadsampler/top?seconds=0").statusCode()).isEqualTo(400);
        assertThat(get("threadsampler/calls?per=line").statusCode()).isEqualTo(400);
        assertThat(get("threadsampler/report?measure=cpu").statusCode()).isEqualTo(400);
        assertThat(text(get("threadsampler/report?measure=cpu")))
                .isEqualTo("measure does not apply to report, got \"cpu\"\n");
        assertThat(text(get("threadsampler/calls?per=line")))
                .isEqualTo("per must be one of method, class, package, got \"line\"\n");
        assertThat(text(get("threadsampler/top?seconds=61"))).isEqualTo("seconds must be between 1 and 60, got 61\n");
    }

    @Test
    void oneReportOfTheNextSecondsIsMadeAtATime() {
        HttpRequest request = request("threadsampler/top?seconds=1").build();
        List<CompletableFuture<HttpResponse<String>>> both = List.of(
                client.sendAsync(request, HttpResponse.BodyHandlers.ofString()),
                client.sendAsync(request, HttpResponse.BodyHandlers.ofString()));
        List<Integer> statuses =
                both.stream().map(answer -> answer.join().statusCode()).sorted().toList();
        // the second request may have come after the end of the first one
        assertThat(statuses).isIn(List.of(200, 429), List.of(200, 200));
        assertThat(get("threadsampler/top").statusCode()).isEqualTo(200);
    }

    @Test
    void theStatusHasStateFiguresAndSettings() {
        awaitPolls();
        Map<String, Object> status = json(get("threadsampler"));
        assertThat(status)
                .containsEntry("state", "RUNNING")
                .containsKeys(
                        "engine", "outcomes", "counters", "ownCpuMillis", "memoryUsedBytes", "reports", "summary");
        assertThat(((Number) status.get("polls")).longValue()).isPositive();
        assertThat(status.get("settings"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("monitoredPackages", "com.acme")
                .containsEntry("samplingFrequencyMillis", 5)
                .containsEntry("clock", "WALL");
    }

    @Test
    void withoutTheAccessNothingIsChangedAndALazyApplicationIsSampledAllTheSame() {
        try (ConfigurableApplicationContext other = run("--spring.main.lazy-initialization=true")) {
            application = other;
            assertThat(other.getBeanFactory().containsSingleton("threadsSampler"))
                    .isTrue();
            assertThat(sampler().isRunning()).isTrue();
            assertThat(get("threadsampler").statusCode()).isEqualTo(200);
            assertThat(post("threadsampler/stop").statusCode()).isIn(404, 405);
            assertThat(set("reportCpuTime", "true").statusCode()).isIn(404, 405);
            assertThat(sampler().isRunning()).isTrue();
            assertThat(sampler().isReportCpuTime()).isFalse();
        }
    }

    @Test
    void theSamplerIsStoppedAndStarted() {
        assertThat(json(post("threadsampler/stop"))).containsEntry("state", "STOPPED");
        assertThat(sampler().isRunning()).isFalse();
        HttpResponse<byte[]> nothing = get("threadsampler/report");
        assertThat(nothing.statusCode()).isEqualTo(503);
        assertThat(text(nothing)).startsWith("there is nothing to report: ");
        assertThat(post("threadsampler/stop").statusCode()).as("again").isEqualTo(200);
        assertThat(json(post("threadsampler/start"))).containsEntry("state", "RUNNING");
        assertThat(post("threadsampler/start").statusCode()).as("again").isEqualTo(409);
        assertThat(get("threadsampler/report").statusCode()).isEqualTo(200);
    }

    @Test
    void theSamplerIsPausedAndResumed() {
        assertThat(json(post("threadsampler/pause"))).containsEntry("state", "PAUSED");
        assertThat(sampler().isPaused()).isTrue();
        assertThat(json(post("threadsampler/resume"))).containsEntry("state", "RUNNING");
        assertThat(post("threadsampler/rest").statusCode()).isEqualTo(404);
        post("threadsampler/stop");
        assertThat(post("threadsampler/pause").statusCode()).isEqualTo(409);
    }

    @Test
    void settingsAreChanged() {
        assertThat(set("reportCpuTime", "true").statusCode()).isEqualTo(200);
        assertThat(sampler().isReportCpuTime()).isTrue();
        assertThat(set("report-order", "by_time").statusCode()).isEqualTo(200);
        assertThat(sampler().getReportOrder()).hasToString("BY_TIME");
        assertThat(set("threads-sampler.idle-lookback", "2s").statusCode()).isEqualTo(200);
        assertThat(sampler().getIdleLookbackMillis()).isEqualTo(2000);
        assertThat(set("report.frequency", "5m").statusCode()).isEqualTo(200);
        assertThat(sampler().getReportFrequencySeconds()).isEqualTo(300);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    samplingFrequencyMillis | 0    | 400 | samplingFrequencyMillis must be between 1 and 3600000, got 0
                    samplingFrequencyMillis | fast | 400 | samplingFrequencyMillis must be a time such as 20ms, 10s, 5m or 1h, got "fast"
                    reportOrder             | up   | 400 | reportOrder must be one of BY_NAME, BY_TIME, got "up"
                    memoryLimitBytes        | 9000000 | 409 | memoryLimitBytes cannot be changed while the sampler runs
                    samplingOutputer        | x    | 400 | there is no property "samplingOutputer"; there are active, clock
                    closeOutputer           | true | 400 | there is no property "closeOutputer"; there are active, clock
                    output.log.format       | top  | 400 | there is no property "output.log.format"; there are active
                    report.active           | true | 400 | there is no property "report.active"; there are active, clock
                    """)
    void aWrongSettingIsRefused(String name, String value, int status, String problem) {
        HttpResponse<byte[]> answer = set(name, value);
        assertThat(answer.statusCode()).isEqualTo(status);
        assertThat(json(answer).get("problem").toString()).startsWith(problem);
    }

    @Test
    void healthDoesNotDependOnTheSampler() {
        assertThat(json(get("health"))).containsEntry("status", "UP");
        post("threadsampler/stop");
        assertThat(json(get("health"))).containsEntry("status", "UP");
        assertThat(text(get("health"))).doesNotContainIgnoringCase("sampler");
    }

    @Test
    void theMetersAreInTheRegistry() {
        awaitPolls();
        assertThat(application.getBeansOfType(ThreadsSamplerMetrics.class)).hasSize(1);
        MeterRegistry registry = application.getBean(MeterRegistry.class);
        assertThat(registry.find("threadsampler.polls").functionCounters().stream()
                        .mapToDouble(FunctionCounter::count)
                        .sum())
                .isPositive();
        assertThat(get("metrics/threadsampler.threads").statusCode()).isEqualTo(200);
    }

    @Test
    void disabledThereAreNoEndpointAndNoMeters() {
        ApplicationContextRunner runner = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ThreadsSamplerAutoConfiguration.class,
                        ThreadsSamplerEndpointAutoConfiguration.class,
                        ThreadsSamplerMetricsAutoConfiguration.class))
                .withPropertyValues(
                        "management.endpoints.web.exposure.include=threadsampler", "threads-sampler.auto-start=false");
        runner.run(context -> assertThat(context)
                .hasSingleBean(ThreadsSamplerEndpoint.class)
                .hasSingleBean(ThreadsSamplerMetrics.class));
        runner.withPropertyValues("threads-sampler.enabled=false")
                .run(context -> assertThat(context)
                        .hasNotFailed()
                        .doesNotHaveBean(ThreadsSamplerEndpoint.class)
                        .doesNotHaveBean(ThreadsSamplerMetrics.class));
        runner.withPropertyValues("management.endpoints.web.exposure.include=health")
                .run(context -> assertThat(context).doesNotHaveBean(ThreadsSamplerEndpoint.class));
    }
}
