// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** A stream whose {@link #close()} does not close the stream below. */
public final class StaysOpen extends FilterOutputStream {

    /**
     * Wraps a stream.
     *
     * @param out the stream, which its owner closes
     */
    public StaysOpen(OutputStream out) {
        super(out);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        out.write(bytes, offset, length);
    }

    /** Flushes. */
    @Override
    public void close() throws IOException {
        flush();
    }
}
