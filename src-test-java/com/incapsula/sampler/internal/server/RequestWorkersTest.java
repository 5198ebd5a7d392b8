// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Samplers;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(Samplers.HANG_SECONDS)
class RequestWorkersTest {

    /** Otherwise the thread would end with an exception, which the JVM prints on the application's standard error. */
    @Test
    void aTaskThatOutlivesTheEndIsInterruptedAndThrowsNothing() {
        RequestWorkers workers = new RequestWorkers(new ThreadGroup("workers"), Samplers.LONG.toMillis());
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        workers.execute(() -> {
            begun.countDown();
            awaitUninterrupted(closed);
            try {
                workers.allow(1000);
                interrupted.complete(Thread.currentThread().isInterrupted());
            } catch (RuntimeException | Error e) {
                interrupted.completeExceptionally(e);
            }
        });
        awaitUninterrupted(begun);
        workers.close();
        closed.countDown();
        assertThat(interrupted.join()).isTrue();
    }

    /* Ignores interrupts, and does not restore the flag. */
    private static void awaitUninterrupted(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // close() interrupts the workers
            }
        }
    }
}
