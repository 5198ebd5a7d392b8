// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.remote;

import static com.incapsula.sampler.testing.Samplers.awaitTicks;
import static com.incapsula.sampler.testing.Samplers.patiently;
import static com.incapsula.sampler.testing.Samplers.quick;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.remote.PushClock;
import com.incapsula.sampler.outputer.SamplingOutputer;
import com.incapsula.sampler.testing.Logged;
import com.incapsula.sampler.testing.NothingLeft;
import com.incapsula.sampler.testing.OtlpDocument;
import com.incapsula.sampler.testing.PprofFile;
import com.incapsula.sampler.testing.PushRequest;
import com.incapsula.sampler.testing.PushServer;
import com.incapsula.sampler.testing.Samplers;
import com.incapsula.sampler.testing.Worker;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** A sampler that sends its reports to a server in this JVM, by each protocol. */
@ExtendWith(NothingLeft.class)
@Timeout(Samplers.HANG_SECONDS)
class RemoteSamplingOutputerIT {

    private static final Map<String, String> ENVIRONMENT = Map.of(
            "OTEL_SERVICE_NAME",
            "shop",
            "OTEL_RESOURCE_ATTRIBUTES",
            "service.version=1.2,service.instance.id=one",
            "OTEL_EXPORTER_OTLP_HEADERS",
            "api-key=k%20k");

    private final PushServer server = new PushServer();
    private final RemoteSamplingOutputer outputer = new RemoteSamplingOutputer(ENVIRONMENT, PushClock.REAL);
    private final AtomicLong wallNanos = new AtomicLong();
    private final AtomicLong cpuNanos = new AtomicLong();
    private final ThreadsSampler sampler = quick(SamplingOutputer.of(report -> {
                wallNanos.addAndGet(report.getWallNanos());
                cpuNanos.addAndGet(report.getCpuNanos());
            })
            .and(outputer));
    private final Worker worker = Worker.waiting("worker");
    private final Logged log = new Logged(RemoteSamplingOutputer.class.getName());

    @AfterEach
    void end() throws IOException {
        sampler.close();
        worker.close();
        server.close();
        log.close();
    }

    private void start(String scheme, String path) {
        outputer.setUrl(scheme + "://" + server.address() + path);
        outputer.setSpreadMillis(0);
        outputer.setTimeoutMillis(600_000); // without repeated attempts, which the server would see twice
        outputer.setCloseMillis(600_000);
        sampler.setThreadToBeSampled(worker.thread());
        sampler.init();
    }

    private void report() {
        awaitTicks(sampler, 5);
        sampler.printReport();
    }

    /* Makes sure that the report has CPU time. */
    private void reportOfBusyThread() {
        try (Worker busy = Worker.busy("busy")) {
            sampler.setThreadToBeSampled(busy.thread());
            patiently().until(() -> {
                try (SamplingReport seen = sampler.snapshot()) {
                    return seen.getCpuNanos() > 0;
                }
            });
        }
        sampler.printReport();
    }

    private void awaitSent(int reports) {
        patiently().until(() -> outputer.getSent() == reports);
    }

    private static OtlpDocument otlp(PushServer.Received received) {
        try {
            return new OtlpDocument(received.unpacked());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static PprofFile pprof(byte[] file) {
        try {
            return new PprofFile(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long wallNanos(PprofFile file) {
        return file.samples().stream().mapToLong(PprofFile.Sample::wallNanos).sum();
    }

    private static long wallNanos(OtlpDocument document) {
        return document.samples("wall/nanoseconds").stream()
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    // ---- protocols ----

    @Test
    void aCollectorGetsAProfilePerMeasureAndTheResource() throws Exception {
        start("otlp+http", "");
        report();
        awaitSent(1);
        PushServer.Received received = server.received().get(0);
        assertThat(received.path()).isEqualTo("/v1development/profiles");
        assertThat(received.header("Content-Type")).isEqualTo("application/x-protobuf");
        assertThat(received.header("Content-Encoding")).isEqualTo("gzip");
        assertThat(received.header("api-key")).isEqualTo("k k");
        OtlpDocument document = otlp(received);
        assertThat(document.isCanonical()).isTrue();
        assertThat(document.resource())
                .containsEntry("service.name", "shop")
                .containsEntry("service.version", "1.2")
                .containsEntry("service.instance.id", "one")
                .containsEntry(
                        "process.pid", Long.toString(ProcessHandle.current().pid()))
                .containsEntry("process.runtime.version", System.getProperty("java.runtime.version"))
                .containsKeys("host.name", "host.arch", "os.type");
        assertThat(document.scope()).matches("threads-sampler \\d+\\.\\d+\\.\\d+(-SNAPSHOT)?");
        assertThat(document.types()).startsWith("wall/nanoseconds");
        assertThat(document.samples("wall/nanoseconds"))
                .anyMatch(each -> each.getKey().startsWith("worker: "));
        assertThat(wallNanos(document)).isEqualTo(wallNanos.get());
    }

    @Test
    void pyroscopeGetsASeriesOfWallTimeAndOneOfCpuTime() throws Exception {
        outputer.setResourceAttributes("deployment.environment.name=test");
        outputer.setHeaders("X-Scope-OrgID=team,Authorization=Bearer%20abc");
        start("pyroscope+http", "/base/");
        reportOfBusyThread();
        awaitSent(1);
        PushServer.Received received = server.received().get(0);
        assertThat(received.path()).isEqualTo("/base/push.v1.PusherService/Push");
        assertThat(received.header("Content-Type")).isEqualTo("application/proto");
        assertThat(received.header("Connect-Protocol-Version")).isEqualTo("1");
        assertThat(received.header("Content-Encoding")).isNull();
        assertThat(received.header("X-Scope-OrgID")).isEqualTo("team");
        assertThat(received.header("Authorization")).isEqualTo("Bearer abc");
        assertThat(received.header("api-key")).as("of another protocol").isNull();
        List<PushRequest> series = PushRequest.read(received.body());
        assertThat(series).hasSize(2).allSatisfy(each -> {
            assertThat(each.labels())
                    .hasSize(5)
                    .containsEntry("service_name", "shop")
                    .containsEntry("service_version", "1.2")
                    .containsEntry("service_instance_id", "one")
                    .containsEntry("deployment_environment_name", "test");
            assertThat(UUID.fromString(each.id())).isNotNull();
            assertThat(pprof(each.profile()).isCanonical()).isTrue();
        });
        PprofFile wall = pprof(series.get(0).profile());
        assertThat(series.get(0).labels()).containsEntry("__name__", "wall");
        assertThat(wall.sampleTypes()).containsExactly("wall/nanoseconds");
        assertThat(wall.periodType()).isEqualTo("wall/nanoseconds");
        assertThat(wall.samples().stream()
                        .mapToLong(PprofFile.Sample::wallNanos)
                        .sum())
                .isEqualTo(wallNanos.get());
        PprofFile cpu = pprof(series.get(1).profile());
        assertThat(series.get(1).labels()).containsEntry("__name__", "process_cpu");
        assertThat(cpu.sampleTypes()).containsExactly("cpu/nanoseconds");
        assertThat(cpu.periodType()).isEqualTo("cpu/nanoseconds");
        assertThat(cpu.defaultSampleType()).isEqualTo("cpu");
        assertThat(cpu.samples().stream().mapToLong(PprofFile.Sample::cpuNanos).sum())
                .isEqualTo(cpuNanos.get())
                .isPositive();
    }

    @Test
    void byTheCpuClockPyroscopeGetsOneSeries() throws Exception {
        sampler.setClock(SamplingClock.CPU);
        start("pyroscope+http", "");
        reportOfBusyThread();
        awaitSent(1);
        PushRequest series = PushRequest.read(server.received().get(0).body()).get(0);
        assertThat(PushRequest.read(server.received().get(0).body())).hasSize(1);
        assertThat(series.labels()).containsEntry("__name__", "process_cpu");
        assertThat(pprof(series.profile()).sampleTypes()).containsExactly("cpu/nanoseconds");
    }

    @Test
    void anyUrlGetsAPprofFile() throws Exception {
        start("http", "/profiles?of=this");
        report();
        awaitSent(1);
        PushServer.Received received = server.received().get(0);
        assertThat(received.path()).isEqualTo("/profiles?of=this");
        assertThat(received.header("Content-Type")).isEqualTo("application/octet-stream");
        assertThat(wallNanos(pprof(received.body()))).isEqualTo(wallNanos.get());
    }

    // ---- faults ----

    /** Each report arrives once and in order, and together they have all the sampled time. */
    @Test
    void aRestartOfTheServerLosesNothing() throws Exception {
        start("otlp+http", "");
        report();
        awaitSent(1);
        server.stop();
        report();
        report();
        patiently().until(() -> outputer.getRetries() > 0);
        assertThat(outputer.getWaiting()).isEqualTo(2);
        assertThat(outputer.getWaitingBytes()).isPositive();
        server.comeBack();
        awaitSent(3);

        assertThat(server.received().stream()
                        .mapToLong(received -> wallNanos(otlp(received)))
                        .sum())
                .isEqualTo(wallNanos.get());
        assertThat(outputer.getWaitingBytes()).isZero();
        assertThat(outputer.getRefused() + outputer.getDropped() + outputer.getUnsent())
                .isZero();
        assertThat(log.messages()).hasSize(2);
        assertThat(log.messages().get(0))
                .startsWith(
                        "WARN a report cannot be sent to http://" + server.address() + "/v1development/profiles now: ")
                .endsWith("; it waits, and so do those that follow, up to 16777216 bytes");
        assertThat(log.messages().get(1)).startsWith("INFO reports are sent to http://" + server.address());
    }

    @Test
    void aServerThatIsBusyGetsTheReportLater() throws Exception {
        server.nextStatus(503);
        server.nextStatus(429);
        start("otlp+http", "");
        report();
        awaitSent(1);
        assertThat(outputer.getRetries()).isEqualTo(2);
        assertThat(server.received()).hasSize(3);
        assertThat(server.received().get(2).body())
                .isEqualTo(server.received().get(0).body());
    }

    @Test
    void aServerThatRefusesGetsTheNextReport() throws Exception {
        server.nextStatus(400);
        start("pyroscope+http", "");
        report();
        report();
        awaitSent(1);
        assertThat(outputer.getRefused()).isEqualTo(1);
        assertThat(outputer)
                .asString()
                .endsWith("sent 1, waiting 0, retries 0, refused 1, dropped 0, unsent 0, too large 0");
        assertThat(log.messages())
                .containsExactly(
                        "WARN http://" + server.address() + "/push.v1.PusherService/Push refused a report: 400");
    }

    @Test
    void aSlowServerHoldsUpNeitherSamplesNorReports() throws Exception {
        server.next(exchange -> {
            try {
                Thread.sleep(Samplers.LONG.toMillis());
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        });
        start("otlp+http", "");
        report();
        patiently().until(() -> server.received().size() == 1);
        report();
        report();
        assertThat(outputer.getWaiting()).isEqualTo(3);
        outputer.setCloseMillis(0);
        sampler.close();
        /* close() gives the sending thread a second to count the report that it was sending. */
        patiently()
                .untilAsserted(() -> assertThat(outputer.getUnsent())
                        .as("three, and the last one")
                        .isEqualTo(4));
        assertThat(log.messages())
                .as("in any order with what the sending thread logs when it is interrupted")
                .anyMatch(message -> message.contains("reports were not sent, because close() may take 0 ms"));
    }

    @Test
    void pastTheLimitTheOldestAreDropped() throws Exception {
        server.stop();
        start("http", "/");
        report();
        patiently().until(() -> outputer.getRetries() > 0);
        for (long before = 0; outputer.getDropped() == 0; before = outputer.getWaitingBytes()) {
            assertThat(outputer.getWaitingBytes()).isBetween(before, 65_536L);
            outputer.setQueueLimitBytes(65_536);
            report();
        }
        assertThat(outputer.getWaitingBytes()).isLessThanOrEqualTo(65_536);
        outputer.setCloseMillis(0);
    }

    @Test
    void aReportThatIsTooLongCountsAsFailed() throws Exception {
        outputer.setReportLimitBytes(4_096);
        sampler.setReportJvmThreads(true);
        start("http", "/");
        List<Worker> many = new ArrayList<>();
        try {
            for (int i = 0; i < 200; i++) {
                many.add(Worker.waiting(UUID.randomUUID().toString().replace('-', 'x') + "q"));
            }
            sampler.setThreadNameManipulator(Thread::getName);
            many.forEach(each -> sampler.setThreadToBeSampled(each.thread()));
            patiently().until(() -> {
                try (SamplingReport seen = sampler.snapshot()) {
                    return seen.getGroups().size() >= 200;
                }
            });
            report();
        } finally {
            many.forEach(Worker::close);
        }
        assertThat(outputer.getTooLarge()).isEqualTo(1);
        assertThat(sampler.getStatistics().getCounters()).containsEntry("FAILED_REPORTS", 1L);
        assertThat(log.messages()).last().asString().startsWith("WARN Report could not be printed");
        assertThat(server.received()).isEmpty();
    }

    @Test
    void closeSendsTheLastReport() throws Exception {
        start("otlp+http", "");
        outputer.setSpreadMillis(600_000);
        report();
        sampler.close();
        assertThat(server.received()).hasSize(2);
        assertThat(outputer.getSent()).isEqualTo(2);
        assertThat(outputer.getWaiting()).isZero();
    }

    /** Its threads wait and send in a group of the library's own. */
    @Test
    void itsThreadsAreNotSampled() throws Exception {
        outputer.setUrl("otlp+http://" + server.address());
        outputer.setSpreadMillis(0);
        /* Earlier tests in this JVM may have left an HTTP client. */
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        sampler.setThreadNameManipulator(thread -> (before.contains(thread) ? "" : "new ") + thread.getName());
        sampler.init();
        report();
        awaitSent(1);
        report();
        awaitSent(2);
        assertThat(server.received().stream()
                        .flatMap(received -> otlp(received).samples("wall/nanoseconds").stream())
                        .map(Map.Entry::getKey))
                .noneMatch(stack -> stack.startsWith("new threads-sampler") || stack.startsWith("new HttpClient-"))
                .anyMatch(stack -> stack.startsWith("worker: "));
    }
}
