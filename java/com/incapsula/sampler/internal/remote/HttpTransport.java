// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import com.incapsula.sampler.internal.report.ProtobufMessage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * Sends reports by the JDK's HTTP client. A client that is broken would fail for ever, and its failures look like those
 * of the network. So the client is replaced after each failure except a refused connection. Before JDK 21 a client
 * keeps a thread and file descriptors until it is collected, which may take hours; so while {@value #MAX_LEFT} old
 * clients are left, the current one is kept.
 *
 * <p>Threads: as {@link Transport}. The client has threads of its own, made by the factory; others belong to the group
 * of the thread that sends first. All are daemons.
 */
public final class HttpTransport implements Transport {

    static final int MAX_LEFT = 4;

    private static final int MAX_THREADS = 8;
    private static final long IDLE_SECONDS = 5;

    /**
     * Characters that a terminal or a reader of the log may interpret: all controls and line ends, not only ASCII
     * ones.
     */
    private static final Pattern CONTROLS = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]+");

    private final ThreadFactory threads;
    private final List<WeakReference<HttpClient>> left = new ArrayList<>(); // guarded by this
    private @Nullable HttpClient client; // guarded by this
    private @Nullable ExecutorService executor; // guarded by this
    private boolean isForHttps; // guarded by this

    /** Creates a transport without a client. The factory makes the client's threads. */
    public HttpTransport(ThreadFactory threads) {
        this.threads = threads;
    }

    @Override
    public Answer send(PushBody body, long timeoutMillis) throws IOException, InterruptedException {
        boolean isUsable = false;
        try {
            Answer answer =
                    answer(client(body.uri()).sendAsync(request(body), info -> new FirstBytes()), timeoutMillis);
            isUsable = true;
            return answer;
        } catch (ConnectException e) {
            isUsable = true;
            throw e;
        } finally {
            if (!isUsable) {
                replace();
            }
        }
    }

    private synchronized void replace() {
        forgetGarbage();
        if (left.size() < MAX_LEFT) {
            close();
        }
    }

    private static Answer answer(CompletableFuture<HttpResponse<byte[]>> future, long timeoutMillis)
            throws IOException, InterruptedException {
        try {
            return answer(future.get(timeoutMillis, TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            throw failure(e.getCause());
        } catch (TimeoutException e) {
            throw new HttpTimeoutException("no answer within " + timeoutMillis + " ms");
        } finally {
            future.cancel(true); // does nothing if the exchange is over
        }
    }

    private static Answer answer(HttpResponse<byte[]> response) {
        HttpHeaders headers = response.headers();
        boolean isProtobuf = headers.firstValue("Content-Type").orElse("").startsWith("application/x-protobuf");
        String text = CONTROLS.matcher(new String(response.body(), StandardCharsets.UTF_8))
                .replaceAll(" ")
                .strip();
        return new Answer(
                response.statusCode(),
                headers.firstValue("Retry-After").orElse(null),
                text,
                isProtobuf ? PartialSuccess.rejected(response.body()) : 0);
    }

    private static IOException failure(@Nullable Throwable cause) {
        if (cause instanceof IOException io) {
            return io;
        }
        if (cause instanceof Error error) {
            throw error;
        }
        return new IOException(cause);
    }

    private static HttpRequest request(PushBody body) {
        BodyPublisher[] parts =
                body.parts().stream().map(BodyPublishers::ofByteArray).toArray(BodyPublisher[]::new);
        HttpRequest.Builder request = HttpRequest.newBuilder(body.uri()).POST(BodyPublishers.concat(parts));
        body.headers().forEach(request::setHeader);
        return request.build();
    }

    private synchronized HttpClient client(URI uri) {
        boolean needsHttps = uri.getScheme().equals("https");
        if (needsHttps && !isForHttps) {
            close();
        }
        HttpClient used = client;
        if (used == null) {
            used = newClient(needsHttps);
            isForHttps = needsHttps;
            client = used;
        }
        return used;
    }

    private HttpClient newClient(boolean forHttps) {
        ThreadPoolExecutor pool = new ThreadPoolExecutor(
                0, MAX_THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
        pool.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
        executor = pool;
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .executor(pool);
        if (!forHttps) {
            withoutCertificates(builder);
        }
        return builder.build();
    }

    /* By default a client reads the certificates of all authorities, which takes a third of a second in a new JVM.
     * That is a large part of the time for the last report at the JVM's exit. */
    private static void withoutCertificates(HttpClient.Builder builder) {
        try {
            SSLContext empty = SSLContext.getInstance("TLS");
            empty.init(null, new TrustManager[0], null);
            builder.sslContext(empty);
        } catch (GeneralSecurityException noTls) {
            // the client makes its own context, or fails with the reason
        }
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            forgetGarbage();
            if (!shutDown(client)) {
                left.add(new WeakReference<>(client));
            }
            client = null;
        }
        if (executor != null) {
            executor.shutdown();
            executor = null;
        }
    }

    private synchronized void forgetGarbage() {
        left.removeIf(each -> each.get() == null);
    }

    /* Returns false before JDK 21, where the client's thread ends after the client was collected. */
    private static boolean shutDown(HttpClient client) {
        try {
            HttpClient.class.getMethod("shutdownNow").invoke(client);
            return true;
        } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException older) {
            return false;
        }
    }

    /**
     * Keeps the beginning of a response's body. The rest is read and dropped, so that the connection can be reused.
     *
     * <p>Threads: those of the HTTP client, one at a time.
     */
    static final class FirstBytes implements HttpResponse.BodySubscriber<byte[]> {

        static final int MAX_BYTES = 300;

        private final ByteArrayOutputStream first = new ByteArrayOutputStream();
        private final CompletableFuture<byte[]> body = new CompletableFuture<>();

        @Override
        public CompletionStage<byte[]> getBody() {
            return body;
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(List<ByteBuffer> buffers) {
            for (ByteBuffer buffer : buffers) {
                byte[] bytes = new byte[Math.min(buffer.remaining(), MAX_BYTES - first.size())];
                buffer.get(bytes);
                first.writeBytes(bytes);
            }
        }

        @Override
        public void onError(Throwable failure) {
            body.completeExceptionally(failure);
        }

        @Override
        public void onComplete() {
            body.complete(first.toByteArray());
        }
    }

    /**
     * Reads a collector's answer to a report that it took: {@code ExportProfilesServiceResponse
     * {partial_success = 1 {rejected_profiles = 1, error_message = 2}}}.
     *
     * <p>Threads: any.
     */
    static final class PartialSuccess {

        private static final int PARTIAL_SUCCESS = 1 << 3 | ProtobufMessage.WIRE_LENGTH;
        private static final int REJECTED_PROFILES = 1 << 3;
        private static final int VARINT_BITS = 7;

        private PartialSuccess() {}

        /** @return the number of rejected profiles; 0 also if the body has none */
        static long rejected(byte[] body) {
            ByteBuffer in = ByteBuffer.wrap(body);
            if (varint(in) != PARTIAL_SUCCESS) {
                return 0;
            }
            boolean isEmpty = varint(in) == 0;
            return !isEmpty && varint(in) == REJECTED_PROFILES ? varint(in) : 0;
        }

        /* Returns 0 at the end. */
        private static long varint(ByteBuffer in) {
            long value = 0;
            for (int shift = 0; in.hasRemaining() && shift < Long.SIZE; shift += VARINT_BITS) {
                byte b = in.get();
                value |= (long) (b & 0x7f) << shift;
                if (b >= 0) {
                    return value;
                }
            }
            return value;
        }
    }
}
