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

/** A server that records what is sent to it, and answers as the test says. It can be stopped and come back. */
public final class PushServer implements AutoCloseable {

    /**
     * What came.
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

        /** @return the body without gzip */
        public byte[] unpacked() {
            return unpack(body);
        }
    }

    /** How a request is answered. */
    @FunctionalInterface
    public interface Handler {
        void answer(HttpExchange exchange) throws IOException;
    }

    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final Deque<Handler> next = new ConcurrentLinkedDeque<>();
    private final ReservedPort port = new ReservedPort();
    private HttpServer server;
    private ExecutorService workers;

    /** Starts it on a free port. */
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
        Handler handler = next.poll(); // before a test sees the request, and sends another one that is not meant
        received.add(new Received(exchange.getRequestURI().toString(), exchange, body));
        if (handler == null) {
            exchange.sendResponseHeaders(200, -1);
        } else {
            handler.answer(exchange);
        }
        exchange.close();
    }

    /** Each request to this path is answered so, until the server is stopped; none of them is recorded. */
    public void at(String path, Handler handler) {
        server.createContext(path, exchange -> {
            exchange.getRequestBody().readAllBytes();
            handler.answer(exchange);
            exchange.close();
        });
    }

    /** The next request is answered so; those for which nothing is said, with 200. */
    public void next(Handler handler) {
        next.add(handler);
    }

    /** The next request is answered with this status, and no body. */
    public void nextStatus(int status) {
        next(exchange -> exchange.sendResponseHeaders(status, -1));
    }

    /** Nothing listens any more. */
    public void stop() {
        server.stop(0);
        workers.shutdownNow();
    }

    /** It listens again, at the same port. */
    public void comeBack() {
        start();
    }

    /** @return host and port */
    public String address() {
        return InetAddress.getLoopbackAddress().getHostAddress() + ":" + port.number();
    }

    /** @return what came, the oldest first */
    public List<Received> received() {
        return received;
    }

    /** @return the bytes that were packed by gzip */
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
