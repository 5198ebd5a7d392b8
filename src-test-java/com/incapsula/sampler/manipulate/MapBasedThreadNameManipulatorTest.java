// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.manipulate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import org.junit.jupiter.api.Test;

class MapBasedThreadNameManipulatorTest {

    private final MapBasedThreadNameManipulator manipulator = new MapBasedThreadNameManipulator();

    @Test
    void unmappedThreadIsNotSampled() {
        assertThat(manipulator.getManipulatedThreadName(Thread.currentThread())).isNull();
        manipulator.unmapCurrentThread();
        assertThat(manipulator.getMappingsCount()).isZero();
    }

    @Test
    void mappedThreadHasItsName() {
        manipulator.mapCurrentThread("/orders");
        manipulator.mapCurrentThread("/invoices");

        assertThat(manipulator.getManipulatedThreadName(Thread.currentThread())).isEqualTo("/invoices");
        assertThat(manipulator.getMappingsCount()).isEqualTo(1);

        manipulator.unmapCurrentThread();
        assertThat(manipulator.getManipulatedThreadName(Thread.currentThread())).isNull();
        assertThat(manipulator.getMappingsCount()).isZero();
    }

    @Test
    void endedThreadIsNotCounted() throws InterruptedException {
        Thread thread = new Thread(() -> manipulator.mapCurrentThread("gone"));
        thread.start();
        thread.join();

        assertThat(manipulator.getMappingsCount()).isZero();
    }

    @Test
    void threadsAreNotHeld() throws InterruptedException {
        WeakReference<Thread> ended = mapInThreadThatEnds();

        await().until(() -> {
            System.gc();
            return ended.get() == null;
        });
        assertThat(manipulator.getMappingsCount()).isZero();
    }

    private WeakReference<Thread> mapInThreadThatEnds() throws InterruptedException {
        Thread thread = new Thread(() -> manipulator.mapCurrentThread("leak?"));
        thread.start();
        thread.join();
        return new WeakReference<>(thread);
    }

    @Test
    void threadsThatSayTheyAreEqualAreNotTheSame() throws InterruptedException {
        Thread other = new EqualThread();
        Thread mapped = new EqualThread(() -> {
            manipulator.mapCurrentThread("mapped");
            assertThat(manipulator.getManipulatedThreadName(other)).isNull();
            assertThat(manipulator.getManipulatedThreadName(Thread.currentThread()))
                    .isEqualTo("mapped");
        });
        Throwable[] failure = new Throwable[1];
        mapped.setUncaughtExceptionHandler((thread, e) -> failure[0] = e);
        mapped.start();
        mapped.join();

        assertThat(failure[0]).isNull();
    }

    @Test
    void nullNameIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> manipulator.mapCurrentThread(null))
                .withMessage("the name of a mapping must not be null; use unmapCurrentThread()");
    }

    private static final class EqualThread extends Thread {

        EqualThread() {}

        EqualThread(Runnable work) {
            super(work);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof EqualThread;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }
}
