// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.agent;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The command line's end of a session of the Model Context Protocol: forwards standard input to the target, and its
 * answers to standard output.
 *
 * <p>Threads: one calls it; a second one reads standard input.
 */
final class McpRelay {

    private static final int CHUNK_BYTES = 8192;
    private static final int MAX_GREETING = 64;

    private volatile boolean hasInputEnded;

    /**
     * Forwards one session.
     *
     * @param socket the target's socket, by its path in this process
     * @param greeting the target writes this first; nothing is sent before, because the path comes from an untrusted
     *     process and may lead to another socket
     * @return true if the client has ended the session, false if the target has
     * @throws IOException if the target cannot be reached, or standard output is closed
     */
    boolean run(Path socket, String greeting, InputStream in, OutputStream out) throws IOException {
        try (SocketChannel target = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            InputStream answers = Channels.newInputStream(target);
            if (!readLine(answers).equals(greeting)) {
                throw new IOException("the socket of the target is not its own");
            }
            Thread sender = new Thread(() -> send(in, target), "threads-sampler-mcp-input");
            sender.setDaemon(true);
            sender.start();
            byte[] chunk = new byte[CHUNK_BYTES];
            for (int count = answers.read(chunk); count >= 0; count = answers.read(chunk)) {
                out.write(chunk, 0, count);
                out.flush();
            }
        }
        return hasInputEnded;
    }

    private void send(InputStream in, SocketChannel target) {
        try {
            byte[] chunk = new byte[CHUNK_BYTES];
            for (int count = read(in, chunk); count >= 0; count = read(in, chunk)) {
                /* Before JDK 19, writing through a stream would wait for a read that is under way. */
                for (ByteBuffer left = ByteBuffer.wrap(chunk, 0, count); left.hasRemaining(); ) {
                    target.write(left);
                }
            }
            hasInputEnded = true;
            target.shutdownOutput(); // the target answers what it has received, and ends
        } catch (IOException ended) {
            // the reading side notices the end
        }
    }

    /* A read error counts as the end of input, else both ends would wait for ever. */
    private static int read(InputStream in, byte[] chunk) {
        try {
            return in.read(chunk);
        } catch (IOException broken) {
            return -1;
        }
    }

    private static String readLine(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int next = in.read(); next >= 0 && next != '\n' && line.size() < MAX_GREETING; next = in.read()) {
            line.write(next);
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
