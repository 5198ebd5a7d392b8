// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.remote;

import com.incapsula.sampler.internal.remote.Transport.Answer;
import java.io.IOException;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sends reports one after the other, oldest first, and repeats each until the peer has taken or refused it. The sending
 * thread starts with the first report and ends when none is left.
 *
 * <p>Threads: any.
 */
public final class Pusher {

    /** The peer may take the report later: too many requests, bad gateway, unavailable, gateway timeout. */
    private static final Set<Integer> LATER = Set.of(429, 502, 503, 504);

    private static final int SUCCESS = 200;
    private static final int REDIRECTION = 300;

    private static final long CLOSING_WAIT_MILLIS = 500; // between two attempts while close() waits
    private static final long GRACE_MILLIS = 1_000; // for the thread to end after an interrupt
    private static final long QUIET_MILLIS = 600_000; // between two messages of one kind

    private final Supplier<Transport> transports;
    private final PushClock clock;
    private final ThreadFactory threads;
    private final Log log;
    private final Supplier<Limits> limits;

    private final Object lock = new Object();

    /* All guarded by lock. */
    private final PushQueue queue = new PushQueue();
    private @Nullable Thread thread;
    private @Nullable Transport transport;
    private boolean closing;
    private long closeAt;
    private long sent;
    private long retries;
    private long refused;
    private long dropped;
    private long unsent;

    /* Used by the sending thread only; there is one at a time. */
    private long failures; // since a report was sent or refused
    private boolean hasLoggedFailure;
    private final Quiet failureMessages = new Quiet();
    private final Quiet refusalMessages = new Quiet();
    private final Quiet dropMessages = new Quiet(); // guarded by lock

    /** Receives messages. Threads: any. */
    @FunctionalInterface
    public interface Log {

        /** Logs a message of one line; must not throw. */
        void log(System.Logger.Level level, String text);
    }

    /** Lets a message pass once in a while. */
    private static final class Quiet {

        private boolean hasPassed;
        private long passedAt;

        boolean passes(long now) {
            if (hasPassed && now - passedAt < QUIET_MILLIS) {
                return false;
            }
            hasPassed = true;
            passedAt = now;
            return true;
        }
    }

    /**
     * Creates a pusher without a thread.
     *
     * @param transports makes the transport, on the sending thread; called again if it fails
     * @param clock time and random numbers
     * @param threads makes the sending thread, a daemon
     * @param log receives messages
     * @param limits read for each report and attempt
     */
    public Pusher(
            Supplier<Transport> transports, PushClock clock, ThreadFactory threads, Log log, Supplier<Limits> limits) {
        this.transports = transports;
        this.clock = clock;
        this.threads = threads;
        this.log = log;
        this.limits = limits;
    }

    /** Adds a report to the queue. */
    public void add(PushBody body) {
        Limits now = limits.get();
        int lost;
        boolean isWorthAMessage;
        synchronized (lock) {
            closing = false;
            lost = queue.add(body, now.queueBytes());
            dropped += lost;
            isWorthAMessage = lost > 0 && dropMessages.passes(clock.millis());
            if (thread == null && queue.size() > 0) {
                Thread started = threads.newThread(this::run);
                started.start(); // if this fails, the next report tries again
                thread = started;
            }
        }
        if (isWorthAMessage) {
            log.log(
                    System.Logger.Level.WARNING,
                    lost + " reports for " + shown(body) + " were dropped, because more than " + now.queueBytes()
                            + " bytes wait for it; getDropped() counts them");
        }
    }

    /** {@return a consistent copy of the counts} Each report is counted once, also while it is being sent. */
    public Counts counts() {
        synchronized (lock) {
            return new Counts(sent, retries, refused, dropped, unsent, queue.size(), queue.bytes());
        }
    }

    /**
     * Sends waiting reports for a limited time, and forgets the rest. An interrupt does not shorten this; the interrupt
     * flag is set again afterwards.
     *
     * @param millis the limit
     * @return the number of forgotten reports
     */
    public long close(long millis) {
        boolean interrupted;
        long forgotten;
        Transport used;
        synchronized (lock) {
            long before = unsent;
            closing = true;
            closeAt = clock.millis() + millis;
            lock.notifyAll();
            interrupted = awaitThread(closeAt);
            unsent += queue.clear();
            Thread late = thread;
            if (late != null) {
                late.interrupt(); // the thread counts its own report
                interrupted |= awaitThread(closeAt + GRACE_MILLIS);
            }
            forgotten = unsent - before;
            used = transport;
        }
        if (used != null) {
            used.close();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return forgotten;
    }

    /* Lock held. Returns true if the caller was interrupted. */
    private boolean awaitThread(long until) {
        boolean interrupted = false;
        for (long left = until - clock.millis(); thread != null && left > 0; left = until - clock.millis()) {
            try {
                clock.await(lock, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        return interrupted;
    }

    // ---- the sending thread ----

    private void run() {
        boolean hasEnded = false;
        try {
            pause(Math.round(limits.get().spreadMillis() * clock.random()), 0);
            for (PushBody body = next(); body != null; body = next()) {
                deliver(body);
            }
            hasEnded = true;
        } finally {
            if (!hasEnded) {
                abandon();
            }
        }
    }

    /* After an OutOfMemoryError outside an attempt. The next report starts another thread. */
    private void abandon() {
        synchronized (lock) {
            unsent += queue.done();
            thread = null;
            lock.notifyAll();
        }
    }

    /* Returns null if this thread is to end; from now on add() starts another one. */
    private @Nullable PushBody next() {
        synchronized (lock) {
            PushBody body = queue.take();
            if (body == null) {
                thread = null;
                lock.notifyAll();
            }
            return body;
        }
    }

    private void deliver(PushBody body) {
        while (!attempt(body)) {
            if (isOver()) {
                synchronized (lock) {
                    unsent += queue.done();
                }
                return;
            }
        }
    }

    /* Returns true if the report was sent or refused, false after a wait. */
    private boolean attempt(PushBody body) {
        Answer answer = null;
        String problem;
        try {
            answer = transport().send(body, limits.get().timeoutMillis());
            problem = answer.status() + (answer.text().isEmpty() ? "" : " " + answer.text());
        } catch (InterruptedException e) {
            problem = "interrupted";
        } catch (IOException | RuntimeException | Error e) { // the report stays in the queue in all cases
            problem = e.toString();
        }
        if (answer == null || LATER.contains(answer.status())) {
            retryLater(body, problem, answer == null ? null : answer.retryAfter());
            return false;
        }
        if (answer.status() >= SUCCESS && answer.status() < REDIRECTION && answer.rejected() == 0) {
            succeed(body);
        } else {
            refuse(body, problem);
        }
        return true;
    }

    private Transport transport() {
        synchronized (lock) {
            Transport used = transport;
            if (used == null) {
                used = transports.get();
                transport = used;
            }
            return used;
        }
    }

    private void succeed(PushBody body) {
        synchronized (lock) {
            sent += queue.done();
        }
        long before = failures;
        failures = 0;
        if (hasLoggedFailure) {
            hasLoggedFailure = false;
            log.log(
                    System.Logger.Level.INFO,
                    "reports are sent to " + shown(body) + " again, after " + before + " failed attempts");
        }
    }

    private void refuse(PushBody body, String problem) {
        failures = 0;
        synchronized (lock) {
            refused += queue.done();
        }
        if (refusalMessages.passes(clock.millis())) {
            log.log(System.Logger.Level.WARNING, shown(body) + " refused a report: " + problem);
        }
    }

    private void retryLater(PushBody body, String problem, @Nullable String retryAfter) {
        failures++;
        synchronized (lock) {
            retries++;
        }
        if (failureMessages.passes(clock.millis())) {
            hasLoggedFailure = true;
            log.log(
                    System.Logger.Level.WARNING,
                    "a report cannot be sent to " + shown(body) + " now: " + problem
                            + "; it waits, and so do those that follow, up to "
                            + limits.get().queueBytes() + " bytes");
        }
        int counted = (int) Math.min(failures, Integer.MAX_VALUE);
        pause(Backoff.millis(counted, clock.random(), retryAfter, Instant.now()), CLOSING_WAIT_MILLIS);
    }

    /* While close() waits, at most closingMillis. */
    private void pause(long millis, long closingMillis) {
        synchronized (lock) {
            long begin = clock.millis();
            try {
                for (long left = millis(millis, closingMillis, begin); left > 0; ) {
                    clock.await(lock, left);
                    left = begin + millis(millis, closingMillis, begin) - clock.millis();
                }
            } catch (InterruptedException e) {
                // close() has no more time
            }
        }
    }

    /* Lock held. */
    private long millis(long wanted, long closingMillis, long begin) {
        return closing ? Math.min(wanted, Math.min(closingMillis, closeAt - begin)) : wanted;
    }

    /* close() has no more time. */
    private boolean isOver() {
        synchronized (lock) {
            return closing && clock.millis() >= closeAt;
        }
    }

    /* The address without a password. */
    private static String shown(PushBody body) {
        return Endpoint.shown(body.uri());
    }

    /**
     * Limits of a pusher.
     *
     * @param queueBytes limit of all waiting reports
     * @param timeoutMillis limit of one attempt
     * @param spreadMillis maximum of the random wait before a report's first attempt
     */
    public record Limits(long queueBytes, long timeoutMillis, long spreadMillis) {}

    /**
     * The counts of a pusher. Each added report is counted once in {@code sent}, {@code refused}, {@code dropped},
     * {@code unsent} or {@code waiting}.
     *
     * @param sent reports that the peer has taken
     * @param retries failed attempts after which the report waited to be sent again
     * @param refused reports that the peer refused as a whole or in part
     * @param dropped the oldest reports, dropped because of the limit of bytes
     * @param unsent reports that still waited when the time of {@code close()} was over
     * @param waiting reports that wait now
     * @param waitingBytes the size of these
     */
    public record Counts(
            long sent, long retries, long refused, long dropped, long unsent, long waiting, long waitingBytes) {}
}
