// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.incapsula.sampler.testing.Samplers;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One request and its answer, on a connection to a client in this thread. */
@Timeout(Samplers.HANG_SECONDS)
class HttpExchangeTest {

    private static final String POST = "POST /mcp HTTP/1.1\r\n";
    private static final String IN_CHUNKS = POST + "Transfer-Encoding: chunked\r\n\r\n";
    private static final String GONE = "the client has closed the connection";
    private static final int MANY = 1000;

    private SocketChannel client;
    private SocketChannel server;

    @BeforeEach
    void connect() throws IOException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            client = SocketChannel.open(listener.getLocalAddress());
            server = listener.accept();
        }
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /** @return an exchange that has received this much already, with its headers read */
    private HttpExchange exchange(String received) throws Refusal {
        ByteBuffer buffer = ByteBuffer.allocate(HttpFront.MAX_HEAD_BYTES);
        HttpExchange exchange =
                new HttpExchange(server, buffer.put(bytes(received)).flip());
        exchange.readHead();
        return exchange;
    }

    private void send(String text) throws IOException {
        ByteBuffer rest = ByteBuffer.wrap(bytes(text));
        while (rest.hasRemaining()) {
            client.write(rest);
        }
    }

    /** Sends the rest of a request; nothing comes after it. */
    private void sendLast(String text) throws IOException {
        send(text);
        client.shutdownOutput();
    }

    /** @return all that the client receives, after the end of the exchange */
    private String answer() throws IOException {
        server.close();
        return new String(Channels.newInputStream(client).readAllBytes(), StandardCharsets.ISO_8859_1);
    }

    private static String text(byte[] body) {
        return new String(body, StandardCharsets.ISO_8859_1);
    }

    /** Headers may arrive in pieces that end anywhere. */
    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n"})
    void theEndOfTheHeadersIsFoundOnlyWhenItHasArrived(String head) {
        byte[] all = bytes(head + "rest");
        for (int length = 0; length < head.length(); length++) {
            assertThat(HttpExchange.endOfHead(all, length))
                    .as("%d bytes", length)
                    .isEqualTo(-1);
        }
        assertThat(HttpExchange.endOfHead(all, head.length())).isEqualTo(head.length());
        assertThat(HttpExchange.endOfHead(all, all.length)).isEqualTo(head.length());
    }

    /** Two programs that understand such a request differently can be played off against each other. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Host localhost",
                "Host : localhost",
                " Host: localhost",
                ": localhost",
                "Host: local\u0001host",
                "Content-Length: 1\r\nContent-Length: 1",
                "Content-Length: 1x",
                "Content-Length: 1234567890123456789",
                "Content-Length: 5\r\nTransfer-Encoding: chunked",
                "Transfer-Encoding: gzip",
                "Transfer-Encoding: gzip, chunked",
            })
    void ambiguousHeadersAreRefused(String headers) {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> exchange(POST + headers + "\r\n\r\n"))
                .withMessage("the request cannot be read")
                .matches(refusal -> refusal.status() == 400);
    }

    @Test
    void namesOfHeadersAndCodingsHaveNoCase() throws Exception {
        HttpExchange exchange =
                exchange(POST + "TRANSFER-encoding: Chunked\r\nx-A:  b c \t\r\n\r\n1\r\na\r\n0\r\n\r\n");
        assertThat(exchange.getRequestHeaders().getFirst("X-a")).isEqualTo("b c");
        assertThat(text(exchange.readBody(MANY))).isEqualTo("a");
    }

    @ParameterizedTest
    @CsvSource({"abc, de", "'', abcde", "abcde, ''"})
    void aBodyIsReadToItsLength(String received, String later) throws Exception {
        HttpExchange exchange = exchange(POST + "Content-Length: 5\r\n\r\n" + received);
        send(later + "of the next request");
        assertThat(text(exchange.readBody(MANY))).isEqualTo("abcde");
    }

    @Test
    void withoutALengthThereIsNoBody() throws Exception {
        assertThat(exchange(POST + "\r\nabc").readBody(MANY)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 999999999999\r\n\r\nabcdef",
                "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef",
                "Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2\r\nef\r\n"
            })
    void onlyTheFirstBytesOfALargeBodyAreRead(String rest) throws Exception {
        assertThat(text(exchange(POST + rest).readBody(4))).isEqualTo("abcd");
    }

    /** Without the status 100, curl would wait for a second before it sends the body. */
    @Test
    void theClientIsToldToSendItsBody() throws Exception {
        String head = POST + "Expect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
        HttpExchange exchange = exchange(head);
        send("ab");
        assertThat(text(exchange.readBody(MANY))).isEqualTo("ab");
        assertThat(text(exchange(head + "ab").readBody(MANY))).isEqualTo("ab");
        assertThat(answer())
                .as("once: the second client has sent its body already")
                .isEqualTo("HTTP/1.1 100 Continue\r\n\r\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: 5\r\n\r\nabc",
                "Transfer-Encoding: chunked\r\n\r\n",
                "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                "Transfer-Encoding: chunked\r\n\r\n3",
            })
    void aClientThatBreaksOffIsAFailure(String rest) throws Exception {
        HttpExchange exchange = exchange(POST + rest);
        sendLast("");
        assertThatExceptionOfType(EOFException.class)
                .isThrownBy(() -> exchange.readBody(MANY))
                .withMessage(GONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "", "-1", "123456789", "1 2", "0x1"})
    void whatIsNoChunkIsAFailure(String size) throws Exception {
        HttpExchange exchange = exchange(IN_CHUNKS + size + "\r\nabc\r\n0\r\n\r\n");
        assertThatIOException().isThrownBy(() -> exchange.readBody(MANY)).withMessage("the client sends no chunks");
    }

    @Test
    void theLineOfAChunkHasALimit() throws Exception {
        String body = "3;" + "x".repeat(MANY) + "\r\nabc\r\n0\r\n\r\n";
        assertThat(text(exchange(IN_CHUNKS + body).readBody(MANY))).isEqualTo("abc");
        HttpExchange exchange = exchange(IN_CHUNKS + body.replace("x", "xx"));
        assertThatExceptionOfType(EOFException.class).isThrownBy(() -> exchange.readBody(MANY));
    }

    /** A client of HTTP/1.0 cannot read chunks; the end of the connection is the end of its answer. */
    @ParameterizedTest
    @CsvSource({"HTTP/1.1, true", "HTTP/1.0, false"})
    void anAnswerOfUnknownLengthIsSentInChunksIfTheClientKnowsThem(String version, boolean inChunks) throws Exception {
        HttpExchange exchange = exchange("GET / " + version + "\r\n\r\n");
        exchange.sendResponseHeaders(200, 0);
        try (OutputStream body = exchange.getResponseBody()) {
            body.write('a');
            body.write(bytes("bc"));
        }
        assertThat(answer())
                .startsWith("HTTP/1.1 200 OK\r\n")
                .contains("\r\nConnection: close\r\n")
                .doesNotContain("Content-Length")
                .matches(text -> text.contains("\r\nTransfer-Encoding: chunked\r\n") == inChunks)
                .endsWith("\r\n\r\n" + (inChunks ? "3\r\nabc\r\n0\r\n\r\n" : "abc"));
    }

    @Test
    void theAnswerToHeadHasNoBody() throws Exception {
        exchange("HEAD / HTTP/1.1\r\n\r\n").answer(404, "text/plain", bytes("nothing"));
        assertThat(answer())
                .startsWith("HTTP/1.1 404 Not Found\r\n")
                .contains("\r\nContent-Type: text/plain\r\n")
                .endsWith("\r\n\r\n")
                .doesNotContain("nothing")
                .doesNotContain("Content-Length");
    }

    @Test
    void theBodyComesAfterTheHeaders() throws Exception {
        HttpExchange exchange = exchange("GET / HTTP/1.1\r\n\r\n");
        assertThatIllegalStateException().isThrownBy(exchange::getResponseBody);
        exchange.answer(200, "text/plain", bytes("abc"));
        assertThat(answer()).contains("\r\nContent-Length: 3\r\n").endsWith("\r\n\r\nabc");
    }
}
