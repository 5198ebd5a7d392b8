// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.internal.engine.RawReport.Figure;
import com.incapsula.sampler.internal.report.ProtobufMessage;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The report of a sampler that cannot sample: no groups, all figures 0, and the cause, as a line of the account and in
 * each form that has a place for it. Every document is valid.
 *
 * <p>Threads: immutable.
 */
final class InertSnapshot implements Snapshot {

    /** Begins the line of the account. */
    static final String NOTICE = "nothing is sampled: ";

    /* As difference.c writes a difference without counted calls. */
    private static final String NO_DIFFERENCE = """
            {"frames":[],
            "groups":[],
            "parent":[],
            "frame":[],
            "before":{%1$s},
            "after":{%1$s}}
            """.formatted(Stream.of(ReportMeasure.values())
            .filter(measure -> measure != ReportMeasure.CALLS)
            .map(measure -> "\"" + measure.name().toLowerCase(Locale.ROOT) + "\":[]")
            .collect(Collectors.joining(",")));

    /* Indexed by ReportFormat.ordinal(), as for NativeBridge.writeSnapshot. */
    private enum Form {
        TEXT,
        COLLAPSED,
        PPROF,
        SPEEDSCOPE,
        JSON,
        TOP,
        OTLP,
        CALLS
    }

    private final long fromMillis;
    private final long tillMillis;
    private final String notice;

    /**
     * An empty interval up to now.
     *
     * @param fromMillis its begin, since 1970
     * @param cause why it is empty
     */
    InertSnapshot(long fromMillis, String cause) {
        this.fromMillis = fromMillis;
        this.tillMillis = Math.max(fromMillis, System.currentTimeMillis());
        this.notice = NOTICE + cause;
    }

    @Override
    public Snapshot hold() {
        return this;
    }

    @Override
    public void release() {
        // there is nothing to free
    }

    @Override
    public RawReport figures() {
        long[] figures = new long[Figure.values().length];
        figures[Figure.FROM.ordinal()] = fromMillis;
        figures[Figure.TILL.ordinal()] = tillMillis;
        return new RawReport(
                figures,
                List.of(),
                RawReport.Groups.NONE,
                RawReport.Groups.NONE,
                RawReport.Groups.NONE,
                List.of("counter." + notice),
                new long[] {1});
    }

    @Override
    public void write(int format, int measure, int flags, @Nullable String focus, OutputStream out) throws IOException {
        out.write(
                switch (Form.values()[format]) {
                    case TEXT, TOP, CALLS -> utf8(notice + "\n");
                    case COLLAPSED -> new byte[0];
                    case PPROF -> pprof();
                    case SPEEDSCOPE ->
                        utf8("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                                + "\"exporter\":\"threads-sampler\",\"name\":" + json(notice)
                                + ",\"activeProfileIndex\":0,\"shared\":{\"frames\":[]},\n\"profiles\":[]}\n");
                    case JSON ->
                        utf8("{\"format\":\"threads-sampler/1\",\"fromMillis\":" + fromMillis + ",\"tillMillis\":"
                                + tillMillis
                                + ",\"elapsedNanos\":0,\"ownCpuNanos\":0,\"memoryUsedBytes\":0,\"memoryLimitBytes\":0,"
                                + "\"account\":{\"polls\":0,\"outcomes\":{},\"counters\":{" + json(notice) + ":1}},\n"
                                + ((flags & WITHOUT_SUMMARY) == 0
                                        ? "\"summary\":{\"lines\":[" + json(notice) + "]},\n"
                                        : "")
                                + "\"frames\":[],\n\"groups\":[]}\n");
                    case OTLP -> new byte[] {1 << 3 | 2, 0}; // resource_profiles without a profile
                });
    }

    @Override
    public void writeDifference(Snapshot after, int format, int measure, OutputStream out) throws IOException {
        if (after instanceof NativeSnapshot sampled) {
            sampled.writeAsNew(format, measure, out);
        } else if (format == Form.JSON.ordinal()) {
            out.write(utf8(NO_DIFFERENCE));
        }
    }

    @Override
    public List<HotLine> hotLines(int count) {
        return List.of();
    }

    /** @return nothing: no group has a root */
    @Override
    public List<Row> children(long node) {
        return List.of();
    }

    /** @return the other snapshot, because this one adds nothing to it */
    @Override
    public Snapshot mergedWith(Snapshot other) {
        return other.hold();
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /* Escapes "<", because a page has the document in a script element. */
    private static String json(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c < ' ' || c == '<' || c == '"' || c == '\\') {
                quoted.append(String.format("\\u%04x", c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }

    /* profile.proto: one type of sample, no samples, the notice as a comment. */
    private byte[] pprof() {
        ProtobufMessage type = new ProtobufMessage().put(1, 1L).put(2, 2L); // type and unit, from the string table
        ProtobufMessage profile = new ProtobufMessage().put(1, type);
        List.of("", "wall", "nanoseconds", notice).forEach(text -> profile.put(6, text)); // string_table
        return profile.put(9, fromMillis * 1_000_000) // time_nanos
                .put(13, 3L) // comment
                .toByteArray();
    }
}
