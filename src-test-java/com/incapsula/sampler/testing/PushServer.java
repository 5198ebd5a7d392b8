// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPInputStream;

/** A server that records requests and gives the answers that the test sets. It can be stopped and started again. */
public final class PushServer implements AutoCloseable {

    /**
     * A received request.
     *
     * @param path of the URL
     * @param exchange for headers
     * @param body as it was sent
     */
    public record Received(String path, HttpExchange exchange, byte[] body) {

        /** @return the value of a header, or null */
        public String header(String name) {
            return exchange.getRequestHeaders().getFirst(name);
        }

        /** @return the body, decompressed by gzip */
        public byte[] unpacked() {
            return unpack(body);
        }
    }

    /** Answers a request. */
    @FunctionalInterface
    public interface Handler {
        void answer(HttpExchange exchange) throws IOException;
    }

    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final Deque<Handler> next = new ConcurrentLinkedDeque<>();
    private final ReservedPort port = new ReservedPort();
    private HttpServer server;
    private ExecutorService workers;

    /** Starts the server on a free port. */
    public PushServer() {
        start();
    }

    private void start() {
        try {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port.number()), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        workers = Executors.newCachedThreadPool();
        server.setExecutor(workers);
        server.createContext("/", this::handle);
        server.start();
    }

    private void handle(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readAllBytes();
        // taken before a test sees the request, and perhaps sends another one for which the answer is not meant
        Handler handler = next.poll();
        received.add(new Received(exchange.getRequestURI().toString(), exchange, body));
        if (handler == null) {
            exchange.sendResponseHeaders(200, -1);
        } else {
            handler.answer(exchange);
        }
        exchange.close();
    }

    /** Sets the answer to all requests to this path until the server is stopped. They are not recorded. */
    public void at(String path, Handler handler) {
        server.createContext(path, exchange -> {
            exchange.getRequestBody().readAllBytes();
            handler.answer(exchange);
            exchange.close();
        });
    }

    /** Sets the answer to the next request. Requests without a set answer get status 200. */
    public void next(Handler handler) {
        next.add(handler);
    }

    /** Sets the answer to the next request to this status, without a body. */
    public void nextStatus(int status) {
        next(exchange -> exchange.sendResponseHeaders(status, -1));
    }

    /** Stops the server: its port refuses connections. */
    public void stop() {
        server.stop(0);
        workers.shutdownNow();
    }

    /** Starts the server again on the same port. */
    public void comeBack() {
        start();
    }

    /** @return host and port */
    public String address() {
        return InetAddress.getLoopbackAddress().getHostAddress() + ":" + port.number();
    }

    /** @return the received requests, oldest first */
    public List<Received> received() {
        return received;
    }

    /** @return the decompressed bytes */
    public static byte[] unpack(byte[] packed) {
        try {
            return new GZIPInputStream(new ByteArrayInputStream(packed)).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        stop();
        port.close();
    }
}
