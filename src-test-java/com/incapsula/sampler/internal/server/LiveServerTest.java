// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.incapsula.sampler.Fakes;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.FakeSampler;
import com.incapsula.sampler.internal.engine.FakeSnapshot;
import com.incapsula.sampler.testing.Samplers;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The server with malicious clients, and a fake core. */
@Timeout(Samplers.HANG_SECONDS)
class LiveServerTest {

    private static final long HEADERS_MILLIS = 700;
    private static final int LONG_MILLIS = (int) Samplers.LONG.toMillis();
    private static final int HOUR_SECONDS = 3600;
    private static final int KEPT_BYTES = 32 << 20;

    /* More than the buffers between the server and a client that does not read. */
    private static final int LARGE_BYTES = 8 << 20;
    private static final int CLIENT_BUFFER_BYTES = 64 * 1024;
    private static final String HOST = "Host: localhost\r\n";

    private final FakeSampler fake = new FakeSampler();
    private final ThreadsSampler sampler = Fakes.sampler(fake.lifecycle());
    private final List<Socket> sockets = Collections.synchronizedList(new ArrayList<>());
    private LiveServer server;

    @BeforeEach
    void start() {
        sampler.init();
        serve(LONG_MILLIS, KEPT_BYTES);
    }

    private void serve(long headersMillis, long keptBytes) {
        LiveServer.Plan plan = new LiveServer.Plan(
                sampler,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                "127.0.0.1",
                List.of(),
                null,
                HOUR_SECONDS,
                true);
        server = new LiveServer(plan, fake.lifecycle(), headersMillis, keptBytes);
    }

    /* Replaces the server, which is patient with slow clients. */
    private void serveImpatiently() {
        server.close();
        serve(HEADERS_MILLIS, KEPT_BYTES);
    }

    private void serveWithMemoryFor(long keptBytes) {
        server.close();
        serve(LONG_MILLIS, keptBytes);
    }

    @AfterEach
    void stop() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        server.close();
        sampler.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setReceiveBufferSize(CLIENT_BUFFER_BYTES);
        socket.connect(server.address(), LONG_MILLIS);
        socket.setSoTimeout(LONG_MILLIS);
        return socket;
    }

    private Socket send(String text) throws IOException {
        Socket socket = connect();
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        return socket;
    }

    /** @return everything received until the server closes the connection */
    private static String answer(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private String answerTo(String text) throws IOException {
        try (Socket socket = send(text)) {
            return answer(socket);
        }
    }

    private void assertServes() throws IOException {
        assertThat(answerTo("GET /top.txt HTTP/1.1\r\n" + HOST + "\r\n"))
                .startsWith("HTTP/1.1 200 OK")
                .endsWith("0\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /top.txt HTTP/1.1\r\nHost: evil.example\r\n\r\n",
                "GET /top.txt HTTP/1.0\r\n\r\n",
                "GET http://localhost/top.txt HTTP/1.1\r\nHost: evil.example\r\n\r\n",
            })
    void requestToAnotherNameGetsNothing(String request) throws IOException {
        assertRefused(request, "HTTP/1\\.1 421 ");
    }

    /** Such a page cannot read a profile, but the request would keep other clients from theirs for its duration. */
    @ParameterizedTest
    @ValueSource(strings = {"image", "iframe", "empty"})
    void aPageOfAnotherSiteCannotKeepTheServerBusy(String destination) throws IOException {
        String part = "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: " + destination + "\r\n\r\n";
        assertRefused("GET /debug/pprof/profile?seconds=1 HTTP/1.1\r\n" + HOST + part, "HTTP/1\\.1 403 ");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Dest: document\r\n",
                "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Dest: empty\r\n",
                "Sec-Fetch-Site: none\r\nSec-Fetch-Dest: document\r\n"
            })
    void linksAndThePageItselfAreAnswered(String headers) throws IOException {
        assertThat(answerTo("GET /top.txt HTTP/1.1\r\n" + HOST + headers + "\r\n"))
                .startsWith("HTTP/1.1 200 OK");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /top.txt HTTP/1.1\r\n\r\n",
                "GET /top.txt HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
                "GET /top.txt HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
            })
    void requestWithoutExactlyOneNameGetsNothing(String request) throws IOException {
        assertRefused(request, "HTTP/1\\.1 421 ");
    }

    private void assertRefused(String request, String status) throws IOException {
        String answer = answerTo(request);
        assertThat(answer).containsPattern("\\A" + status).doesNotContain("TOP");
        assertThat(fake.calls()).containsExactly("start");
        assertServes();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\r\n\r\n",
                "GET\r\n\r\n",
                "GET /\u0000 HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /top.txt HTTP/9.9\r\nHost: localhost\r\n\r\n",
                "\u0016\u0003\u0001 hello",
                "GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "GET /top.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
                "GET /top.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
            })
    void nonsenseHarmsNoOtherRequest(String request) throws IOException {
        try (Socket socket = send(request)) {
            socket.shutdownOutput();
            answer(socket);
        }
        assertServes();
    }

    @Test
    void clientsThatVanishHarmNoOtherRequest() throws IOException {
        for (int i = 0; i < 40; i++) {
            connect().close();
            send("GET /top.txt HTTP/1.1\r\nHost: lo").close();
            Socket rude = send("GET /report.json HTTP/1.1\r\n" + HOST + "\r\n");
            rude.setSoLinger(true, 0);
            rude.close();
        }
        /*
         * While such clients fill the queue, a request is dropped: its client sees the end of the connection, or a
         * reset.
         */
        await().ignoreExceptionsInstanceOf(IOException.class).untilAsserted(this::assertServes);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void clientThatIsGoneFreesItsPlace(boolean byReset) throws IOException {
        Socket gone = send("GET /debug/pprof/profile?seconds=" + HOUR_SECONDS + " HTTP/1.1\r\n" + HOST + "\r\n");
        assertThat(gone.getInputStream().readNBytes(12))
                .as("it is under way")
                .asString()
                .isEqualTo("HTTP/1.1 200");
        assertThat(askForProfile()).startsWith("HTTP/1.1 429");
        gone.setSoLinger(byReset, 0);
        gone.close();
        /* The profile of an hour has ended early. */
        await().until(() -> askForProfile().startsWith("HTTP/1.1 200"));
    }

    private String askForProfile() throws IOException {
        return answerTo("GET /debug/pprof/profile?seconds=1 HTTP/1.1\r\n" + HOST + "\r\n");
    }

    @Test
    void clientThatOnlyStopsSendingGetsItsProfile() throws IOException {
        try (Socket socket = send("GET /debug/pprof/profile?seconds=2 HTTP/1.1\r\n" + HOST + "\r\n")) {
            socket.shutdownOutput();
            assertThat(answer(socket)).startsWith("HTTP/1.1 200").endsWith("\r\n0\r\n\r\n");
        }
    }

    @Test
    void slowClientsAreCutOff() throws IOException {
        serveImpatiently();
        List<Socket> slow = new ArrayList<>();
        for (int i = 0; i < RequestWorkers.THREADS; i++) {
            slow.add(send("GET /top.txt HTTP/1.1\r\nHost: lo"));
        }
        await().ignoreExceptions().untilAsserted(this::assertServes);
        for (Socket socket : slow) {
            assertThat(isCutOff(socket)).isTrue();
        }
    }

    @Test
    void slowClientsKeepNoThread() throws IOException {
        for (int i = 0; i < 10 * RequestWorkers.THREADS; i++) {
            send("GET /top.txt HTTP/1.1\r\nHost: lo");
        }
        assertServes();
    }

    /** Messages that never arrive block two threads. All of these clients together fit into the queue. */
    @Test
    void slowClientsOfModelsKeepNoThreadFromOthers() throws IOException {
        for (int i = 0; i < 2 * RequestWorkers.THREADS; i++) {
            send("POST /mcp HTTP/1.1\r\n" + HOST + "Content-Type: application/json\r\nContent-Length: 9\r\n\r\nx");
        }
        assertServes();
    }

    /** Each further connection closes the oldest one. */
    @ParameterizedTest
    @ValueSource(strings = {"", "GET /top.txt HTTP/1.1\r\nHost: lo"})
    void connectionsWithoutARequestAreLimited(String part) throws IOException {
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 3 * HttpFront.MAX_WAITING; i++) {
            silent.add(send(part));
        }
        assertServes();
        for (Socket socket : silent.subList(0, 2 * HttpFront.MAX_WAITING)) {
            assertThat(isCutOff(socket)).isTrue();
        }
        Socket youngest = silent.get(silent.size() - 1);
        youngest.setSoTimeout(1);
        assertThat(isCutOff(youngest)).isFalse();
    }

    @Test
    void silentConnectionsAreCutOff() throws IOException {
        serveImpatiently();
        assertThat(isCutOff(connect())).isTrue();
    }

    @Test
    void aRequestMayComeInPieces() throws IOException {
        Socket socket = connect();
        for (byte each : ("GET /top.txt HTTP/1.1\r\n" + HOST + "\r\n").getBytes(StandardCharsets.ISO_8859_1)) {
            socket.getOutputStream().write(each);
        }
        assertThat(answer(socket)).startsWith("HTTP/1.1 200 OK");
    }

    @Test
    void headersHaveALimit() throws IOException {
        String filler = "X: " + "x".repeat(1000) + "\r\n";
        assertThat(answerTo("GET /top.txt HTTP/1.1\r\n" + HOST + filler.repeat(15) + "\r\n"))
                .startsWith("HTTP/1.1 200 OK");
        assertThat(answerTo("GET /top.txt HTTP/1.1\r\n" + HOST + filler.repeat(50) + "\r\n"))
                .startsWith("HTTP/1.1 431 ");
    }

    @Test
    void aMessageMayComeInChunks() throws IOException {
        String head = "POST /mcp HTTP/1.1\r\n" + HOST + "Content-Type: application/json\r\n";
        String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        String inChunks = "5;x=y\r\n" + ping.substring(0, 5) + "\r\n" + Integer.toHexString(ping.length() - 5) + "\r\n"
                + ping.substring(5) + "\r\n0\r\n\r\n";
        String plain = answerTo(head + "Content-Length: " + ping.length() + "\r\n\r\n" + ping);
        assertThat(plain).startsWith("HTTP/1.1 200 OK").contains("\"id\":1");
        assertThat(answerTo(head + "Transfer-Encoding: chunked\r\n\r\n" + inChunks)
                        .lines())
                .last()
                .isEqualTo(plain.lines().reduce("", (before, line) -> line));
    }

    private void makeLargeReports() {
        fake.setInterval(() -> {
            FakeSnapshot interval = new FakeSnapshot();
            interval.document = "x".repeat(LARGE_BYTES);
            return interval;
        });
    }

    /** @return a connection from which only the first bytes of a large report were read */
    private Socket beginToRead(String headers) throws IOException {
        Socket socket = send("GET /report.txt HTTP/1.1\r\n" + HOST + headers + "\r\n");
        assertThat(socket.getInputStream().readNBytes(12)).asString().isEqualTo("HTTP/1.1 200");
        return socket;
    }

    private static void assertReadsTheRest(Socket socket) throws IOException {
        String rest = answer(socket);
        assertThat(rest.length()).isGreaterThan(LARGE_BYTES);
        assertThat(rest.endsWith("x\r\n0\r\n\r\n")).isTrue();
    }

    /** This holds also if the request announces a body, for which there is little time. */
    @ParameterizedTest
    @ValueSource(strings = {"", "Content-Length: 0\r\n"})
    void clientThatDoesNotReadDelaysNoOthers(String headers) throws IOException {
        makeLargeReports();
        Socket lazy = beginToRead(headers);
        assertServes();
        for (int seconds = 0; seconds < 2; seconds++) {
            assertThat(askForProfile()).startsWith("HTTP/1.1 200");
        }
        assertReadsTheRest(lazy);
    }

    @Test
    void reportPastTheMemoryForItIsSentWhileItIsMade() throws IOException {
        serveWithMemoryFor(AnswerBody.PIECE_BYTES);
        makeLargeReports();
        Socket lazy = beginToRead("");
        assertThat(answerTo("GET /top.txt HTTP/1.1\r\n" + HOST + "\r\n")).startsWith("HTTP/1.1 429");
        assertReadsTheRest(lazy);
        await().untilAsserted(this::assertServes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Accept-Encoding: gzip\r\n"})
    void answerThatBreaksOffIsSeenToBeIncomplete(String headers) throws IOException {
        serveWithMemoryFor(0);
        fake.setInterval(() -> {
            FakeSnapshot interval = new FakeSnapshot();
            interval.failure = new OutOfMemoryError("no memory");
            return interval;
        });
        assertThat(answerTo("GET /report.txt HTTP/1.1\r\n" + HOST + headers + "\r\n"))
                .startsWith("HTTP/1.1 200 ")
                .doesNotEndWith("\r\n0\r\n\r\n");
    }

    private static boolean isCutOff(Socket socket) {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException stillOpen) {
            return false;
        } catch (IOException reset) {
            return true;
        }
    }

    @Test
    void bodyOfARequestIsNotRead() throws IOException {
        for (String method : List.of("POST", "GET")) {
            for (int i = 0; i < RequestWorkers.THREADS; i++) {
                send(method + " /top.txt HTTP/1.1\r\n" + HOST + "Content-Length: 1000000000\r\n\r\nx");
            }
            assertServes();
        }
    }

    @Test
    void connectionsAreNotKept() throws IOException {
        String twice = "GET /top.txt HTTP/1.1\r\n" + HOST + "\r\n";
        assertThat(answerTo(twice + twice)).containsOnlyOnce("200 OK").contains("Connection: close");
    }

    @Test
    void manyAtOnceAreAllAnsweredOrTurnedAway() throws Exception {
        List<String> answers = Collections.synchronizedList(new ArrayList<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            Thread thread = new Thread(() -> {
                try {
                    answers.add(answerTo("GET /report.json HTTP/1.1\r\n" + HOST + "\r\n"));
                } catch (IOException e) {
                    answers.add(e.toString());
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(answers)
                .hasSize(15)
                .allMatch(text -> text.startsWith("HTTP/1.1 200")
                        || text.startsWith("HTTP/1.1 429") && text.contains("Retry-After:"));
        assertThat(answers).anyMatch(text -> text.contains("JSON 0 " + FakeSnapshot.STANDARD_FLAGS));
    }
}
