// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.io.ByteArrayOutputStream;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/**
 * Keeps the beginning of a response's body. The rest is read and dropped, so that the connection can be reused.
 *
 * <p>Threads: those of the HTTP client, one at a time.
 */
final class FirstBytes implements HttpResponse.BodySubscriber<byte[]> {

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
