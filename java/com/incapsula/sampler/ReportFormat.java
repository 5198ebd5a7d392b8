// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * The formats in which a {@link SamplingReport} can be written. Text formats are UTF-8.
 *
 * @since 1.0
 */
public enum ReportFormat {

    /** The report for people, as {@code PrintStreamSamplingOutputer} prints it; empty if nothing was sampled. */
    TEXT("txt", "text/plain; charset=utf-8"),
    /**
     * A line {@code group;root;...;leaf amount} per stack, which flame graph tools read. Times are nanoseconds, as in
     * the other formats. Files can be concatenated.
     */
    COLLAPSED("collapsed", "text/plain; charset=utf-8"),
    /**
     * {@code profile.proto}, compressed by gzip, for {@code go tool pprof} and tools that read its files: samples, CPU
     * time and, shown first, wall time; functions with their source files ({@code com/acme/Foo.java}). Binary.
     */
    PPROF("pb.gz", "application/octet-stream"),
    /** The file format of speedscope: one profile per thread group. */
    SPEEDSCOPE("speedscope.json", "application/json"),
    /** All data of the report, for scripts: format {@code threads-sampler/1}. */
    JSON("json", "application/json"),
    /**
     * The summary and two tables, ordered by active time, with a column for each state: the 20 lines of your code with
     * the most active time including their callees, and the 20 methods with the most active time of their own. Idle
     * time is one line. If calls are counted, the first 20 rows of {@link #CALLS} follow.
     */
    TOP("top.txt", "text/plain; charset=utf-8"),
    /**
     * {@code ProfilesData} of OpenTelemetry, {@code v1development} as in opentelemetry-proto 1.11: a profile for each
     * measure, wall time first; the thread group is the attribute {@code threadsampler.thread.group}. It names no
     * service; {@code RemoteSamplingOutputer} adds the resource when it sends a report. Binary. The format is not
     * stable yet; this one follows its versions.
     */
    OTLP("otlp.pb", "application/x-protobuf"),
    /**
     * A table of all counted methods, or classes or packages ({@link ReportOptions#withPer}): calls, total and own
     * time, time per call, the shortest and the longest call if they are known, and the callers. Ordered by time, or
     * with {@link ReportMeasure#CALLS} by calls. Without counted calls, a line that says so.
     */
    CALLS("calls.txt", "text/plain; charset=utf-8"),
    /** One page that needs no network: flame graph, call tree, hot methods and lines, account. */
    HTML("html", "text/html; charset=utf-8");

    private final String fileExtension;
    private final String mediaType;

    ReportFormat(String fileExtension, String mediaType) {
        this.fileExtension = fileExtension;
        this.mediaType = mediaType;
    }

    /** {@return the extension of file names, without a leading dot} */
    public String getFileExtension() {
        return fileExtension;
    }

    /** {@return the media type, with the character set of text} */
    public String getMediaType() {
        return mediaType;
    }

    /** {@return true for the binary formats {@link #PPROF} and {@link #OTLP}} */
    public boolean isBinary() {
        return this == PPROF || this == OTLP;
    }
}
