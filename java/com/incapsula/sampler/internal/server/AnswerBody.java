// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer. It is kept in memory until it is closed, so that a report is made at once and not at the pace
 * of its client. All answers of a server share the memory for this. When that is used up, or after {@link #send()}, an
 * answer is sent while it is made.
 *
 * <p>Threads: one.
 */
final class AnswerBody extends OutputStream {

    static final int PIECE_BYTES = 16 * 1024;

    /** Begins the answer: sends its headers. */
    @FunctionalInterface
    interface Beginning {
        OutputStream begin() throws IOException;
    }

    private final Semaphore memory; // a permit is one piece
    private final Beginning beginning;
    private final ArrayDeque<byte[]> pieces = new ArrayDeque<>(); // full ones, but for the last
    private int lastBytes; // of the last piece
    private @Nullable OutputStream client;

    /**
     * @param memory of all answers, in pieces of {@link #PIECE_BYTES}
     * @param beginning called once, before the first byte is sent
     */
    AnswerBody(Semaphore memory, Beginning beginning) {
        this.memory = memory;
        this.beginning = beginning;
    }

    /** @return true once the headers are sent */
    boolean hasBegun() {
        return client != null;
    }

    /**
     * Sends what is kept. From now on nothing is kept.
     *
     * @return the stream to the client
     */
    OutputStream send() throws IOException {
        OutputStream to = client;
        if (to == null) {
            to = beginning.begin();
            client = to;
            while (!pieces.isEmpty()) {
                to.write(pieces.getFirst(), 0, pieces.size() == 1 ? lastBytes : PIECE_BYTES);
                pieces.removeFirst();
                memory.release();
            }
        }
        return to;
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        int kept = keep(bytes, offset, length);
        if (kept < length) {
            send().write(bytes, offset + kept, length - kept);
        }
    }

    /** @return how many of the bytes are kept */
    private int keep(byte[] bytes, int offset, int length) {
        int kept = 0;
        while (kept < length && client == null && hasRoom()) {
            int part = Math.min(length - kept, PIECE_BYTES - lastBytes);
            System.arraycopy(bytes, offset + kept, pieces.getLast(), lastBytes, part);
            lastBytes += part;
            kept += part;
        }
        return kept;
    }

    private boolean hasRoom() {
        if (!pieces.isEmpty() && lastBytes < PIECE_BYTES) {
            return true;
        }
        byte[] piece = new byte[PIECE_BYTES]; // before the permit, which would be lost if this failed
        if (!memory.tryAcquire()) {
            return false;
        }
        pieces.addLast(piece);
        lastBytes = 0;
        return true;
    }

    /** Flushes what is sent; what is kept stays so. */
    @Override
    public void flush() throws IOException {
        if (client != null) {
            client.flush();
        }
    }

    /** Sends the rest. */
    @Override
    public void close() throws IOException {
        send().close();
    }

    /** Gives the memory back; the last call, after a failure too. */
    void discard() {
        memory.release(pieces.size());
        pieces.clear();
    }
}
