// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.mcp;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The transport over a pair of streams: each message is one line. It stores at most
 * {@link McpProtocol#MAX_MESSAGE_BYTES} of one message and refuses longer ones.
 *
 * <p>Threads: one.
 */
public final class McpStream {

    private static final int CHUNK_BYTES = 8192;

    private final McpProtocol protocol;
    private final OutputStream out;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private boolean isTooLong;

    private McpStream(McpProtocol protocol, OutputStream out) {
        this.protocol = protocol;
        this.out = out;
    }

    /**
     * Answers messages until the input ends.
     *
     * @param in not closed
     * @param out flushed after each answer, not closed
     * @param protocol one for each pair of streams
     * @throws InterruptedException if the server ends meanwhile
     */
    public static void serve(InputStream in, OutputStream out, McpProtocol protocol)
            throws IOException, InterruptedException {
        McpStream stream = new McpStream(protocol, out);
        byte[] chunk = new byte[CHUNK_BYTES];
        for (int count = in.read(chunk); count >= 0; count = in.read(chunk)) {
            stream.take(chunk, count);
        }
        stream.endLine();
    }

    private void take(byte[] chunk, int count) throws IOException, InterruptedException {
        int begin = 0;
        for (int i = 0; i < count; i++) {
            if (chunk[i] == '\n') {
                add(chunk, begin, i - begin);
                endLine();
                begin = i + 1;
            }
        }
        add(chunk, begin, count - begin);
    }

    private void add(byte[] chunk, int begin, int count) {
        isTooLong |= line.size() + count > McpProtocol.MAX_MESSAGE_BYTES;
        if (!isTooLong) {
            line.write(chunk, begin, count);
        }
    }

    private void endLine() throws IOException, InterruptedException {
        byte[] message = line.toByteArray();
        boolean isRefused = isTooLong;
        line.reset();
        isTooLong = false;
        if (isRefused) {
            write(McpProtocol.tooLong());
        } else if (!isBlank(message)) {
            write(protocol.answer(message, null));
        }
    }

    private static boolean isBlank(byte[] message) {
        for (byte each : message) {
            if (each != ' ' && each != '\t' && each != '\r') {
                return false;
            }
        }
        return true;
    }

    private void write(McpProtocol.Answer answer) throws IOException {
        if (answer.body() != null) {
            out.write((answer.body() + "\n").getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }
}
