// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import com.incapsula.sampler.internal.engine.InternalThreads;
import com.incapsula.sampler.internal.report.LibraryLog;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Accepts connections, and passes a connection on when the headers of its request are complete. One thread waits for
 * all clients, so a silent or slow client blocks no other thread. The JDK's HTTP server is not used, because it can
 * limit connections and the time for a request only for all servers of the process together.
 *
 * <p>At most {@link #MAX_WAITING} connections wait here, for their requests or for their ends; a further one closes the
 * oldest. An answered connection is closed after its client has closed it, or after a second. Closing it at once would
 * lose the answer if the client is still sending.
 *
 * <p>Threads: any.
 */
final class HttpFront implements AutoCloseable {

    static final int MAX_WAITING = 64;
    static final int MAX_HEAD_BYTES = 16 * 1024;

    private static final int FIRST_BYTES = 1024;
    private static final int BACKLOG = 128;
    private static final long END_MILLIS = 1_000;
    private static final long PAUSE_MILLIS = 50; // after a failure

    /** Takes connections with complete headers. */
    @FunctionalInterface
    interface Requests {

        /**
         * Takes a connection; returns soon.
         *
         * @param channel in blocking mode; to be passed to {@link HttpFront#answered} or {@link HttpFront#drop}
         * @param received the headers, and perhaps the beginning of the body; incomplete if the headers are too long
         */
        void take(SocketChannel channel, ByteBuffer received);
    }

    /** A waiting connection. */
    private static final class Waiting {

        private final SocketChannel channel;
        private final long endNanos;
        private ByteBuffer received = ByteBuffer.allocate(FIRST_BYTES);
        private final boolean isAnswered;

        Waiting(SocketChannel channel, long millis, boolean isAnswered) {
            this.channel = channel;
            this.endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
            this.isAnswered = isAnswered;
        }

        /** @return true if the headers are complete, or too long */
        boolean isComplete() {
            return received.position() == MAX_HEAD_BYTES
                    || HttpExchange.endOfHead(received.array(), received.position()) >= 0;
        }

        /** @return false at the end of the connection */
        boolean receive() throws IOException {
            if (isAnswered) {
                received.clear();
            } else if (!received.hasRemaining()) {
                int bytes = Math.min(2 * received.capacity(), MAX_HEAD_BYTES);
                received = ByteBuffer.allocate(bytes).put(received.flip());
            }
            return channel.read(received) >= 0;
        }
    }

    private final Requests requests;
    private final long headMillis;
    private final Selector selector;
    private final ServerSocketChannel server;
    private final InetSocketAddress address;
    private final Thread thread;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final Queue<SocketChannel> answered = new ConcurrentLinkedQueue<>();
    private final Set<Waiting> waiting = new LinkedHashSet<>(); // used by the thread only, as is complete
    private final List<Waiting> complete = new ArrayList<>();
    private volatile boolean closed;

    /**
     * Listens; accepts no connection before {@link #start}.
     *
     * @param headMillis time for a client to send its headers
     * @throws IOException if the address cannot be listened on
     */
    HttpFront(InetSocketAddress address, ThreadGroup group, long headMillis, Requests requests) throws IOException {
        this.requests = requests;
        this.headMillis = headMillis;
        selector = Selector.open();
        ServerSocketChannel listening = null;
        try {
            listening = listen(address);
        } finally {
            if (listening == null) {
                selector.close();
            }
        }
        server = listening;
        this.address = (InetSocketAddress) server.getLocalAddress();
        thread = InternalThreads.daemon(group, this::run, "threads-sampler-http-front");
    }

    private ServerSocketChannel listen(InetSocketAddress at) throws IOException {
        ServerSocketChannel made = ServerSocketChannel.open();
        boolean listens = false;
        try {
            made.bind(at, BACKLOG);
            made.configureBlocking(false);
            made.register(selector, SelectionKey.OP_ACCEPT);
            listens = true;
            return made;
        } finally {
            if (!listens) {
                made.close();
            }
        }
    }

    void start() {
        thread.start();
    }

    /** @return the address with the port in use */
    InetSocketAddress address() {
        return address;
    }

    /** Takes back a connection after its answer. */
    void answered(SocketChannel channel) throws IOException {
        channel.shutdownOutput();
        answered.add(channel);
        selector.wakeup();
    }

    /** Closes a connection at once. */
    void drop(SocketChannel channel) {
        open.remove(channel);
        try {
            channel.close();
        } catch (IOException e) {
            // it is closed already
        }
    }

    /** Releases the port and closes all connections. Returns when the thread has ended. */
    @Override
    public void close() {
        closed = true;
        if (thread.getState() == Thread.State.NEW) {
            end();
            return;
        }
        selector.wakeup();
        InternalThreads.await(thread, Long.MAX_VALUE);
    }

    private void run() {
        while (!closed) {
            try {
                serve();
            } catch (IOException | RuntimeException | Error e) {
                LibraryLog.log(System.Logger.Level.DEBUG, "a connection could not be served", e);
                evict();
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
            }
        }
        end();
    }

    private void end() {
        try {
            server.close();
            selector.close(); // the port is in use until then
        } catch (IOException e) {
            LibraryLog.log(System.Logger.Level.DEBUG, "the server's port could not be given back", e);
        }
        open.forEach(this::drop);
    }

    private void serve() throws IOException {
        if (complete.isEmpty() && answered.isEmpty()) {
            selector.select(millisToWait());
        } else {
            selector.selectNow();
        }
        /* Only now has the selector released these channels. */
        complete.forEach(this::passOn);
        complete.clear();
        for (SocketChannel each = answered.poll(); each != null; each = answered.poll()) {
            await(each, true);
        }
        for (SelectionKey key : selector.selectedKeys()) {
            Waiting client = (Waiting) key.attachment();
            if (client == null) {
                accept();
            } else if (key.isValid()) {
                receive(client, key);
            }
        }
        selector.selectedKeys().clear();
        closeExpired();
    }

    /* Returns 0 for no limit. */
    private long millisToWait() {
        long soonest = Long.MAX_VALUE;
        long now = System.nanoTime();
        for (Waiting client : waiting) {
            soonest = Math.min(soonest, client.endNanos - now);
        }
        return waiting.isEmpty() ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMillis(soonest) + 1);
    }

    private void accept() throws IOException {
        for (int i = 0; i < MAX_WAITING; i++) { // limits the loop, so that waiting clients have their turn
            SocketChannel client = server.accept();
            if (client == null) {
                return;
            }
            open.add(client);
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            await(client, false);
        }
    }

    private void await(SocketChannel channel, boolean isAnswered) {
        Waiting client = new Waiting(channel, isAnswered ? END_MILLIS : headMillis, isAnswered);
        try {
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ, client);
            waiting.add(client);
            receive(client, key); // most requests arrive with their connections, and need not wait
        } catch (IOException e) {
            remove(client);
        }
        if (waiting.size() > MAX_WAITING) {
            evict();
        }
    }

    private void receive(Waiting client, SelectionKey key) {
        try {
            if (!client.receive()) {
                remove(client);
            } else if (!client.isAnswered && client.isComplete()) {
                waiting.remove(client);
                key.cancel();
                complete.add(client);
            }
        } catch (IOException | OutOfMemoryError e) {
            remove(client);
        }
    }

    private void passOn(Waiting client) {
        try {
            client.channel.configureBlocking(true);
            requests.take(client.channel, client.received.flip());
        } catch (IOException | RuntimeException e) {
            drop(client.channel);
        }
    }

    private void closeExpired() {
        long now = System.nanoTime();
        for (Iterator<Waiting> clients = waiting.iterator(); clients.hasNext(); ) {
            Waiting client = clients.next();
            if (client.endNanos - now <= 0) {
                clients.remove();
                drop(client.channel);
            }
        }
    }

    /* Returns the oldest one. */
    private void evict() {
        Iterator<Waiting> clients = waiting.iterator();
        if (clients.hasNext()) {
            remove(clients.next());
        }
    }

    private void remove(Waiting client) {
        waiting.remove(client);
        drop(client.channel);
    }
}
