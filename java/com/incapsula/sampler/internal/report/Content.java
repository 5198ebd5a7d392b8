// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.IOException;
import java.io.OutputStream;

/** Something that can be written. */
@FunctionalInterface
public interface Content {

    /**
     * Writes it.
     *
     * @param out the stream; not closed
     * @throws IOException if it cannot be written
     */
    void writeTo(OutputStream out) throws IOException;
}
