// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.mcp.KeptIntervals;
import com.incapsula.sampler.internal.mcp.McpProtocol;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The path at which language models read the sampler: the Model Context Protocol over HTTP, each answer in one piece.
 * One request at a time is answered and one more may wait, so half of the server's threads stay free for other clients.
 *
 * <p>Threads: any.
 */
final class McpEndpoint implements AutoCloseable {

    static final String PATH = "/mcp";

    private static final long BODY_MILLIS = 5_000; // for a client to send its message
    private static final long ANSWER_MILLIS = 90_000; // an answer may wait for another one, and sample first
    private static final int PLACES = 2;
    private static final long WAIT_MILLIS = 45_000;
    private static final int UNAUTHORIZED = 401;

    private final KeptIntervals intervals; // guarded by turn
    private final McpProtocol protocol; // guarded by turn
    private final Semaphore places = new Semaphore(PLACES);
    private final Semaphore turn = new Semaphore(1, true);
    private volatile boolean closed;

    McpEndpoint(ThreadsSampler sampler) {
        intervals = new KeptIntervals(sampler);
        protocol = new McpProtocol(intervals);
    }

    /** Releases intervals that are no longer read. Does nothing while a request is answered. */
    void renew() {
        if (turn.tryAcquire()) {
            try {
                if (!closed) {
                    intervals.renew();
                }
            } finally {
                turn.release();
            }
        }
    }

    /**
     * Refuses requests of another site's page, and requests that do not belong to the protocol.
     *
     * @param guard decides which requests are allowed
     */
    static void check(HttpExchange exchange, RequestGuard guard) throws Refusal {
        HttpHeaders headers = exchange.getRequestHeaders();
        if (!guard.isSameOrigin(headers.get("Origin"), headers.getFirst("Host"))) {
            throw new Refusal(403, "a page of another site must not read this server");
        }
        if (!exchange.getRequestMethod().equals("POST")) {
            throw new Refusal(
                    405, "the Model Context Protocol is spoken by POST here, without streams", Map.of("Allow", "POST"));
        }
        if (!guard.isAllowed(headers.get("Authorization"))) {
            throw new Refusal(
                    UNAUTHORIZED,
                    "the request needs a token: as a bearer token, or as the password of any user",
                    Map.of("WWW-Authenticate", "Bearer realm=\"threads-sampler\""));
        }
        String type = headers.getFirst("Content-Type");
        if (type == null || !type.toLowerCase(Locale.ROOT).matches("application/json\\s*(;.*)?")) {
            throw new Refusal(415, "a message must have the type application/json");
        }
    }

    private static byte[] read(HttpExchange exchange) throws IOException, Refusal {
        byte[] message = exchange.readBody(McpProtocol.MAX_MESSAGE_BYTES + 1);
        if (message.length > McpProtocol.MAX_MESSAGE_BYTES) {
            throw new Refusal(413, "a message has at most " + McpProtocol.MAX_MESSAGE_BYTES + " bytes");
        }
        return message;
    }

    /** Answers a request that {@link #check} has not refused, on the calling thread, which is one of the workers. */
    void answer(HttpExchange exchange, RequestWorkers workers) throws IOException, Refusal {
        /* Before the message is read, so that slow clients hold no further threads. */
        if (!places.tryAcquire()) {
            throw busy();
        }
        try {
            workers.allow(BODY_MILLIS);
            byte[] message = read(exchange);
            workers.allow(ANSWER_MILLIS);
            HttpHeaders headers = exchange.getRequestHeaders();
            send(
                    exchange,
                    inTurn(
                            message,
                            new McpProtocol.Headers(
                                    headers.getFirst("MCP-Protocol-Version"),
                                    headers.getFirst("Mcp-Method"),
                                    headers.getFirst("Mcp-Name"))));
        } finally {
            places.release();
        }
    }

    private McpProtocol.Answer inTurn(byte[] message, McpProtocol.Headers headers) throws IOException, Refusal {
        try {
            if (!turn.tryAcquire(WAIT_MILLIS, TimeUnit.MILLISECONDS)) {
                throw busy();
            }
            try {
                if (closed) {
                    throw new IOException("the server was closed");
                }
                return protocol.answer(message, headers);
            } finally {
                turn.release();
            }
        } catch (InterruptedException e) {
            throw new IOException("the server was closed", e);
        }
    }

    private static Refusal busy() {
        return new Refusal(
                429, "other requests of the protocol are being answered; one at a time is", Map.of("Retry-After", "2"));
    }

    private static void send(HttpExchange exchange, McpProtocol.Answer answer) throws IOException {
        String body = answer.body();
        exchange.answer(
                answer.status(), "application/json", body == null ? null : body.getBytes(StandardCharsets.UTF_8));
    }

    /** Closes the endpoint after a request under way, which the caller has interrupted. */
    @Override
    public void close() {
        closed = true;
        turn.acquireUninterruptibly();
        intervals.close();
        turn.release();
    }
}
