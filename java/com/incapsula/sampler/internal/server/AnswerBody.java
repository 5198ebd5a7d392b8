// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer. It is buffered in memory until it is closed, so that a slow client does not slow down the
 * making of a report. All answers of a server share the memory. When it is used up, or after {@link #send()}, an answer
 * is sent while it is made.
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

    private final Semaphore memory; // one permit for each piece
    private final Beginning beginning;
    private final ArrayDeque<byte[]> pieces = new ArrayDeque<>(); // all full, except the last
    private int lastBytes; // of the last piece
    private @Nullable OutputStream client;

    /**
     * @param memory shared by all answers, in pieces of {@link #PIECE_BYTES}
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

    /** Sends the buffered bytes; from now on nothing is buffered. @return the stream to the client */
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

    /** @return the number of bytes that were buffered */
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
        byte[] piece = new byte[PIECE_BYTES]; // before the permit is taken, because this may fail
        if (!memory.tryAcquire()) {
            return false;
        }
        pieces.addLast(piece);
        lastBytes = 0;
        return true;
    }

    /** Flushes bytes that are sent; buffered bytes stay buffered. */
    @Override
    public void flush() throws IOException {
        if (client != null) {
            client.flush();
        }
    }

    /** Sends buffered bytes. */
    @Override
    public void close() throws IOException {
        send().close();
    }

    /** Releases the memory. Must be the last call, also after a failure. */
    void discard() {
        memory.release(pieces.size());
        pieces.clear();
    }
}
