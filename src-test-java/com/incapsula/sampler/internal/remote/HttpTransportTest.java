// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.incapsula.sampler.internal.remote.Transport.Answer;
import com.incapsula.sampler.testing.PushServer;
import com.incapsula.sampler.testing.Samplers;
import io.opentelemetry.proto.collector.profiles.v1development.ExportProfilesPartialSuccess;
import io.opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceResponse;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(Samplers.HANG_SECONDS)
class HttpTransportTest {

    private static final long PATIENT_MILLIS = Samplers.LONG.toMillis();

    private final ThreadGroup group = new ThreadGroup("http-transport-test");
    private final HttpTransport transport = new HttpTransport(work -> {
        Thread thread = new Thread(group, work, "client");
        thread.setDaemon(true);
        return thread;
    });
    private final PushServer server = new PushServer();

    @AfterEach
    void end() {
        transport.close();
        server.close();
    }

    private PushBody body(String... parts) {
        return bodyTo("/to?a=b", parts);
    }

    private PushBody bodyTo(String path, String... parts) {
        return new PushBody(
                URI.create("http://" + server.address() + path),
                Map.of("X-One", "1", "Authorization", "Basic x"),
                List.of(parts).stream()
                        .map(part -> part.getBytes(StandardCharsets.UTF_8))
                        .toList());
    }

    private Answer send() throws Exception {
        return transport.send(body("one"), PATIENT_MILLIS);
    }

    @Test
    void partsAndHeadersArriveAsOneRequest() throws Exception {
        server.next(exchange -> {
            exchange.getResponseHeaders().set("Retry-After", "9");
            byte[] text = "no\r\n\u001b[1mroom\u009b\u2028\n".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(503, text.length);
            exchange.getResponseBody().write(text);
        });
        assertThat(transport.send(body("one", "", "two"), PATIENT_MILLIS))
                .isEqualTo(new Answer(503, "9", "no [1mroom"));
        PushServer.Received received = server.received().get(0);
        assertThat(received.path()).isEqualTo("/to?a=b");
        assertThat(new String(received.body(), StandardCharsets.UTF_8)).isEqualTo("onetwo");
        assertThat(received.header("X-One")).isEqualTo("1");
        assertThat(received.header("Authorization")).isEqualTo("Basic x");
        assertThat(received.header("Content-Length")).isEqualTo("6");
        assertThat(received.exchange().getRequestMethod()).isEqualTo("POST");
    }

    /**
     * The client for plain HTTP has no certificates. Another client is used for https; its first byte is the one of a
     * TLS handshake.
     */
    @Test
    void httpsIsAnotherClient() throws Exception {
        assertThat(send().status()).isEqualTo(200);
        CompletableFuture<Integer> firstByte = new CompletableFuture<>();
        try (ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread peer = new Thread(() -> {
                try (Socket connection = listening.accept()) {
                    firstByte.complete(connection.getInputStream().read());
                } catch (IOException e) {
                    firstByte.completeExceptionally(e);
                }
            });
            peer.start();
            URI secure = URI.create(
                    "https://" + listening.getInetAddress().getHostAddress() + ":" + listening.getLocalPort());
            assertThatIOException()
                    .as("the peer hangs up")
                    .isThrownBy(() -> transport.send(new PushBody(secure, Map.of(), List.of()), PATIENT_MILLIS));
            peer.join();
        }
        assertThat(firstByte).isCompletedWithValue(22);
        assertThat(send().status()).isEqualTo(200);
    }

    @Test
    void theFirstBytesOfALongAnswerAreKept() throws Exception {
        server.next(exchange -> {
            byte[] text = "x".repeat(300_000).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(400, text.length);
            exchange.getResponseBody().write(text);
        });
        assertThat(send()).isEqualTo(new Answer(400, null, "x".repeat(HttpTransport.FirstBytes.MAX_BYTES)));
        assertThat(send().status()).as("on the same connection").isEqualTo(200);
    }

    /** The status is 200 then, as OTLP demands. */
    @ParameterizedTest
    @CsvSource({"0, 0", "1, 1", "3000000, 3000000"})
    void aPartThatWasRejectedIsCounted(long rejected, long counted) throws Exception {
        byte[] body = ExportProfilesServiceResponse.newBuilder()
                .setPartialSuccess(ExportProfilesPartialSuccess.newBuilder()
                        .setRejectedProfiles(rejected)
                        .setErrorMessage("no room"))
                .build()
                .toByteArray();
        server.next(exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        });
        Answer answer = send();
        assertThat(answer.rejected()).isEqualTo(counted);
        assertThat(answer.text()).endsWith("no room");
    }

    @Test
    void aMalformedAnswerRejectsNothing() {
        for (byte[] body : new byte[][] {{}, {10}, {10, 0}, {10, 5, 8}, {10, 5, 18, 1}, {-1, -1, -1}, {18, 2, 8, 1}}) {
            assertThat(HttpTransport.PartialSuccess.rejected(body)).isZero();
        }
    }

    @Test
    void aRedirectionIsNotFollowed() throws Exception {
        server.next(exchange -> {
            exchange.getResponseHeaders().set("Location", "http://" + server.address() + "/elsewhere");
            exchange.sendResponseHeaders(307, -1);
        });
        assertThat(send().status()).isEqualTo(307);
        assertThat(server.received()).hasSize(1);
    }

    @Test
    void aPeerThatIsAwayAndComesBackIsFound() throws Exception {
        assertThat(send().status()).isEqualTo(200);
        server.stop();
        patiently()
                .untilAsserted(() -> assertThatExceptionOfType(ConnectException.class)
                        .isThrownBy(() -> send())); // a connection that was open fails in another way first
        server.comeBack();
        assertThat(send().status()).isEqualTo(200);
    }

    /**
     * Neither a silent peer nor one that never ends its answer. The server may receive each request after the client
     * has given it up.
     */
    @Test
    void aSlowPeerDoesNotHoldUpForLong() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        server.at("/silent", exchange -> await(end));
        server.at("/endless", exchange -> {
            exchange.sendResponseHeaders(200, 100);
            exchange.getResponseBody().write(1);
            exchange.getResponseBody().flush();
            await(end);
        });
        try {
            assertThatExceptionOfType(HttpTimeoutException.class)
                    .isThrownBy(() -> transport.send(bodyTo("/silent", "one"), 200))
                    .withMessage("no answer within 200 ms");
            assertThatExceptionOfType(HttpTimeoutException.class)
                    .isThrownBy(() -> transport.send(bodyTo("/endless", "one"), 200));
        } finally {
            end.countDown();
        }
        assertThat(send().status()).isEqualTo(200);
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        server.next(exchange -> await(end));
        Thread sender = new Thread(() -> {
            try {
                send();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Exception other) {
                throw new AssertionError(other);
            }
        });
        sender.start();
        patiently().until(() -> server.received().size() == 1);
        sender.interrupt();
        sender.join();
        end.countDown();
        assertThat(send().status()).isEqualTo(200);
    }

    /**
     * The client's own thread has ended, as after an OutOfMemoryError. From then on each request of that client fails;
     * a request that it has already taken fails at its time limit.
     */
    @Test
    void aClientThatHasEndedIsReplaced() throws Exception {
        runInGroup(() -> assertThat(send().status()).isEqualTo(200));
        Thread selector = selector();
        selector.interrupt();
        selector.join();
        assertThatIOException().isThrownBy(() -> transport.send(body("one"), 1_000));
        assertThat(send().status()).isEqualTo(200);
    }

    /**
     * Before JDK 21 a client keeps its thread until it is garbage-collected. A peer must not determine how many such
     * threads there are.
     */
    @Test
    void aPeerThatNeverAnswersLeavesNoMoreThanAFewClients() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            URI to = URI.create("http://" + silent.getInetAddress().getHostAddress() + ":" + silent.getLocalPort());
            runInGroup(() -> {
                for (int i = 0; i < 3 * HttpTransport.MAX_LEFT; i++) {
                    assertThatExceptionOfType(HttpTimeoutException.class)
                            .isThrownBy(() -> transport.send(new PushBody(to, Map.of(), List.of()), 50));
                }
            });
        }
        patiently().untilAsserted(() -> assertThat(selectors()).hasSizeLessThanOrEqualTo(HttpTransport.MAX_LEFT + 1));
        assertThat(send().status()).isEqualTo(200);
    }

    /** The JDK creates the client's own thread in the group of the thread that sends first. */
    @Test
    void allThreadsOfTheClientAreInOneGroup() throws Exception {
        runInGroup(() -> assertThat(send().status()).isEqualTo(200));
        assertThat(selector().isDaemon()).isTrue();
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("HttpClient-") && thread.isAlive())
                .filteredOn(thread -> thread.getThreadGroup() == group)
                .isNotEmpty();
    }

    @FunctionalInterface
    private interface Action {
        void run() throws Exception;
    }

    private void runInGroup(Action action) throws InterruptedException {
        List<Throwable> failures = new java.util.concurrent.CopyOnWriteArrayList<>();
        Thread thread = new Thread(group, () -> {
            try {
                action.run();
            } catch (Throwable t) {
                failures.add(t);
            }
        });
        thread.start();
        thread.join();
        assertThat(failures).isEmpty();
    }

    private Thread selector() {
        return selectors().get(0);
    }

    private List<Thread> selectors() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread ->
                        thread.getThreadGroup() == group && thread.getName().endsWith("-SelectorManager"))
                .toList();
    }
}
