// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.ref.WeakReference;
import java.util.List;
import org.junit.jupiter.api.Test;

class ThreadFilterTest {

    @Test
    void allThreadsByDefault() {
        assertThat(ThreadFilter.ALL.only()).isFalse();
        assertThat(ThreadFilter.ALL.alive()).isEmpty();
    }

    @Test
    void threadsAreHeldWeakly() {
        ThreadFilter[] made = new ThreadFilter[1];
        WeakReference<Thread> held = new WeakReference<>(filterWithAnother(made));
        ThreadFilter filter = made[0];
        await().until(() -> {
            System.gc();
            return held.get() == null;
        });
        assertThat(filter.alive()).containsExactly(Thread.currentThread());
        assertThat(filter.only()).isTrue();
    }

    /** @return the other thread; the caller drops its reference */
    private static Thread filterWithAnother(ThreadFilter[] made) {
        Thread unstarted = new Thread("unstarted");
        made[0] = ThreadFilter.ALL.and(List.of(Thread.currentThread())).and(List.of(unstarted));
        return unstarted;
    }

    @Test
    void virtualThreadsAreRefusedWhereThereAreSome() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21);
        Thread virtual = (Thread)
                Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, (Runnable) () -> {});
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadFilter.check("threadToBeSampled", virtual))
                .withMessageStartingWith("threadToBeSampled must be a platform thread, got virtual thread ");
    }

    @Test
    void platformThreadsAreFineAndNullIsNot() {
        assertThatNoException().isThrownBy(() -> ThreadFilter.check("p", Thread.currentThread()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadFilter.check("p", null))
                .withMessage("p must not be null");
    }
}
