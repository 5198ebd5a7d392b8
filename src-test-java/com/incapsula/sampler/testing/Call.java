// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.testing;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A call on a thread of its own. The call may have to wait for another thread. */
public final class Call {

    /** The code to call. */
    @FunctionalInterface
    public interface Work {
        void run() throws Exception;
    }

    private static final Set<Thread.State> WAITS =
            EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final Thread thread;

    private Call(Work work) {
        thread = new Thread(
                () -> {
                    try {
                        work.run();
                        done.complete(null);
                    } catch (Throwable t) {
                        done.completeExceptionally(t);
                    }
                },
                "call");
        thread.setDaemon(true);
    }

    /** @return a call that has begun */
    public static Call of(Work work) {
        Call call = new Call(work);
        call.thread.start();
        return call;
    }

    /** Returns when the call waits for another thread. Fails if the call has ended. */
    public Call assertWaits() {
        patiently().until(() -> done.isDone() || WAITS.contains(thread.getState()));
        assertThat(done).isNotDone();
        return this;
    }

    /** Waits for the end of the call. */
    public void get() throws Exception {
        done.get(Samplers.HANG_SECONDS, TimeUnit.SECONDS);
    }
}
