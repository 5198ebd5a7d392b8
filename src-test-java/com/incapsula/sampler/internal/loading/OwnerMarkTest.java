// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class OwnerMarkTest {

    private final Properties properties = new Properties();
    private final OwnerMark first = new OwnerMark(properties);
    private final OwnerMark second = new OwnerMark(properties);

    private String owner() {
        return properties.getProperty("com.incapsula.sampler.owner");
    }

    private static void assertRefused(OwnerMark mark, String other) {
        String message = "another copy of threads-sampler runs in this JVM, in another class loader, from " + other
                + ": keep one copy, in a class loader that all its users share, or close the samplers of that one first";
        assertThat(mark.refusal()).hasMessage(message);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> mark.open("/own.so"))
                .withMessage(message);
    }

    @Test
    void whoOpensIsMarked() {
        assertThat(first.refusal()).isNull();
        first.open("/a.so");
        assertThat(owner()).isEqualTo("/a.so");
        assertThat(first.refusal()).isNull();
    }

    @Test
    void anotherCopyIsRefusedWhileTheFirstHasASampler() {
        first.open("/a.so");
        first.open("/a.so");
        assertRefused(second, "/a.so");
        first.close();
        assertRefused(second, "/a.so");
        assertThat(owner()).isEqualTo("/a.so");
    }

    @Test
    void anotherCopyMayOpenAfterTheLastClose() {
        first.open("/a.so");
        first.close();
        assertThat(owner()).isNull();
        assertThat(second.refusal()).isNull();
        second.open("/b.so");
        assertThat(owner()).isEqualTo("/b.so");
        assertRefused(first, "/b.so");
        second.close();
        first.open("/a.so");
        assertThat(owner()).isEqualTo("/a.so");
    }

    @Test
    void aCopyThatGivesWayIsFollowedByTheNext() throws Exception {
        first.open("/a.so");
        CountDownLatch ready = new CountDownLatch(1);
        Thread agent = new Thread(() -> {
            try {
                if (first.awaitRival(ready::countDown)) {
                    first.close();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        agent.start();
        ready.await();
        assertThat(second.refusal()).isNull();

        second.open("/b.so");

        agent.join();
        assertThat(owner()).isEqualTo("/b.so");
        assertThat(properties).hasSize(1);
        assertRefused(first, "/b.so");
    }

    @Test
    void anInterruptedThreadWaitsToo() throws Exception {
        first.open("/a.so");
        CountDownLatch ready = new CountDownLatch(1);
        Thread agent = new Thread(() -> {
            try {
                if (first.awaitRival(ready::countDown)) {
                    first.close();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        agent.start();
        ready.await();

        Thread.currentThread().interrupt();
        second.open("/b.so");

        assertThat(Thread.interrupted()).isTrue();
        agent.join();
        assertThat(owner()).isEqualTo("/b.so");
    }

    @Test
    void aCopyWithASamplerOfTheApplicationDoesNotGiveWay() throws Exception {
        first.open("/a.so");
        CountDownLatch ready = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        Thread agent = new Thread(() -> {
            try {
                first.awaitRival(ready::countDown);
            } catch (InterruptedException e) {
                ended.set(true);
            }
        });
        agent.start();
        ready.await();
        first.open("/a.so");
        assertRefused(second, "/a.so");
        first.close();
        assertThat(second.refusal()).isNull();
        agent.interrupt();
        agent.join();
        assertThat(ended).isTrue();
        assertRefused(second, "/a.so");
    }

    @Test
    void aCopyThatEndsBeforeAnyOtherComesIsNotAsked() throws Exception {
        first.open("/a.so");
        CountDownLatch ready = new CountDownLatch(1);
        AtomicBoolean wanted = new AtomicBoolean(true);
        Thread agent = new Thread(() -> {
            try {
                wanted.set(first.awaitRival(ready::countDown));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        agent.start();
        ready.await();
        first.close();
        agent.join();
        assertThat(wanted).isFalse();
        assertThat(properties).isEmpty();
    }

    @Test
    void theLibraryOfTheJvmItselfServesOneCopyForGood() {
        assertThat(second.isAgentClaimed()).isFalse();
        first.claimAgent();
        first.open(OwnerMark.AGENT);
        first.close();
        assertThat(second.isAgentClaimed()).isTrue();
    }
}
