// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingClock;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.report.ProtobufMessage;
import com.incapsula.sampler.remote.RemoteProtocol;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.zip.GZIPOutputStream;

/**
 * Encodes a report as a request: writes it once, through gzip, into bytes with a limit.
 *
 * <p>Threads: any.
 */
public final class ReportEncoder {

    private static final int GZIP_BUFFER_BYTES = 16 * 1024;
    private static final String PROTOBUF = "application/x-protobuf";

    /* Field numbers of common.proto and resource.proto. */
    private static final int RESOURCE_ATTRIBUTES = 1;
    private static final int KEY_VALUE_KEY = 1;
    private static final int KEY_VALUE_VALUE = 2;
    private static final int ANY_VALUE_STRING = 1;
    private static final int ANY_VALUE_INT = 3;

    /* Field numbers of push.proto and types.proto. */
    private static final int PUSH_SERIES = 1;
    private static final int SERIES_LABELS = 1;
    private static final int SERIES_SAMPLES = 2;
    private static final int LABEL_NAME = 1;
    private static final int LABEL_VALUE = 2;
    private static final int SAMPLE_RAW_PROFILE = 1;
    private static final int SAMPLE_ID = 2;

    private final Endpoint endpoint;
    private final ServiceIdentity identity;
    private final Map<String, String> headers;
    private final long limitBytes;

    /** The report exceeds the limit of a request. */
    public static final class TooLargeException extends IOException {

        private static final long serialVersionUID = 1L;

        TooLargeException(long limitBytes) {
            super("longer than " + limitBytes + " bytes");
        }
    }

    /**
     * Creates an encoder for one peer.
     *
     * @param identity the process that the reports describe
     * @param headers more headers; they take precedence over those of the protocol
     * @param limitBytes limit of an encoded report
     */
    public ReportEncoder(Endpoint endpoint, ServiceIdentity identity, Map<String, String> headers, long limitBytes) {
        this.endpoint = endpoint;
        this.identity = identity;
        this.headers = Map.copyOf(headers);
        this.limitBytes = limitBytes;
    }

    /**
     * Encodes a report.
     *
     * @throws TooLargeException if it exceeds the limit
     * @throws IOException if the report throws it
     */
    public PushBody encode(SamplingReport report) throws IOException {
        return new PushBody(endpoint.uri(), allHeaders(), parts(report));
    }

    private Map<String, String> allHeaders() {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("User-Agent", "threads-sampler");
        switch (endpoint.protocol()) {
            case OTLP -> {
                all.put("Content-Type", PROTOBUF);
                all.put("Content-Encoding", "gzip");
            }
            case PYROSCOPE -> {
                all.put("Content-Type", "application/proto");
                all.put("Connect-Protocol-Version", "1");
            }
            case PPROF -> all.put("Content-Type", ReportFormat.PPROF.getMediaType());
        }
        if (endpoint.authorization() != null) {
            all.put("Authorization", endpoint.authorization());
        }
        headers.forEach((name, value) -> {
            all.keySet().removeIf(name::equalsIgnoreCase);
            all.put(name, value);
        });
        return all;
    }

    private List<byte[]> parts(SamplingReport report) throws IOException {
        LimitedBytes bytes = new LimitedBytes(limitBytes);
        if (endpoint.protocol() == RemoteProtocol.OTLP) {
            try (OutputStream packed = new GZIPOutputStream(bytes, GZIP_BUFFER_BYTES);
                    OutputStream document = new OtlpResourceStream(packed, resource())) {
                report.writeTo(ReportFormat.OTLP, document);
            }
            return List.of(bytes.toByteArray());
        }
        if (endpoint.protocol() == RemoteProtocol.PYROSCOPE) {
            return pushRequest(report);
        }
        report.writeTo(ReportFormat.PPROF, bytes); // compressed already
        return List.of(bytes.toByteArray());
    }

    private ProtobufMessage resource() {
        ProtobufMessage resource = new ProtobufMessage();
        identity.attributes().forEach((key, value) -> put(resource, key, value));
        identity.detected().forEach((key, value) -> put(resource, key, value));
        return resource;
    }

    private static void put(ProtobufMessage resource, String key, Object value) {
        ProtobufMessage any = new ProtobufMessage();
        if (value instanceof Long number) {
            any.put(ANY_VALUE_INT, number);
        } else {
            any.put(ANY_VALUE_STRING, String.valueOf(value));
        }
        resource.put(
                RESOURCE_ATTRIBUTES,
                new ProtobufMessage().put(KEY_VALUE_KEY, key).put(KEY_VALUE_VALUE, any));
    }

    /* Pyroscope's pages expect the types that its own agents send: a series of CPU time and a series of wall time,
     * each with one measure and a period of the same type. */
    private List<byte[]> pushRequest(SamplingReport report) throws IOException {
        List<byte[]> parts = new ArrayList<>();
        long left = limitBytes;
        if (report.getClock() == SamplingClock.WALL) {
            left = addSeries("wall", ReportMeasure.WALL, report, left, parts);
        }
        if (report.getCpuNanos() > 0 || parts.isEmpty()) {
            addSeries("process_cpu", ReportMeasure.CPU, report, left, parts);
        }
        return parts;
    }

    /* Returns the number of bytes that are left for further series. */
    private long addSeries(String name, ReportMeasure measure, SamplingReport report, long limit, List<byte[]> parts)
            throws IOException {
        LimitedBytes bytes = new LimitedBytes(limit);
        ReportOptions options = ReportOptions.standard().withMeasure(measure).withMeasureAlone(true);
        report.writeTo(ReportFormat.PPROF, options, bytes);
        byte[] profile = bytes.toByteArray();
        parts.addAll(series(name, profile));
        return limit - profile.length;
    }

    /* The profile is not copied, because it is most of the request: its heads are a separate part before it. */
    private List<byte[]> series(String name, byte[] profile) {
        ProtobufMessage series = new ProtobufMessage().put(SERIES_LABELS, label("__name__", name));
        identity.labels().forEach((key, value) -> series.put(SERIES_LABELS, label(key, value)));
        byte[] labels = series.toByteArray();
        byte[] id = new ProtobufMessage().put(SAMPLE_ID, id()).toByteArray();
        byte[] profileHead = new ProtobufMessage()
                .putHead(SAMPLE_RAW_PROFILE, profile.length)
                .toByteArray();
        long sample = (long) id.length + profileHead.length + profile.length;
        byte[] sampleHead =
                new ProtobufMessage().putHead(SERIES_SAMPLES, sample).toByteArray();
        byte[] seriesHead = new ProtobufMessage()
                .putHead(PUSH_SERIES, labels.length + sampleHead.length + sample)
                .toByteArray();
        return List.of(seriesHead, labels, sampleHead, id, profileHead, profile);
    }

    private static ProtobufMessage label(String name, String value) {
        return new ProtobufMessage().put(LABEL_NAME, name).put(LABEL_VALUE, value);
    }

    /* The same for each attempt. SecureRandom is not used, because its first use takes tens of milliseconds. */
    private static String id() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new UUID(random.nextLong(), random.nextLong()).toString();
    }

    /**
     * A stream into memory with a limit.
     *
     * <p>Threads: one at a time.
     */
    private static final class LimitedBytes extends OutputStream {

        private static final int FIRST_BYTES = 16 * 1024;

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(FIRST_BYTES);
        private final long limit;

        LimitedBytes(long limit) {
            this.limit = limit;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        /** Appends all bytes or none. @throws TooLargeException if they exceed the limit */
        @Override
        public void write(byte[] more, int offset, int length) throws IOException {
            if (length > limit - bytes.size()) {
                throw new TooLargeException(limit);
            }
            bytes.write(more, offset, length);
        }

        byte[] toByteArray() {
            return bytes.toByteArray();
        }
    }
}
