// SPDX-License-Identifier: Apache-2.0
package com.example.bookings;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;

/** The slow service of a partner, on the loopback interface: it answers after as many milliseconds as it reads. */
final class Downstream implements AutoCloseable {

    private static final int MOST_MILLIS_TO_WAIT = 20_000;

    private final ServerSocket server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());

    Downstream() throws IOException {
        new Thread(this::accept, "downstream-accept").start();
    }

    Socket connect() throws IOException {
        Socket socket = new Socket(server.getInetAddress(), server.getLocalPort());
        socket.setSoTimeout(MOST_MILLIS_TO_WAIT);
        return socket;
    }

    private void accept() {
        try {
            for (int number = 1; ; number++) {
                Socket client = server.accept();
                new Thread(() -> serve(client), "downstream-" + number).start();
            }
        } catch (SocketException closed) {
            /* the run is over */
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void serve(Socket client) {
        try (client) {
            InputStream questions = client.getInputStream();
            for (int millis = questions.read(); millis >= 0; millis = questions.read()) {
                Thread.sleep(millis);
                client.getOutputStream().write(1);
            }
        } catch (SocketException closed) {
            /* by the client */
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
