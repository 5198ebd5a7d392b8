// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.nio.ByteBuffer;

/**
 * Reads a collector's answer to a report that it took: {@code ExportProfilesServiceResponse
 * {partial_success = 1 {rejected_profiles = 1, error_message = 2}}}.
 *
 * <p>Threads: any.
 */
final class PartialSuccess {

    private static final int PARTIAL_SUCCESS = 1 << 3 | ProtobufMessage.WIRE_LENGTH;
    private static final int REJECTED_PROFILES = 1 << 3;
    private static final int VARINT_BITS = 7;

    private PartialSuccess() {}

    /** @return the number of rejected profiles; 0 also if the body has none */
    static long rejected(byte[] body) {
        ByteBuffer in = ByteBuffer.wrap(body);
        if (varint(in) != PARTIAL_SUCCESS) {
            return 0;
        }
        boolean isEmpty = varint(in) == 0;
        return !isEmpty && varint(in) == REJECTED_PROFILES ? varint(in) : 0;
    }

    /* Returns 0 at the end. */
    private static long varint(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; in.hasRemaining() && shift < Long.SIZE; shift += VARINT_BITS) {
            byte b = in.get();
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
        }
        return value;
    }
}
