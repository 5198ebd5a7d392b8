// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/**
 * The slow service of a partner, on the loopback interface: it answers after as many milliseconds as it reads. It stands
 * for another machine, so it is one thread that mostly waits for work.
 */
final class Downstream implements AutoCloseable {

    private static final int MOST_MILLIS_TO_WAIT = 20_000;

    private record Answer(SocketChannel to, long at) {}

    private final Selector selector = Selector.open();
    private final ServerSocketChannel server = ServerSocketChannel.open();
    private final ByteBuffer one = ByteBuffer.allocate(1);
    private final PriorityQueue<Answer> answers = new PriorityQueue<>((a, b) -> Long.signum(a.at() - b.at()));

    Downstream() throws IOException {
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        new Thread(this::serve, "downstream").start();
    }

    Socket connect() throws IOException {
        InetSocketAddress address = (InetSocketAddress) server.getLocalAddress();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setSoTimeout(MOST_MILLIS_TO_WAIT);
        return socket;
    }

    private void serve() {
        try (selector;
                server) {
            while (server.isOpen()) {
                selector.select(this::takeOrRead, millisToAnswer());
                while (!answers.isEmpty() && answers.peek().at() <= System.nanoTime()) {
                    write(answers.remove().to());
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /* 0 if there is none. */
    private long millisToAnswer() {
        if (answers.isEmpty()) {
            return 0;
        }
        return Math.max(1, TimeUnit.NANOSECONDS.toMillis(answers.peek().at() - System.nanoTime()));
    }

    private void takeOrRead(SelectionKey key) {
        try {
            if (key.isAcceptable()) {
                SocketChannel client = server.accept();
                client.configureBlocking(false).register(selector, SelectionKey.OP_READ);
            } else {
                read((SocketChannel) key.channel());
            }
        } catch (IOException gone) {
            key.cancel();
        }
    }

    private void read(SocketChannel client) throws IOException {
        if (client.read(one.clear()) < 0) {
            client.close();
            return;
        }
        answers.add(
                new Answer(client, System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Byte.toUnsignedInt(one.get(0)))));
    }

    private void write(SocketChannel client) {
        try {
            client.write(one.clear());
        } catch (IOException gone) {
            /* the client has not waited for the answer */
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        selector.wakeup();
    }
}
