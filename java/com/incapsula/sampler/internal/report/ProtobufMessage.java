// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.report;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A small message in protobuf's wire format. Field numbers are below 16.
 *
 * <p>Threads: one at a time.
 */
public final class ProtobufMessage {

    /** The type of a field with a length. */
    public static final int WIRE_LENGTH = 2;

    private static final int WIRE_BITS = 3;
    private static final int VARINT_BITS = 7;
    private static final int VARINT_MORE = 0x80;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** An empty message. */
    public ProtobufMessage() {}

    /** Adds a string. @return this */
    public ProtobufMessage put(int field, String text) {
        return put(field, text.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a nested message. @return this */
    public ProtobufMessage put(int field, ProtobufMessage message) {
        return put(field, message.toByteArray());
    }

    /** Adds bytes. @return this */
    public ProtobufMessage put(int field, byte[] value) {
        putHead(field, value.length);
        bytes.writeBytes(value);
        return this;
    }

    /** Adds a number, 0 or more. @return this */
    public ProtobufMessage put(int field, long number) {
        bytes.write(field << WIRE_BITS);
        putVarint(number);
        return this;
    }

    /** Adds the head of a field whose bytes are sent after this message. @return this */
    public ProtobufMessage putHead(int field, long length) {
        bytes.write(field << WIRE_BITS | WIRE_LENGTH);
        putVarint(length);
        return this;
    }

    private void putVarint(long number) {
        long rest = number;
        for (; rest >= VARINT_MORE; rest >>>= VARINT_BITS) {
            bytes.write((int) (rest | VARINT_MORE));
        }
        bytes.write((int) rest);
    }

    /** {@return the message} */
    public byte[] toByteArray() {
        return bytes.toByteArray();
    }
}
