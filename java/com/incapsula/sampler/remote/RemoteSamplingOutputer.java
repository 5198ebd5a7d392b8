// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.remote;

import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.internal.engine.InternalThreads;
import com.incapsula.sampler.internal.options.Values;
import com.incapsula.sampler.internal.remote.Endpoint;
import com.incapsula.sampler.internal.remote.HttpTransport;
import com.incapsula.sampler.internal.remote.KeyValues;
import com.incapsula.sampler.internal.remote.OtlpEnvironment;
import com.incapsula.sampler.internal.remote.PushClock;
import com.incapsula.sampler.internal.remote.Pusher;
import com.incapsula.sampler.internal.remote.ReportEncoder;
import com.incapsula.sampler.internal.remote.ServiceIdentity;
import com.incapsula.sampler.internal.report.ApplicationStart;
import com.incapsula.sampler.internal.report.LogTarget;
import com.incapsula.sampler.outputer.SamplingOutputer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sends each report to a server: Pyroscope, a collector of OpenTelemetry, or any URL that takes a pprof file. Each
 * report has the data since the previous report.
 *
 * <pre>{@code
 * sampler.setReportFrequencySeconds(60);
 * sampler.setSamplingOutputer(new RemoteSamplingOutputer("pyroscope+http://pyroscope:4040"));
 * }</pre>
 *
 * <p>A report is compressed and waits in memory until the server has taken it. If the server cannot be reached or
 * answers 429, 502, 503 or 504, the report is sent again, with growing pauses; {@code Retry-After} makes a pause
 * longer. So a restart of the server loses no report, as long as the waiting reports stay within
 * {@link #setQueueLimitBytes}; beyond that limit the oldest are dropped. A report that the server refuses for another
 * reason is not sent again. All these cases are counted and logged.
 *
 * <p>{@link #setServiceName} and {@link #setResourceAttributes} name the service, or else the environment variables
 * {@code OTEL_SERVICE_NAME} and {@code OTEL_RESOURCE_ATTRIBUTES}.
 *
 * <p>The text methods do nothing. To print reports to a file or a log, too, join two outputers with {@link #and}.
 *
 * <p>Threads: any. Setters take effect with the next report. A thread that is not sampled sends reports; it runs while
 * reports are waiting, and {@link #report} does not wait for it. From JDK 28 on, the JDK's HTTP client has a virtual
 * thread, {@code HttpClient-N-SelectorManager}, which is sampled.
 *
 * <p>Errors: for a report that cannot be encoded, or is longer than {@link #setReportLimitBytes}, an
 * {@link UncheckedIOException} is thrown, so the sampler counts it as failed. All other errors are logged to the logger
 * with the name of this class, by SLF4J if it is on the class path, else by {@link System.Logger}, with at most one
 * message of each kind in ten minutes.
 *
 * @since 1.0
 */
public class RemoteSamplingOutputer implements SamplingOutputer {

    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;
    private static final long MIN_QUEUE_LIMIT_BYTES = 64 * KIB;
    private static final long MAX_QUEUE_LIMIT_BYTES = 1024 * MIB;
    private static final long STANDARD_QUEUE_LIMIT_BYTES = 16 * MIB;
    private static final long MIN_REPORT_LIMIT_BYTES = 4 * KIB;
    private static final long MAX_REPORT_LIMIT_BYTES = 256 * MIB;
    private static final long STANDARD_REPORT_LIMIT_BYTES = 4 * MIB;
    private static final int MAX_MILLIS = 600_000;
    private static final int STANDARD_TIMEOUT_MILLIS = 10_000;
    private static final int STANDARD_SPREAD_MILLIS = 5_000;

    private static final String LOGGER_NAME = RemoteSamplingOutputer.class.getName();
    private static final Pattern HEADER_NAME = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]+");

    /** Headers that the HTTP client sets itself. */
    private static final Set<String> RESERVED_HEADERS =
            Set.of("connection", "content-length", "expect", "host", "transfer-encoding", "upgrade");

    private static volatile int standardCloseMillis = 5_000;

    private final Map<String, String> environment;
    private final OtlpEnvironment otlp;
    private final Pusher pusher;
    private final AtomicLong tooLarge = new AtomicLong();
    private final Object encoding = new Object();
    private @Nullable ReportEncoder encoder; // guarded by encoding; null: a setter was called since

    private volatile @Nullable String url;
    private volatile @Nullable Endpoint endpoint;
    private volatile @Nullable String serviceName;
    private volatile String resourceAttributes = "";
    private volatile String headers = "";
    private volatile long queueLimitBytes = STANDARD_QUEUE_LIMIT_BYTES;
    private volatile long reportLimitBytes = STANDARD_REPORT_LIMIT_BYTES;
    private volatile int timeoutMillis; // 0: not set
    private volatile int closeMillis = standardCloseMillis;
    private volatile int spreadMillis = STANDARD_SPREAD_MILLIS;

    /** Creates an outputer without a URL. {@link #setUrl} has to follow before the sampler's {@code init()}. */
    public RemoteSamplingOutputer() {
        this(System.getenv(), PushClock.REAL);
    }

    /**
     * Sends to a server.
     *
     * @param url see {@link #setUrl}
     * @throws IllegalArgumentException as there
     */
    @SuppressWarnings("this-escape")
    public RemoteSamplingOutputer(String url) {
        this();
        setUrl(url);
    }

    /* For tests. */
    RemoteSamplingOutputer(Map<String, String> environment, PushClock clock) {
        this.environment = environment;
        this.otlp = new OtlpEnvironment(environment, text -> log(System.Logger.Level.WARNING, text));
        this.pusher = new Pusher(
                () -> new HttpTransport(work -> thread(work, "threads-sampler-push-http")), // needs java.net.http
                clock,
                work -> thread(() -> runAfterStart(work), "threads-sampler-push"),
                RemoteSamplingOutputer::log,
                () -> new Pusher.Limits(queueLimitBytes, getTimeoutMillis(), spreadMillis));
    }

    /* For tests of the exit: on a busy machine the HTTP client's first request takes longer. */
    static void setStandardCloseMillis(int millis) {
        standardCloseMillis = millis;
    }

    /* The JDK's HTTP client logs. */
    private static void runAfterStart(Runnable work) {
        ApplicationStart.sleepUntilOver();
        work.run();
    }

    private static Thread thread(Runnable work, String name) {
        return InternalThreads.daemon(InternalThreads.hidden(), work, name);
    }

    private static void log(System.Logger.Level level, String text) {
        try {
            LogTarget.of(LOGGER_NAME).log(level, text, null);
        } catch (RuntimeException | Error silent) {
            // there is no other place to report to, and the reports still have to be sent
        }
    }

    // ---- properties ----

    /**
     * Sets where reports go. The scheme determines the protocol; {@code https} is possible wherever {@code http} is:
     *
     * <ul>
     *   <li>{@code otlp+http://host:4318}: {@link RemoteProtocol#OTLP}
     *   <li>{@code pyroscope+http://host:4040}: {@link RemoteProtocol#PYROSCOPE}
     *   <li>{@code http://host/any/path}: {@link RemoteProtocol#PPROF}; one of the other two, if the path ends as that
     *       protocol's path does
     * </ul>
     *
     * <p>Without a URL, the environment variable {@code OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT} is used as it is, or else
     * {@code OTEL_EXPORTER_OTLP_ENDPOINT} as a base.
     *
     * <p>For the first two, the protocol's own path is appended to the path of the URL, unless it is there.
     * {@code user:password@} before the host is sent as basic authentication.
     *
     * @param url the URL
     * @throws IllegalArgumentException if it is null or has another form; the message does not repeat the URL, as it
     *     may have a password
     */
    public void setUrl(String url) {
        endpoint = Endpoint.of(Values.notNull("url", url));
        this.url = url;
        changed();
    }

    /** {@return the URL of the destination as it was set, or null if none was} */
    public @Nullable String getUrl() {
        return url;
    }

    /** {@return the protocol by which reports are sent, or null if there is no URL} */
    public @Nullable RemoteProtocol getProtocol() {
        Endpoint current = endpointIfAny();
        return current == null ? null : current.protocol();
    }

    /**
     * Sets the name of the service, which is sent as {@code service.name} or {@code service_name}. Default: the
     * environment variable {@code OTEL_SERVICE_NAME}, else {@code service.name} of the resource's attributes, else the
     * main class or jar of this JVM.
     *
     * @param serviceName a name; null: the default
     * @throws IllegalArgumentException if it is blank
     */
    public void setServiceName(@Nullable String serviceName) {
        if (serviceName != null && serviceName.isBlank()) {
            throw new IllegalArgumentException("serviceName must not be blank");
        }
        this.serviceName = serviceName;
        changed();
    }

    /** {@return the name of the service that was set, or null if none was} */
    public @Nullable String getServiceName() {
        return serviceName;
    }

    /**
     * Sets more attributes of this process, as {@code key=value,key=value} with values in percent encoding, such as
     * {@code service.version=1.2,deployment.environment.name=test}. They are added to those of the environment variable
     * {@code OTEL_RESOURCE_ATTRIBUTES}, and take precedence over them. {@code service.instance.id} is HOST:PID if none
     * is given. Only the first 24 attributes are sent.
     *
     * @param resourceAttributes the list; empty: none
     * @throws IllegalArgumentException if it is null or not of that form
     */
    public void setResourceAttributes(String resourceAttributes) {
        KeyValues.parse("resourceAttributes", Values.notNull("resourceAttributes", resourceAttributes));
        this.resourceAttributes = resourceAttributes;
        changed();
    }

    /** {@return the list of more attributes as it was set} */
    public String getResourceAttributes() {
        return resourceAttributes;
    }

    /**
     * Sets headers of each request, as {@code name=value,name=value} with values in percent encoding, such as
     * {@code Authorization=Bearer%20abc,X-Scope-OrgID=team}. Default: for {@link RemoteProtocol#OTLP} those of the
     * environment variable {@code OTEL_EXPORTER_OTLP_PROFILES_HEADERS}, or else of {@code OTEL_EXPORTER_OTLP_HEADERS};
     * if the variables with endpoints name only other servers, or cannot be read, the headers of the environment are
     * not sent.
     *
     * @param headers the list; empty: the default
     * @throws IllegalArgumentException if it is null or not of that form, or has a header that cannot be set
     */
    public void setHeaders(String headers) {
        checkHeaders(Values.notNull("headers", headers));
        this.headers = headers;
        changed();
    }

    private static Map<String, String> checkHeaders(String list) {
        Map<String, String> parsed = KeyValues.parse("headers", list);
        parsed.forEach((name, value) -> {
            if (!HEADER_NAME.matcher(name).matches() || RESERVED_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                throw new IllegalArgumentException("headers must not have \"" + name + "\"");
            }
            if (value.chars().anyMatch(c -> c < ' ' || c > '~')) {
                throw new IllegalArgumentException(
                        "headers must have printable ASCII only, which the value of \"" + name + "\" is not");
            }
        });
        return parsed;
    }

    /** {@return the list of headers of each request as it was set} */
    public String getHeaders() {
        return headers;
    }

    /**
     * Limits the total size of waiting reports, compressed, in bytes. Beyond it the oldest are dropped. Default 16 MiB
     * (16,777,216).
     *
     * @param queueLimitBytes 65,536 to 1,073,741,824
     * @throws IllegalArgumentException if it is out of range
     */
    public void setQueueLimitBytes(long queueLimitBytes) {
        this.queueLimitBytes =
                Values.between("queueLimitBytes", queueLimitBytes, MIN_QUEUE_LIMIT_BYTES, MAX_QUEUE_LIMIT_BYTES);
    }

    /** {@return the limit of the total size of waiting reports, in bytes} */
    public long getQueueLimitBytes() {
        return queueLimitBytes;
    }

    /**
     * Limits the size of one report, compressed, in bytes. A larger report is not sent and counts as failed. Default 4
     * MiB (4,194,304).
     *
     * @param reportLimitBytes 4,096 to 268,435,456
     * @throws IllegalArgumentException if it is out of range
     */
    public void setReportLimitBytes(long reportLimitBytes) {
        this.reportLimitBytes =
                Values.between("reportLimitBytes", reportLimitBytes, MIN_REPORT_LIMIT_BYTES, MAX_REPORT_LIMIT_BYTES);
        changed();
    }

    /** {@return the limit of the size of one report, in bytes} */
    public long getReportLimitBytes() {
        return reportLimitBytes;
    }

    /**
     * Limits how long the server may take for one report, in milliseconds. Default: for {@link RemoteProtocol#OTLP} the
     * environment variable {@code OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT}, or else {@code OTEL_EXPORTER_OTLP_TIMEOUT};
     * else 10,000.
     *
     * @param timeoutMillis 1 to 600,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setTimeoutMillis(int timeoutMillis) {
        this.timeoutMillis = (int) Values.between("timeoutMillis", timeoutMillis, 1, MAX_MILLIS);
    }

    /** {@return how long the server may take for one report, in milliseconds} */
    public int getTimeoutMillis() {
        int chosen = timeoutMillis;
        if (chosen > 0) {
            return chosen;
        }
        Integer named = getProtocol() == RemoteProtocol.OTLP ? otlp.timeoutMillis(MAX_MILLIS) : null;
        return named == null ? STANDARD_TIMEOUT_MILLIS : named;
    }

    /**
     * Limits how long {@link #close()} may take to send waiting reports, in milliseconds. Default 5,000. If the JVM
     * exits without {@code close()}, the limit is at most two seconds.
     *
     * @param closeMillis 0 to 600,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setCloseMillis(int closeMillis) {
        this.closeMillis = (int) Values.between("closeMillis", closeMillis, 0, MAX_MILLIS);
    }

    /** {@return how long {@link #close()} may take, in milliseconds} */
    public int getCloseMillis() {
        return closeMillis;
    }

    /**
     * Sets the maximum of the random time that a report waits before it is sent, in milliseconds. Default 5,000. So
     * processes that were started together do not send at the same time. While other reports are being sent, a report
     * does not wait.
     *
     * @param spreadMillis 0 to 600,000
     * @throws IllegalArgumentException if it is out of range
     */
    public void setSpreadMillis(int spreadMillis) {
        this.spreadMillis = (int) Values.between("spreadMillis", spreadMillis, 0, MAX_MILLIS);
    }

    /** {@return the maximum of the random time before a report is sent, in milliseconds} */
    public int getSpreadMillis() {
        return spreadMillis;
    }

    private void changed() {
        synchronized (encoding) {
            encoder = null;
        }
    }

    // ---- figures ----

    /** {@return the number of reports that the server has taken since this outputer was made} */
    public long getSent() {
        return pusher.counts().sent();
    }

    /** {@return the number of failed attempts after which the report waited to be sent again} */
    public long getRetries() {
        return pusher.counts().retries();
    }

    /** {@return the number of reports that the server refused as a whole or in part, and that are not sent again} */
    public long getRefused() {
        return pusher.counts().refused();
    }

    /** {@return the number of reports that were dropped because more than {@link #getQueueLimitBytes} waited} */
    public long getDropped() {
        return pusher.counts().dropped();
    }

    /** {@return the number of reports that still waited when the time of {@link #close()} was over} */
    public long getUnsent() {
        return pusher.counts().unsent();
    }

    /** {@return the number of reports that were longer than {@link #getReportLimitBytes}} */
    public long getTooLarge() {
        return tooLarge.get();
    }

    /** {@return the number of waiting reports, including the one that is being sent} */
    public long getWaiting() {
        return pusher.counts().waiting();
    }

    /** {@return the size of the waiting reports, in bytes, at most {@link #getQueueLimitBytes}} */
    public long getWaitingBytes() {
        return pusher.counts().waitingBytes();
    }

    /** The server, without a password, and the figures. */
    @Override
    public String toString() {
        Endpoint to = endpointIfAny();
        Pusher.Counts counts = pusher.counts();
        return (to == null ? "no URL" : to.protocol() + " to " + Endpoint.shown(to.uri())) + ": sent " + counts.sent()
                + ", waiting " + counts.waiting() + ", retries " + counts.retries() + ", refused " + counts.refused()
                + ", dropped " + counts.dropped() + ", unsent " + counts.unsent() + ", too large " + tooLarge;
    }

    // ---- reports ----

    /**
     * Checks that there is a URL and an HTTP client. The server need not run yet.
     *
     * @throws IllegalStateException if no URL was set
     * @throws UnsupportedOperationException if the JVM runs without the module {@code java.net.http}
     */
    @Override
    public void starting() {
        endpoint();
        try {
            Class.forName("java.net.http.HttpClient", false, RemoteSamplingOutputer.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new UnsupportedOperationException(
                    "RemoteSamplingOutputer needs the module java.net.http, which this JVM runs without: start it with"
                            + " --add-modules java.net.http",
                    e);
        }
    }

    private Endpoint endpoint() {
        Endpoint current = endpointIfAny();
        if (current == null) {
            throw new IllegalStateException("RemoteSamplingOutputer needs a URL: setUrl(...) comes before init()");
        }
        return current;
    }

    private @Nullable Endpoint endpointIfAny() {
        Endpoint chosen = endpoint;
        return chosen != null ? chosen : otlp.endpoint();
    }

    /**
     * Compresses the report and adds it to the waiting ones.
     *
     * @param report the report
     * @throws IllegalStateException if no URL was set
     * @throws UncheckedIOException if it is longer than {@link #getReportLimitBytes}, or cannot be written
     */
    @Override
    public void report(SamplingReport report) {
        try {
            pusher.add(encoder().encode(report));
        } catch (ReportEncoder.TooLargeException e) {
            tooLarge.incrementAndGet();
            throw new UncheckedIOException(
                    "a report is not sent, because it is " + e.getMessage() + " (reportLimitBytes)", e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ReportEncoder encoder() {
        synchronized (encoding) {
            ReportEncoder current = encoder;
            if (current == null) {
                current = new ReportEncoder(endpoint(), identity(), sentHeaders(), reportLimitBytes);
                encoder = current;
            }
            return current;
        }
    }

    private ServiceIdentity identity() {
        return ServiceIdentity.of(
                serviceName,
                KeyValues.parse("resourceAttributes", resourceAttributes),
                environment,
                text -> log(System.Logger.Level.WARNING, text));
    }

    private Map<String, String> sentHeaders() {
        Map<String, String> chosen = checkHeaders(headers);
        if (!chosen.isEmpty() || getProtocol() != RemoteProtocol.OTLP) {
            return chosen;
        }
        return otlp.headers(endpoint().uri(), RemoteSamplingOutputer::checkHeaders);
    }

    /** Does nothing: {@link #report} has the data. */
    @Override
    public void printIntervalTitle(String title) {}

    /** Does nothing. */
    @Override
    public void printThreadRecord(String threadTitle, String record) {}

    /** Logs the deadlock as a warning, because it is not part of a report. */
    @Override
    public void printDeadlock(String title, String record) {
        log(System.Logger.Level.WARNING, title + "\n" + record);
    }

    /** @return true */
    @Override
    public boolean logsErrors() {
        return true;
    }

    /** Logs as a warning. */
    @Override
    public void printError(String message, @Nullable Throwable cause) {
        LogTarget.of(LOGGER_NAME).log(System.Logger.Level.WARNING, message, cause);
    }

    /** Does nothing and does not wait, so a slow server delays no report. */
    @Override
    public void flush() {}

    /** Sends waiting reports for at most {@link #getCloseMillis}; reports that are left are counted and logged. */
    @Override
    public void close() {
        long left = pusher.close(closeMillis);
        if (left > 0) {
            log(
                    System.Logger.Level.WARNING,
                    left + " reports were not sent, because close() may take " + closeMillis + " ms; " + this);
        }
    }
}
