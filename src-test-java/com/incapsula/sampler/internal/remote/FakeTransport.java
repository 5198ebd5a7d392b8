// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import java.io.IOException;
import java.net.ConnectException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** Gives the answers that the test sets, then status 200. */
final class FakeTransport implements Transport {

    /** The outcome of an attempt. */
    @FunctionalInterface
    interface Step {
        Answer take() throws IOException, InterruptedException;
    }

    private final Deque<Step> steps = new ArrayDeque<>();
    final List<PushBody> attempts = new CopyOnWriteArrayList<>();
    volatile int closed;

    synchronized FakeTransport then(Step step) {
        steps.add(step);
        return this;
    }

    FakeTransport thenStatus(int status) {
        return then(() -> new Answer(status, null, "because"));
    }

    FakeTransport thenUnreachable() {
        return then(() -> {
            throw new ConnectException("refused");
        });
    }

    /**
     * @return a latch that is released once the attempt has begun; the attempt ends when it is interrupted, or when the
     *     other latch is released
     */
    CountDownLatch thenHangUntil(CountDownLatch end) {
        CountDownLatch begun = new CountDownLatch(1);
        then(() -> {
            begun.countDown();
            end.await();
            return new Answer(200, null, "");
        });
        return begun;
    }

    private synchronized Step next() {
        return steps.poll();
    }

    @Override
    public Answer send(PushBody body, long timeoutMillis) throws IOException, InterruptedException {
        attempts.add(body);
        Step step = next();
        return step == null ? new Answer(200, null, "") : step.take();
    }

    @Override
    public void close() {
        closed++;
    }
}
