// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.io.OutputStream;

/** Content that can be written to a stream. */
@FunctionalInterface
public interface Writable {

    /**
     * Writes the content.
     *
     * @param out the stream; not closed
     * @throws IOException if it cannot be written
     */
    void writeTo(OutputStream out) throws IOException;
}
