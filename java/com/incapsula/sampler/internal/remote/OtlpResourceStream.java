// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import com.incapsula.sampler.internal.report.ProtobufMessage;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/**
 * Inserts a resource into a document of OTLP profiles while it is written. The core writes documents without a
 * resource, because it does not know the service. They begin with the field {@code resource_profiles}. The resource
 * becomes its first field, and its length grows accordingly; everything else is unchanged.
 *
 * <p>Threads: one at a time.
 */
final class OtlpResourceStream extends FilterOutputStream {

    private static final int RESOURCE_PROFILES = 1;
    private static final int RESOURCE = 1;
    private static final int TAG = RESOURCE_PROFILES << 3 | ProtobufMessage.WIRE_LENGTH;
    private static final int MAX_SHIFT = 63;

    private final byte[] resource;
    private boolean hasTag;
    private boolean hasLength;
    private long length;
    private int shift;

    /**
     * Wraps a stream.
     *
     * @param out receives the document with the resource
     * @param resource the message {@code Resource}
     */
    OtlpResourceStream(OutputStream out, ProtobufMessage resource) {
        super(out);
        this.resource =
                new ProtobufMessage().put(RESOURCE, resource.toByteArray()).toByteArray();
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int count) throws IOException {
        int at = offset;
        while (!hasLength && at < offset + count) {
            readHead(bytes[at++] & 0xff);
        }
        out.write(bytes, at, offset + count - at);
    }

    private void readHead(int b) throws IOException {
        if (!hasTag) {
            if (b != TAG) {
                throw new IOException("no document of OTLP profiles: it begins with " + b);
            }
            hasTag = true;
            return;
        }
        if (shift >= MAX_SHIFT) {
            throw new IOException("no document of OTLP profiles: a length of more than " + MAX_SHIFT + " bits");
        }
        length |= (long) (b & 0x7f) << shift;
        shift += 7;
        if ((b & 0x80) == 0) {
            hasLength = true;
            out.write(new ProtobufMessage()
                    .putHead(RESOURCE_PROFILES, length + resource.length)
                    .toByteArray());
            out.write(resource);
        }
    }
}
