// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * A stream into memory, up to a limit.
 *
 * <p>Threads: one at a time.
 */
final class LimitedBytes extends OutputStream {

    private static final int FIRST_BYTES = 16 * 1024;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(FIRST_BYTES);
    private final long limit;

    /** There is no room for what was to be written. */
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

    /**
     * Appends all or nothing.
     *
     * @throws FullException past the limit
     */
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
