// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import static com.incapsula.sampler.testing.Samplers.patiently;
import static org.assertj.core.api.Assertions.assertThat;

import com.incapsula.sampler.testing.Samplers;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The handling of reports, with a transport and a clock that the test controls. */
@Timeout(Samplers.HANG_SECONDS)
class PusherTest {

    private static final long LIMIT_BYTES = 1_000;

    private final FakeTransport transport = new FakeTransport();
    private final FakePushClock clock = new FakePushClock();
    private final List<String> log = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final List<Pusher.Counts> countsAtMessages = new CopyOnWriteArrayList<>();
    private volatile Pusher.Limits limits = new Pusher.Limits(LIMIT_BYTES, 1_000, 0);
    private final Pusher pusher = new Pusher(
            () -> transport,
            clock,
            work -> {
                Thread thread = new Thread(work, FakePushClock.SENDING_THREAD);
                threads.add(thread);
                return thread;
            },
            (level, text) -> {
                countsAtMessages.add(counts());
                log.add(level + " " + text);
                if (text.contains("for a test")) {
                    throw new OutOfMemoryError("of the log");
                }
            },
            () -> limits);

    private Pusher.Counts counts() {
        return pusher.counts();
    }

    private static PushBody body(int bytes) {
        return new PushBody(URI.create("http://peer/path?key=secret"), Map.of(), List.of(new byte[bytes]));
    }

    private static List<Long> lengths(List<PushBody> bodies) {
        return bodies.stream().map(PushBody::bytes).toList();
    }

    private void awaitEnd() {
        patiently()
                .until(() -> pusher.counts().waiting() == 0 && threads.stream().noneMatch(Thread::isAlive));
    }

    /** Adds reports while the first one is being sent, so that all others wait. */
    private void addBehindFirst(int... bytes) throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = transport.thenHangUntil(end);
        pusher.add(body(1));
        begun.await();
        for (int each : bytes) {
            pusher.add(body(each));
        }
        end.countDown();
    }

    @Test
    void reportsAreSentInTheirOrderAndThenTheThreadEnds() throws Exception {
        addBehindFirst(2, 3);
        awaitEnd();
        assertThat(lengths(transport.attempts)).containsExactly(1L, 2L, 3L);
        assertThat(threads).hasSize(1);
        pusher.add(body(4));
        awaitEnd();
        assertThat(threads).hasSize(2);
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(4, 0, 0, 0, 0, 0, 0));
        assertThat(log).isEmpty();
    }

    @Test
    void nothingIsLostWhileThePeerIsAway() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = transport.thenHangUntil(end);
        for (int i = 0; i < 7; i++) {
            transport.thenUnreachable();
        }
        pusher.add(body(1));
        begun.await();
        pusher.add(body(2));
        pusher.add(body(3));
        end.countDown();
        awaitEnd();

        assertThat(lengths(transport.attempts)).containsExactly(1L, 2L, 2L, 2L, 2L, 2L, 2L, 2L, 2L, 3L);
        assertThat(clock.waits).containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(3, 7, 0, 0, 0, 0, 0));
        assertThat(log)
                .containsExactly(
                        "WARNING a report cannot be sent to http://peer/path now: java.net.ConnectException: refused; it"
                                + " waits, and so do those that follow, up to 1000 bytes",
                        "INFO reports are sent to http://peer/path again, after 7 failed attempts");
    }

    @Test
    void aWaitIsShortenedAtRandom() {
        clock.random = 0.5;
        transport.thenUnreachable().thenUnreachable();
        pusher.add(body(1));
        awaitEnd();
        assertThat(clock.waits).containsExactly(750L, 1_500L);
    }

    @Test
    void retryAfterMakesAWaitLonger() {
        transport.then(() -> new Transport.Answer(503, "7", ""));
        transport.then(() -> new Transport.Answer(429, "1", ""));
        pusher.add(body(1));
        awaitEnd();
        assertThat(clock.waits).containsExactly(7_000L, 2_000L);
        assertThat(pusher.counts().sent()).isEqualTo(1);
    }

    @Test
    void aReportThatThePeerRefusesIsNotSentAgain() throws Exception {
        transport.thenStatus(200).thenStatus(400).thenStatus(302).thenStatus(500);
        for (int i = 1; i <= 5; i++) {
            pusher.add(body(i));
            awaitEnd();
        }
        assertThat(lengths(transport.attempts)).containsExactly(1L, 2L, 3L, 4L, 5L);
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(2, 0, 3, 0, 0, 0, 0));
        assertThat(log).containsExactly("WARNING http://peer/path refused a report: 400 because");
        clock.pass(600_000);
        transport.thenStatus(413);
        pusher.add(body(6));
        awaitEnd();
        assertThat(log).last().isEqualTo("WARNING http://peer/path refused a report: 413 because");
    }

    @Test
    void aReportOfWhichAPartWasRejectedCountsAsRefused() {
        transport.then(() -> new Transport.Answer(200, null, "no room", 2));
        pusher.add(body(1));
        awaitEnd();
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(0, 0, 1, 0, 0, 0, 0));
        assertThat(log).containsExactly("WARNING http://peer/path refused a report: 200 no room");
    }

    @Test
    void anythingElseThatFailsIsNoReasonToLoseAReport() {
        transport
                .then(() -> {
                    throw new IllegalStateException("broken");
                })
                .then(() -> {
                    throw new OutOfMemoryError("broken too");
                });
        pusher.add(body(1));
        awaitEnd();
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(1, 2, 0, 0, 0, 0, 0));
    }

    @Test
    void aThreadThatDiesIsFollowedByAnother() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = transport.thenHangUntil(end);
        transport.then(() -> {
            throw new OutOfMemoryError("for a test");
        });
        pusher.add(body(1));
        begun.await();
        threads.get(0).setUncaughtExceptionHandler((thread, expected) -> {});
        pusher.add(body(2));
        pusher.add(body(3));
        end.countDown();
        threads.get(0).join();
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(1, 1, 0, 0, 1, 1, 3));
        pusher.add(body(4));
        awaitEnd();
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(3, 1, 0, 0, 1, 0, 0));
    }

    /** A report is never in two figures or in none, not even while the sending thread dies. */
    @Test
    void aReportIsInOneFigureAtAnyTime() throws Exception {
        transport.thenUnreachable();
        pusher.add(body(1));
        awaitEnd();
        transport.then(() -> new Transport.Answer(400, null, "for a test"));
        Pusher.Counts sentAndRefused = new Pusher.Counts(1, 1, 1, 0, 0, 0, 0);
        pusher.add(body(1));
        threads.get(1).setUncaughtExceptionHandler((thread, expected) -> {});
        threads.get(1).join();
        assertThat(pusher.counts()).isEqualTo(sentAndRefused);
        assertThat(countsAtMessages)
                .containsExactly(
                        new Pusher.Counts(0, 1, 0, 0, 0, 1, 1), new Pusher.Counts(1, 1, 0, 0, 0, 0, 0), sentAndRefused);
    }

    @Test
    void aPeerThatComesAndGoesIsLoggedOnce() {
        for (int i = 0; i < 3; i++) {
            transport.thenUnreachable();
            pusher.add(body(1));
            awaitEnd();
        }
        assertThat(log).hasSize(2);
        assertThat(pusher.counts().sent()).isEqualTo(3);
    }

    @Test
    void reportsThatFollowAreNotSpread() throws Exception {
        limits = new Pusher.Limits(LIMIT_BYTES, 1_000, 4_000);
        clock.random = 0.5;
        addBehindFirst(2, 3);
        awaitEnd();
        assertThat(clock.waits).containsExactly(2_000L);
    }

    @Test
    void pastTheLimitTheOldestAreDropped() throws Exception {
        addBehindFirst(400, 500, 300, 999, 1_001);
        awaitEnd();
        assertThat(lengths(transport.attempts)).containsExactly(1L, 999L);
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(2, 0, 0, 4, 0, 0, 0));
        assertThat(log)
                .containsExactly(
                        "WARNING 1 reports for http://peer/path were dropped, because more than 1000 bytes wait"
                                + " for it; getDropped() counts them");
    }

    @Test
    void reportsAreSpread() {
        limits = new Pusher.Limits(LIMIT_BYTES, 1_000, 4_000);
        clock.random = 0.25;
        pusher.add(body(1));
        awaitEnd();
        assertThat(clock.waits).containsExactly(1_000L);
    }

    @Test
    void closingSendsWhatWaitsWithoutLongWaits() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        CountDownLatch begun = transport.thenHangUntil(end);
        transport.then(() -> new Transport.Answer(503, "200", ""));
        limits = new Pusher.Limits(LIMIT_BYTES, 1_000, 100_000);
        pusher.add(body(1));
        begun.await();
        pusher.add(body(2));
        clock.waits.clear();
        Thread closer = new Thread(() -> pusher.close(60_000), "closes");
        closer.start();
        patiently().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        end.countDown();
        closer.join();
        assertThat(clock.waits).containsExactly(500L);
        assertThat(pusher.counts()).isEqualTo(new Pusher.Counts(2, 1, 0, 0, 0, 0, 0));
        assertThat(transport.closed).isEqualTo(1);
    }

    /** The clock stands still, so the interrupted thread has its second to count the report that it was sending. */
    @Test
    void reportsThatAreLeftAfterClosingAreCounted() throws Exception {
        CountDownLatch begun = transport.thenHangUntil(new CountDownLatch(1));
        pusher.add(body(1));
        begun.await();
        pusher.add(body(2));
        pusher.add(body(3));
        Thread.currentThread().interrupt();
        assertThat(pusher.close(0)).as("with the one that was on its way").isEqualTo(3);
        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        patiently().until(() -> threads.stream().noneMatch(Thread::isAlive));
        assertThat(pusher.counts().unsent())
                .as("with the one that was on its way")
                .isEqualTo(3);
        assertThat(pusher.counts().waiting()).isZero();
        pusher.add(body(4));
        patiently().until(() -> pusher.counts().sent() == 1);
    }

    @Test
    void closingWithoutAReportDoesNothing() {
        assertThat(pusher.close(60_000)).isZero();
        assertThat(threads).isEmpty();
        assertThat(transport.closed).as("none was made").isZero();
    }
}
