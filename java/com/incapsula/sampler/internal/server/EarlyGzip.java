// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Passes on a gzip document, and can write its beginning before the document exists: the header, then any number of
 * empty blocks, which add no data. Only a write shows that a client has closed its connection.
 *
 * <p>Threads: one.
 */
final class EarlyGzip extends OutputStream {

    /* The header that GZIPOutputStream writes: magic number, deflate, no flags, no time, no level, unknown system. */
    private static final byte[] HEADER = {0x1f, (byte) 0x8b, 8, 0, 0, 0, 0, 0, 0, (byte) 0xff};
    private static final int FLAGS = 3;
    /* An uncompressed block that is not the last: length 0 and its complement. It ends at a byte boundary. */
    private static final byte[] EMPTY_BLOCK = {0, 0, 0, (byte) 0xff, (byte) 0xff};

    private final OutputStream out;
    private int headerBytes; // of the document's own header, which is dropped

    EarlyGzip(OutputStream out) {
        this.out = out;
    }

    /** Writes the header. Must be the first call. */
    void begin() throws IOException {
        out.write(HEADER);
        out.flush();
    }

    /** Writes an empty block. Allowed between {@link #begin()} and the document. */
    void beat() throws IOException {
        out.write(EMPTY_BLOCK);
        out.flush();
    }

    @Override
    public void write(int value) throws IOException {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        int from = offset;
        while (from < offset + length && headerBytes < HEADER.length) {
            if (headerBytes == FLAGS && bytes[from] != 0) {
                throw new IOException("the gzip header has optional fields");
            }
            headerBytes++;
            from++;
        }
        out.write(bytes, from, offset + length - from);
    }

    @Override
    public void flush() throws IOException {
        out.flush();
    }
}
