// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import com.incapsula.sampler.RecentWindow;
import com.incapsula.sampler.ReportFormat;
import com.incapsula.sampler.ReportOptions;
import com.incapsula.sampler.SamplingCursor;
import com.incapsula.sampler.SamplingReport;
import com.incapsula.sampler.ThreadsSampler;
import com.incapsula.sampler.internal.engine.InternalThreads;
import com.incapsula.sampler.internal.engine.Lifecycle;
import com.incapsula.sampler.internal.report.HtmlPage;
import com.incapsula.sampler.internal.report.LibraryLog;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Answers requests for reports of a running sampler.
 *
 * <p>An expensive answer needs one of two permits: one for profiles, which last as long as the request says, one for
 * all other reports. If the permit is taken, the answer is 429. A profile under way sends a few bytes ten times a
 * second, so that its permit is released as soon as its client has closed the connection. A report is made in memory,
 * and sent after its permit is released, so a slow client holds no permit. Only a report that exceeds the memory is
 * sent while it is made.
 *
 * <p>Threads: any. The {@link HttpFront} waits for requests, one of the {@link RequestWorkers} answers each; none of
 * their threads is sampled.
 */
public final class LiveServer implements AutoCloseable {

    private static final long HEADERS_MILLIS = 5_000; // for a client to send its request
    private static final long ANSWER_MILLIS = 30_000; // to make an answer, and for a client to read it
    private static final long WAIT_MILLIS = 2_000; // for another answer to be ready
    private static final long RETRY_SECONDS = 2;
    private static final long BEAT_MILLIS = 100; // between two writes to the client of a profile
    private static final long KEPT_BYTES = 32L << 20; // of reports that are being sent
    private static final int KEPT_SHARE = 16; // of the heap: a sixteenth at most
    static final String PROFILE_PATH = "/debug/pprof/profile";
    private static final String INDEX_PATH = "/debug/pprof/";
    private static final String INDEX = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>threads-sampler: /debug/pprof/</title></head>
            <body>
            <h1>threads-sampler</h1>
            <ul>
            <li><a href="profile?seconds=5">profile?seconds=5</a>: the next 5 seconds, for <code>go tool pprof</code>;
            at most MAX_SECONDS</li>
            <li><a href="../../">/</a>: the last 5 minutes as a page; as all of the following with
            <code>?window=1m</code>, <code>5m</code>, <code>15m</code> or <code>start</code></li>
            <li><a href="../../report.txt">/report.txt</a>: as text</li>
            <li><a href="../../top.txt">/top.txt</a>: the methods and lines with the most time</li>
            <li><a href="../../calls.txt">/calls.txt</a>: counted methods; <code>?measure=calls</code>,
            <code>per=class</code>, <code>per=package</code>, <code>focus=com.acme.Shop.checkout</code></li>
            <li><a href="../../collapsed">/collapsed</a>: for flame graph tools</li>
            <li><a href="../../profile.json">/profile.json</a>: for speedscope</li>
            <li><a href="../../profile.pb.gz">/profile.pb.gz</a>: for pprof</li>
            <li><a href="../../report.json">/report.json</a>: everything, for scripts</li>
            </ul>
            </body>
            </html>
            """;

    static final Map<String, ReportFormat> PATHS = Map.of(
            "/", ReportFormat.HTML,
            "/report.json", ReportFormat.JSON,
            "/report.txt", ReportFormat.TEXT,
            "/collapsed", ReportFormat.COLLAPSED,
            "/profile.json", ReportFormat.SPEEDSCOPE,
            "/profile.pb.gz", ReportFormat.PPROF,
            "/top.txt", ReportFormat.TOP,
            "/calls.txt", ReportFormat.CALLS);

    /**
     * The properties of a server.
     *
     * @param sampler the sampler that it shows
     * @param address the address that it listens on
     * @param host that address as the user wrote it
     * @param otherNames other names of the server
     * @param token null: requests need no token
     * @param maxSeconds the longest profile
     * @param hasMcp whether language models may read it, at {@link McpEndpoint#PATH}
     */
    public record Plan(
            ThreadsSampler sampler,
            InetSocketAddress address,
            String host,
            List<String> otherNames,
            @Nullable String token,
            int maxSeconds,
            boolean hasMcp) {}

    private final Plan plan;
    private final HttpFront front;
    private final RequestWorkers workers;
    private final RequestGuard guard;
    private final RecentWindow window;
    private final @Nullable McpEndpoint models;
    private final Semaphore rendering = new Semaphore(1);
    private final Semaphore profiling = new Semaphore(1);
    private final Semaphore keptPieces; // see AnswerBody
    private volatile boolean closed;

    /**
     * Starts a server.
     *
     * @param lifecycle of the sampler
     * @throws UncheckedIOException if the address cannot be listened on
     */
    public LiveServer(Plan plan, Lifecycle lifecycle) {
        this(plan, lifecycle, HEADERS_MILLIS, keptBytes());
    }

    LiveServer(Plan plan, Lifecycle lifecycle, long headersMillis, long keptBytes) {
        this.plan = plan;
        keptPieces = new Semaphore((int) (keptBytes / AnswerBody.PIECE_BYTES));
        guard = new RequestGuard(plan.address().getAddress(), plan.host(), plan.otherNames(), plan.token());
        window = plan.sampler().openRecentWindow();
        models = plan.hasMcp() ? new McpEndpoint(plan.sampler()) : null;
        ThreadGroup threads = InternalThreads.hidden(lifecycle);
        workers = new RequestWorkers(threads, ANSWER_MILLIS);
        HttpFront opened = null;
        try {
            opened = new HttpFront(plan.address(), threads, headersMillis, this::take);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "cannot listen on " + plan.host() + ":" + plan.address().getPort() + ": " + e.getMessage(), e);
        } finally {
            if (opened == null) {
                workers.close();
                closeReaders();
            }
        }
        front = opened;
        front.start();
        if (models != null) {
            workers.repeat(models::renew, WAIT_MILLIS);
        }
    }

    private static long keptBytes() {
        return Math.min(KEPT_BYTES, Runtime.getRuntime().maxMemory() / KEPT_SHARE);
    }

    /** {@return the address that the server listens on, with the port in use} */
    public InetSocketAddress address() {
        return front.address();
    }

    /** Ends the server: closes open connections and ends a profile under way. */
    @Override
    public void close() {
        closed = true;
        workers.close();
        front.close();
        closeReaders();
    }

    private void closeReaders() {
        window.close();
        if (models != null) {
            models.close();
        }
    }

    // ---- one request ----

    private void take(SocketChannel channel, ByteBuffer received) {
        workers.execute(() -> {
            boolean isComplete = false;
            try {
                handle(new HttpExchange(channel, received));
                front.answered(channel);
                isComplete = true;
            } catch (IOException clientIsGone) {
                // or the time is up; the client notices the incomplete answer
            } finally {
                if (!isComplete) {
                    front.drop(channel);
                }
            }
        });
    }

    private void handle(HttpExchange exchange) throws IOException {
        setHeaders(exchange.getResponseHeaders());
        AnswerStream out = new AnswerStream(exchange, keptPieces);
        try {
            exchange.readHead();
            requireOwnName(exchange);
            if (models != null
                    && McpEndpoint.PATH.equals(exchange.getRequestURI().getRawPath())) {
                McpEndpoint.check(exchange, guard);
                models.answer(exchange, workers);
            } else {
                check(exchange);
                answer(exchange, out);
                out.complete();
                out.finish();
            }
        } catch (Refusal e) {
            refuse(exchange, e);
        } catch (RuntimeException | Error e) {
            if (out.hasBegun()) {
                throw new IOException("the answer is not complete", e);
            }
            refuse(exchange, failure(e));
        } finally {
            out.discard();
        }
    }

    private static Refusal failure(Throwable e) {
        if (e instanceof IllegalStateException || e instanceof OutOfMemoryError) {
            LibraryLog.log(System.Logger.Level.DEBUG, "a request could not be answered", e);
            return new Refusal(
                    503,
                    e instanceof OutOfMemoryError
                            ? "there is not enough memory for this report at the moment; the same request may succeed later"
                            : "the sampler is not running, so there is nothing to report; the same request will be answered"
                                    + " when it runs",
                    retry(RETRY_SECONDS));
        }
        LibraryLog.log(System.Logger.Level.WARNING, "a request could not be answered", e);
        return new Refusal(500, "the server failed; its log says how");
    }

    private static void setHeaders(HttpHeaders headers) {
        headers.set("Cache-Control", "no-store");
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("X-Frame-Options", "DENY");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    }

    private void requireOwnName(HttpExchange exchange) throws Refusal {
        if (!guard.isOurs(exchange.getRequestHeaders().get("Host"))) {
            throw new Refusal(
                    421,
                    "the Host of this request is not a name of this server; more names can be allowed where it is set up");
        }
    }

    private void check(HttpExchange exchange) throws Refusal {
        HttpHeaders headers = exchange.getRequestHeaders();
        if (!List.of("GET", "HEAD").contains(exchange.getRequestMethod())) {
            throw new Refusal(405, "only requests by GET and HEAD are answered", Map.of("Allow", "GET, HEAD"));
        }
        if (RequestGuard.isPartOfAnotherSite(headers.getFirst("Sec-Fetch-Site"), headers.getFirst("Sec-Fetch-Dest"))) {
            throw new Refusal(403, "a page of another site must not use this server");
        }
        if (!guard.isAllowed(headers.get("Authorization"))) {
            /* Basic alone makes browsers show their password dialog. Clients with a bearer token do not need this. */
            throw new Refusal(
                    401,
                    "the request needs a token: as a bearer token, or as the password of any user",
                    Map.of("WWW-Authenticate", "Basic realm=\"threads-sampler\", charset=\"UTF-8\""));
        }
    }

    private void answer(HttpExchange exchange, AnswerStream out) throws IOException, Refusal {
        String path = exchange.getRequestURI().getRawPath();
        if (INDEX_PATH.equals(path)) {
            index(exchange, out);
            return;
        }
        if (INDEX_PATH.equals(path + "/")) {
            /* Relative: a proxy may have put this server below a path of its own. */
            throw new Refusal(301, "the index is at pprof/", Map.of("Location", "pprof/"));
        }
        boolean waits = PROFILE_PATH.equals(path);
        ReportFormat format = waits ? ReportFormat.PPROF : PATHS.get(path);
        if (format == null) {
            throw new Refusal(
                    404,
                    "nothing is at the path of this request; there is /, /report.json, /report.txt,"
                            + " /collapsed, /profile.json, /profile.pb.gz, /top.txt, /calls.txt, " + INDEX_PATH
                            + " and "
                            + PROFILE_PATH
                            + "?seconds=N");
        }
        exchange.getResponseHeaders().set("Content-Type", format.getMediaType());
        if (format == ReportFormat.HTML) {
            /* The page has a policy of its own for its scripts. */
            exchange.getResponseHeaders().set("Content-Security-Policy", "frame-ancestors 'none'");
        }
        Query query = new Query(path, waits, format, exchange.getRequestURI().getRawQuery());
        int seconds = query.seconds(plan.maxSeconds());
        RecentWindow.Length length = query.window();
        query.applyTo(ReportOptions.standard()); // refuses a bad value before a report is made
        if (format != ReportFormat.PPROF) {
            out.negotiate(exchange.getRequestHeaders());
        }
        if (exchange.getRequestMethod().equals("HEAD")) {
            return;
        }
        if (waits) {
            profile(seconds, out);
        } else {
            render(format, length, query, out);
        }
    }

    private void index(HttpExchange exchange, AnswerStream out) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", "text/html; charset=utf-8");
        out.negotiate(exchange.getRequestHeaders());
        if (!exchange.getRequestMethod().equals("HEAD")) {
            out.write(INDEX.replace("MAX_SECONDS", Integer.toString(plan.maxSeconds()))
                    .getBytes(StandardCharsets.UTF_8));
        }
    }

    private void profile(int seconds, AnswerStream out) throws IOException, Refusal {
        if (!profiling.tryAcquire()) {
            throw new Refusal(429, "a profile for another request is being taken; one at a time is", retry(seconds));
        }
        try (SamplingCursor cursor = plan.sampler().openCursor()) {
            workers.allow(TimeUnit.SECONDS.toMillis(seconds) + ANSWER_MILLIS);
            EarlyGzip early = new EarlyGzip(out);
            out.send();
            early.begin();
            waitWith(early, TimeUnit.SECONDS.toNanos(seconds));
            try (SamplingReport report = cursor.next()) {
                report.writeTo(ReportFormat.PPROF, early);
            }
        } catch (InterruptedException e) {
            throw new IOException("the server was closed", e);
        } finally {
            profiling.release();
        }
    }

    /* If the client has closed the connection, at the latest the second write throws. */
    private static void waitWith(EarlyGzip early, long nanos) throws IOException, InterruptedException {
        long end = System.nanoTime() + nanos;
        for (long left = nanos; left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.sleep(Math.min(left, TimeUnit.MILLISECONDS.toNanos(BEAT_MILLIS)));
            early.beat();
        }
    }

    /* If the memory suffices, this only buffers the report, which is sent after the permit is released. */
    private void render(ReportFormat format, RecentWindow.Length length, Query query, AnswerStream out)
            throws IOException, Refusal {
        if (!acquireRendering()) {
            throw new Refusal(
                    429, "a report for another request is being made; one at a time is", retry(RETRY_SECONDS));
        }
        try (SamplingReport report = report(length)) {
            if (format == ReportFormat.HTML) {
                HtmlPage.writeLive(out, data -> report.writeTo(ReportFormat.JSON, data));
            } else {
                report.writeTo(format, query.applyTo(report.getOptions()), out);
            }
        } finally {
            rendering.release();
        }
    }

    private SamplingReport report(RecentWindow.Length length) throws IOException {
        if (closed) {
            throw new IOException("the server was closed");
        }
        return window.report(length);
    }

    private boolean acquireRendering() throws IOException {
        try {
            return rendering.tryAcquire(WAIT_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IOException("the server was closed", e);
        }
    }

    private static Map<String, String> retry(long seconds) {
        return Map.of("Retry-After", Long.toString(seconds));
    }

    private void refuse(HttpExchange exchange, Refusal refusal) throws IOException {
        refusal.headers().forEach(exchange.getResponseHeaders()::set);
        byte[] text = (refusal.getMessage() + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.answer(refusal.status(), "text/plain; charset=utf-8", text);
    }

    /**
     * Sends the status together with the first byte. If the memory suffices, that happens after the answer is complete,
     * so until then it can still become a refusal.
     */
    private static final class AnswerStream extends OutputStream {

        private final HttpExchange exchange;
        private final AnswerBody body;
        private boolean packs;
        private @Nullable OutputStream content; // the body, or the compressing stream before it

        AnswerStream(HttpExchange exchange, Semaphore keptPieces) {
            this.exchange = exchange;
            body = new AnswerBody(keptPieces, this::begin);
        }

        boolean hasBegun() {
            return body.hasBegun();
        }

        /** Compresses the answer if the client accepts that. */
        void negotiate(HttpHeaders request) {
            packs = ContentCodings.acceptGzip(request.get("Accept-Encoding"));
            exchange.getResponseHeaders().set("Vary", "Accept-Encoding");
        }

        private OutputStream begin() throws IOException {
            if (packs) {
                exchange.getResponseHeaders().set("Content-Encoding", "gzip");
            }
            exchange.sendResponseHeaders(200, 0);
            return exchange.getResponseBody();
        }

        /** Sends buffered bytes; from now on, bytes are sent at once. */
        void send() throws IOException {
            body.send();
        }

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            if (content == null) {
                content = packs ? new FastGzip(body) : body;
            }
            content.write(bytes, offset, length);
        }

        @Override
        public void flush() throws IOException {
            if (content != null) {
                content.flush();
            }
        }

        /** Completes the content and sends it. */
        void complete() throws IOException {
            if (content instanceof GZIPOutputStream packed) {
                packed.finish();
            }
            if (content != null) {
                body.send();
            }
        }

        /** Ends a complete answer, by which the client recognises that it is complete. */
        void finish() throws IOException {
            if (content == null) {
                exchange.sendResponseHeaders(200, -1);
            } else {
                content.close();
            }
        }

        /** Releases the memory of an answer, complete or not. */
        void discard() {
            body.discard();
        }
    }

    /** Compresses at the fastest level, which makes a report ten times smaller; higher levels gain little. */
    private static final class FastGzip extends GZIPOutputStream {

        private static final int BUFFER_BYTES = 16 * 1024;

        FastGzip(OutputStream out) throws IOException {
            super(out, BUFFER_BYTES);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
