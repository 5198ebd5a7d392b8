// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A series of a push.v1.PushRequest, with one profile.
 *
 * @param labels of the series
 * @param id of its sample
 * @param profile compressed by gzip
 */
public record PushRequest(Map<String, String> labels, String id, byte[] profile) {

    /**
     * Parses a request by push.proto: series = 1 {labels = 1 {name = 1, value = 2}, samples = 2 {raw_profile = 1, ID =
     * 2}}.
     */
    public static List<PushRequest> read(byte[] body) throws IOException {
        List<PushRequest> all = new ArrayList<>();
        for (byte[] series : fields(body).get(1)) {
            all.add(readSeries(series));
        }
        return all;
    }

    private static PushRequest readSeries(byte[] message) throws IOException {
        Map<Integer, List<byte[]>> series = fields(message);
        Map<String, String> labels = new LinkedHashMap<>();
        for (byte[] label : series.get(1)) {
            labels.put(text(only(fields(label), 1)), text(only(fields(label), 2)));
        }
        Map<Integer, List<byte[]>> sample = fields(only(series, 2));
        return new PushRequest(labels, text(only(sample, 2)), only(sample, 1));
    }

    private static Map<Integer, List<byte[]>> fields(byte[] message) throws IOException {
        Map<Integer, List<byte[]>> found = new LinkedHashMap<>();
        CodedInputStream in = CodedInputStream.newInstance(message);
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            assertThat(WireFormat.getTagWireType(tag)).isEqualTo(WireFormat.WIRETYPE_LENGTH_DELIMITED);
            found.computeIfAbsent(WireFormat.getTagFieldNumber(tag), number -> new ArrayList<>())
                    .add(in.readByteArray());
        }
        return found;
    }

    private static byte[] only(Map<Integer, List<byte[]>> fields, int number) {
        assertThat(fields.get(number)).hasSize(1);
        return fields.get(number).get(0);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
