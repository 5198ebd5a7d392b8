// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.spring;

import com.incapsula.sampler.RecentWindow;
import com.incapsula.sampler.RecentWindow.Length;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportMeasure;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplerStatistics;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.util.MimeType;

/**
 * The actuator endpoint {@code threadsampler}: reports of the sampler, its figures and its settings.
 *
 * <table>
 * <caption>Requests below {@code /actuator/threadsampler}</caption>
 * <tr><th>request</th><th>answer</th></tr>
 * <tr><td>{@code GET}</td><td>state, figures, settings and a summary, JSON</td></tr>
 * <tr><td>{@code GET /summary}</td><td>the summary as text; its fields are in the status, too</td></tr>
 * <tr><td>{@code GET /report}, {@code /top}</td><td>the report as text, and its hottest lines and methods</td></tr>
 * <tr><td>{@code GET /flamegraph}</td><td>the page, HTML</td></tr>
 * <tr><td>{@code GET /pprof}, {@code /collapsed}, {@code /speedscope}, {@code /json}</td><td>for other tools</td></tr>
 * <tr><td>{@code POST}, {@code {"name": "reportCpuTime", "value": "true"}}</td><td>changes a setting</td></tr>
 * <tr><td>{@code POST /start}, {@code /stop}, {@code /pause}, {@code /resume}</td><td>as in the sampler</td></tr>
 * </table>
 *
 * <p>A report shows the last 5 minutes; {@code ?window=1m}, {@code 15m} or {@code start} chooses another
 * {@link RecentWindow}, and {@code ?seconds=5} the next five seconds, at most {@value #MAX_SECONDS}. The sampler's own
 * reports are unaffected. One report of each kind is made at a time: other requests get status 429. While the sampler
 * does not run the status is 503. The summary in the answer to {@code GET} is renewed at most every
 * {@value #SUMMARY_SECONDS} seconds, so that a client may read the figures often.
 *
 * <p>Requests that change something need {@code management.endpoint.threadsampler.access=unrestricted}. Changes last
 * until the application ends. Reports contain names of classes, files and threads, so Boot exposes the endpoint over
 * HTTP only if it is named in {@code management.endpoints.web.exposure.include}.
 *
 * <p>Threads: any.
 *
 * @since 1.0
 */
@WebEndpoint(id = "threadsampler", defaultAccess = Access.READ_ONLY)
public class ThreadsSamplerEndpoint implements AutoCloseable {

    /** The longest {@code seconds} of a request. */
    public static final int MAX_SECONDS = 60;

    /** The maximum age of the summary in the status, seconds. */
    static final long SUMMARY_SECONDS = 60;

    private static final Length STANDARD_WINDOW = Length.LAST_5_MINUTES;
    private static final int BAD_REQUEST = 400;
    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final int SERVER_ERROR = 500;
    private static final int UNAVAILABLE = 503;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final MimeType TEXT = new MimeType("text", "plain", StandardCharsets.UTF_8);

    private static final String SUMMARY = "summary";
    private static final Map<String, ReportFormat> FORMS = forms();
    private static final Set<ReportFormat> WITH_MEASURE =
            EnumSet.of(ReportFormat.CALLS, ReportFormat.TOP, ReportFormat.COLLAPSED, ReportFormat.SPEEDSCOPE);

    private final ThreadsSampler sampler;
    private final SamplerSettings settings;
    private final LongSupplier nanoTime;
    private final RecentWindow recent;
    private final Semaphore reporting = new Semaphore(1);
    private @Nullable Map<String, @Nullable Object> summary; // the last one; guarded by reporting
    private long summaryNanos; // its time; guarded by reporting
    private final Semaphore waiting = new Semaphore(1); // held by the request that waits for its seconds

    /**
     * Creates an endpoint. The sampler keeps the last minutes from now on.
     *
     * @param sampler the sampler
     */
    public ThreadsSamplerEndpoint(ThreadsSampler sampler) {
        this(sampler, System::nanoTime);
    }

    ThreadsSamplerEndpoint(ThreadsSampler sampler, LongSupplier nanoTime) {
        this.sampler = sampler;
        this.settings = new SamplerSettings(sampler);
        this.nanoTime = nanoTime;
        this.recent = sampler.openRecentWindow();
    }

    private static Map<String, ReportFormat> forms() {
        Map<String, ReportFormat> forms = new LinkedHashMap<>();
        forms.put("report", ReportFormat.TEXT);
        forms.put("top", ReportFormat.TOP);
        forms.put("calls", ReportFormat.CALLS);
        forms.put("flamegraph", ReportFormat.HTML);
        forms.put("pprof", ReportFormat.PPROF);
        forms.put("collapsed", ReportFormat.COLLAPSED);
        forms.put("speedscope", ReportFormat.SPEEDSCOPE);
        forms.put("json", ReportFormat.JSON);
        return forms;
    }

    // ---- read ----

    /** {@return state, figures and settings, as the content of the JSON answer} */
    @ReadOperation
    public Map<String, @Nullable Object> status() {
        SamplerStatistics figures = sampler.getStatistics();
        Map<String, @Nullable Object> status = new LinkedHashMap<>();
        status.put("state", state());
        status.put("engine", figures.getEngine());
        status.put("mode", figures.getMode());
        status.put("clock", figures.getClock());
        status.put("limitations", figures.getLimitations());
        status.put("threads", figures.getThreads());
        status.put("polls", figures.getPolls());
        status.put("outcomes", figures.getOutcomes());
        status.put("counters", figures.getCounters());
        status.put("elapsedMillis", figures.getElapsedNanos() / NANOS_PER_MILLI);
        status.put("ownCpuMillis", figures.getOwnCpuNanos() / NANOS_PER_MILLI);
        status.put("memoryUsedBytes", figures.getMemoryUsedBytes());
        status.put("reports", names());
        status.put("settings", settings.values());
        Map<String, @Nullable Object> fields = summary();
        if (fields != null) {
            status.put(SUMMARY, fields);
        }
        return status;
    }

    /* Null if the sampler does not run, there is not enough memory, or another report is being made. */
    private @Nullable Map<String, @Nullable Object> summary() {
        if (!reporting.tryAcquire()) {
            return null;
        }
        try {
            if (!sampler.isRunning()) {
                summary = null;
            } else if (summary == null
                    || nanoTime.getAsLong() - summaryNanos >= TimeUnit.SECONDS.toNanos(SUMMARY_SECONDS)) {
                summary = newSummary();
                summaryNanos = nanoTime.getAsLong();
            }
            return summary;
        } catch (IllegalStateException | OutOfMemoryError notNow) {
            return null;
        } finally {
            reporting.release();
        }
    }

    private Map<String, @Nullable Object> newSummary() {
        try (SamplingReport report = recent.report(STANDARD_WINDOW)) {
            Map<String, @Nullable Object> fields = new LinkedHashMap<>();
            fields.put("from", report.getFrom().toString());
            fields.put("till", report.getTill().toString());
            fields.putAll(SummaryFields.of(report.getSummary()));
            return fields;
        }
    }

    private String state() {
        if (!sampler.isRunning()) {
            return "STOPPED";
        }
        return sampler.isPaused() ? "PAUSED" : "RUNNING";
    }

    /**
     * A report.
     *
     * @param form {@code summary}, {@code report}, {@code top}, {@code calls}, {@code flamegraph}, {@code pprof},
     *        {@code collapsed}, {@code speedscope} or {@code json}
     * @param seconds how long to sample from now on, 1 to 60; null: the report is of a window
     * @param window {@code 1m}, {@code 5m}, {@code 15m} or {@code start}; null: {@code 5m}, if {@code seconds} is null
     * @param measure for {@code calls}, {@code top}, {@code collapsed} and {@code speedscope}: a measure, as
     *        {@link ReportMeasure#of} reads it; null: {@code time}
     * @param per for {@code calls}: {@code method}, {@code class} or {@code package}; null: {@code method}
     * @param focus for {@code calls}: see {@link ReportOptions#withFocus}
     * @return the report with its media type, or a text that names the error
     */
    @ReadOperation(
            produces = {
                "text/plain;charset=utf-8",
                "text/html;charset=utf-8",
                "application/octet-stream",
                "application/json"
            })
    public WebEndpointResponse<byte[]> report(
            @Selector String form,
            @org.springframework.lang.Nullable @Nullable Integer seconds,
            @org.springframework.lang.Nullable @Nullable String window,
            @org.springframework.lang.Nullable @Nullable String measure,
            @org.springframework.lang.Nullable @Nullable String per,
            @org.springframework.lang.Nullable @Nullable String focus) {
        ReportFormat format = form.equals(SUMMARY) ? ReportFormat.TEXT : FORMS.get(form);
        if (format == null) {
            return text(NOT_FOUND, "there is no report " + form + "; there are " + String.join(", ", names()));
        }
        if (seconds != null && (seconds < 1 || seconds > MAX_SECONDS)) {
            return text(BAD_REQUEST, "seconds must be between 1 and " + MAX_SECONDS + ", got " + seconds);
        }
        if (seconds != null && window != null) {
            return text(BAD_REQUEST, "give either window or seconds");
        }
        Length length;
        Written written;
        try {
            length = window == null ? STANDARD_WINDOW : Length.of(window);
            written = new Written(form, measure, per, focus);
            written.check(format);
        } catch (IllegalArgumentException e) {
            return text(BAD_REQUEST, String.valueOf(e.getMessage()));
        }
        Semaphore permit = seconds == null ? reporting : waiting;
        if (!permit.tryAcquire()) {
            return text(TOO_MANY_REQUESTS, "another report is being made; the same request may succeed later");
        }
        try {
            byte[] bytes = seconds == null ? recent(length, written) : next(seconds, written);
            return new WebEndpointResponse<>(
                    bytes, WebEndpointResponse.STATUS_OK, MimeType.valueOf(format.getMediaType()));
        } catch (IllegalStateException notRunning) {
            return text(UNAVAILABLE, "there is nothing to report: " + notRunning.getMessage());
        } catch (OutOfMemoryError e) {
            return text(UNAVAILABLE, "there is not enough memory for this report at the moment: " + e.getMessage());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            permit.release();
        }
    }

    private static List<String> names() {
        List<String> names = new ArrayList<>(FORMS.keySet());
        names.add(0, SUMMARY);
        return names;
    }

    private byte[] recent(Length length, Written written) throws IOException {
        try (SamplingReport report = recent.report(length)) {
            return written.bytes(report);
        }
    }

    private byte[] next(int seconds, Written written) throws IOException {
        try (SamplingCursor cursor = sampler.openCursor()) {
            TimeUnit.SECONDS.sleep(seconds);
            try (SamplingReport report = cursor.next()) {
                return written.bytes(report);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("the request was interrupted", e);
        }
    }

    /** The options of a report: the sampler's own, changed by the parameters that are not null. */
    private record Written(
            String form,
            @Nullable String measure,
            @Nullable String per,
            @Nullable String focus) {

        /* Throws IllegalArgumentException if a parameter is wrong, or does not apply to the form. */
        void check(ReportFormat format) {
            boolean areCalls = format == ReportFormat.CALLS;
            requireApplicable("measure", measure, WITH_MEASURE.contains(format));
            requireApplicable("per", per, areCalls);
            requireApplicable("focus", focus, areCalls);
            ReportOptions.of(measure, per, focus);
        }

        private void requireApplicable(String name, @Nullable String value, boolean applies) {
            if (value != null && !applies) {
                throw new IllegalArgumentException(name + " does not apply to " + form + ", got \"" + value + "\"");
            }
        }

        byte[] bytes(SamplingReport report) throws IOException {
            ReportFormat format = FORMS.get(form);
            if (format == null) {
                return report.getSummary().toString().getBytes(StandardCharsets.UTF_8);
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            report.writeTo(format, report.getOptions().changedBy(measure, per, focus), bytes);
            return bytes.toByteArray();
        }
    }

    private static WebEndpointResponse<byte[]> text(int status, String message) {
        return new WebEndpointResponse<>((message + "\n").getBytes(StandardCharsets.UTF_8), status, TEXT);
    }

    // ---- write ----

    /**
     * Changes a setting.
     *
     * @param name the name of a property of the sampler, {@code reportCpuTime} or {@code report-cpu-time}, or of the
     *        application, {@code threads-sampler.report.cpu-time}
     * @param value its new value as text, such as {@code true}, {@code 20ms} or {@code by-time}
     * @return the status, or what is wrong
     */
    @WriteOperation
    public WebEndpointResponse<Map<String, @Nullable Object>> set(String name, String value) {
        return change(() -> settings.set(name, value));
    }

    /**
     * Starts, stops, pauses or resumes.
     *
     * @param command {@code start}, {@code stop}, {@code pause} or {@code resume}
     * @return the status, or what is wrong
     */
    @WriteOperation
    public WebEndpointResponse<Map<String, @Nullable Object>> command(@Selector String command) {
        return switch (command) {
            case "start" -> change(sampler::init);
            case "stop" -> change(sampler::close);
            case "pause" -> change(sampler::pauseSampling);
            case "resume" -> change(sampler::resumeSampling);
            default -> problem(NOT_FOUND, "there is no command " + command + "; there are start, stop, pause, resume");
        };
    }

    private interface Change {
        void make() throws IOException;
    }

    private WebEndpointResponse<Map<String, @Nullable Object>> change(Change change) {
        try {
            change.make();
            return new WebEndpointResponse<>(status());
        } catch (IllegalArgumentException e) {
            return problem(BAD_REQUEST, e.getMessage());
        } catch (IllegalStateException e) {
            return problem(CONFLICT, e.getMessage());
        } catch (UnsupportedOperationException | OutOfMemoryError e) {
            return problem(UNAVAILABLE, e.getMessage());
        } catch (IOException | UncheckedIOException e) {
            return problem(SERVER_ERROR, e.getMessage());
        }
    }

    private static WebEndpointResponse<Map<String, @Nullable Object>> problem(int status, @Nullable String message) {
        Map<String, @Nullable Object> body = new LinkedHashMap<>();
        body.put("problem", message);
        return new WebEndpointResponse<>(body, status);
    }

    /** Lets the sampler drop the last minutes. The sampler runs on. */
    @Override
    public void close() {
        recent.close();
    }
}
