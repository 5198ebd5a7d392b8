// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * A stream into memory with a limit.
 *
 * <p>Threads: one at a time.
 */
final class LimitedBytes extends OutputStream {

    private static final int FIRST_BYTES = 16 * 1024;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(FIRST_BYTES);
    private final long limit;

    /** The limit is exceeded. */
    static final class FullException extends IOException {

        private static final long serialVersionUID = 1L;

        FullException(long limit) {
            super("longer than " + limit + " bytes");
        }
    }

    LimitedBytes(long limit) {
        this.limit = limit;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    /** Appends all bytes or none. @throws FullException if they exceed the limit */
    @Override
    public void write(byte[] more, int offset, int length) throws IOException {
        if (length > limit - bytes.size()) {
            throw new FullException(limit);
        }
        bytes.write(more, offset, length);
    }

    byte[] toByteArray() {
        return bytes.toByteArray();
    }
}
