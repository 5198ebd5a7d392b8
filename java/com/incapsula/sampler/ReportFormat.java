// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler;

/**
 * The forms in which a {@link SamplingReport} can be written. The text forms are UTF-8.
 *
 * @since 1.0
 */
public enum ReportFormat {

    /** The report for people, as {@code PrintStreamSamplingOutputer} prints it; nothing where nothing was sampled. */
    TEXT("txt", "text/plain; charset=utf-8"),
    /**
     * A line {@code group;root;...;leaf amount} per stack, which flame graph tools read. Times are nanoseconds, as
     * in the other forms. Files can be concatenated.
     */
    COLLAPSED("collapsed", "text/plain; charset=utf-8"),
    /**
     * {@code profile.proto}, compressed by gzip, for {@code go tool pprof} and tools that read its files: samples, CPU
     * time and, shown first, wall time; functions with their source files ({@code com/acme/Foo.java}). Binary.
     */
    PPROF("pb.gz", "application/octet-stream"),
    /** The file format of speedscope: one profile per thread group. */
    SPEEDSCOPE("speedscope.json", "application/json"),
    /** Everything that is known, for scripts: format {@code threads-sampler/1}. */
    JSON("json", "application/json"),
    /**
     * The summary, and two tables for a log, by active time with a column for each state: the 20 lines of your code with
     * the most of it, with all they called, and the 20 methods with the most of their own. Idle time is one line. Where
     * calls are counted, the first 20 rows of {@link #CALLS} follow.
     */
    TOP("top.txt", "text/plain; charset=utf-8"),
    /**
     * {@code ProfilesData} of OpenTelemetry, {@code v1development} as in opentelemetry-proto 1.11: a profile for each
     * measure, wall time first; the thread group is the attribute {@code threadsampler.thread.group}. It names no service:
     * {@code RemoteSamplingOutputer} adds the resource when it sends one. Binary. The format is not stable yet, and
     * follows its versions.
     */
    OTLP("otlp.pb", "application/x-protobuf"),
    /**
     * While calls are counted, a table of all counted methods, or classes or packages ({@link ReportOptions#withPer}):
     * calls, total and own time, time per call, the shortest and the longest where they are known, and the callers. By
     * time, or with {@link ReportMeasure#CALLS} by calls.
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

    /**
     * How names of such files end.
     *
     * @return the extension without a leading dot
     */
    public String getFileExtension() {
        return fileExtension;
    }

    /**
     * The media type of such a document.
     *
     * @return the media type, with the character set where there is one
     */
    public String getMediaType() {
        return mediaType;
    }

    /**
     * Whether a document of this format is not text.
     *
     * @return true for {@link #PPROF} and {@link #OTLP}
     */
    public boolean isBinary() {
        return this == PPROF || this == OTLP;
    }
}
