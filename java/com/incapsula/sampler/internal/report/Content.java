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
     * @param out where to; not closed
     * @throws IOException whatever goes wrong
     */
    void writeTo(OutputStream out) throws IOException;
}
