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
 * Sends reports one after the other, oldest first, and each until the peer has taken or refused it. A thread does that
 * which starts with the first report and ends when none is left, so there is no thread while there is nothing to send.
 *
 * <p>Threads: any.
 */
public final class Pusher {

    /** The peer may take the report later: too many requests, bad gateway, unavailable, gateway timeout. */
    private static final Set<Integer> LATER = Set.of(429, 502, 503, 504);

    private static final int SUCCESS = 200;
    private static final int REDIRECTION = 300;

    private static final long CLOSING_WAIT_MILLIS = 500; // between two attempts while close() waits
    private static final long GRACE_MILLIS = 1_000; // for the thread, once it was interrupted
    private static final long QUIET_MILLIS = 600_000; // between two messages of one kind

    private final Supplier<Transport> transports;
    private final PushClock clock;
    private final ThreadFactory threads;
    private final PushLog log;
    private final Supplier<PushLimits> limits;

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

    /* Of the thread that sends; there is one at a time. */
    private long failures; // since a report was sent or refused
    private boolean hasLoggedFailure;
    private final Quiet failureMessages = new Quiet();
    private final Quiet refusalMessages = new Quiet();
    private final Quiet dropMessages = new Quiet(); // guarded by lock

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
     * Sends nothing yet.
     *
     * @param transports makes the way, on the thread that sends; called again if it fails
     * @param clock time and chance
     * @param threads makes the thread that sends; a daemon
     * @param log receives messages
     * @param limits read for each report and attempt
     */
    public Pusher(
            Supplier<Transport> transports,
            PushClock clock,
            ThreadFactory threads,
            PushLog log,
            Supplier<PushLimits> limits) {
        this.transports = transports;
        this.clock = clock;
        this.threads = threads;
        this.log = log;
        this.limits = limits;
    }

    /**
     * Adds a report to those that wait.
     *
     * @param body the report
     */
    public void add(PushBody body) {
        PushLimits now = limits.get();
        int lost;
        boolean isWorthAMessage;
        synchronized (lock) {
            closing = false;
            lost = queue.add(body, now.queueBytes());
            dropped += lost;
            isWorthAMessage = lost > 0 && dropMessages.passes(clock.millis());
            if (thread == null && queue.size() > 0) {
                Thread started = threads.newThread(this::run);
                started.start(); // may fail: then the next report tries again
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

    /**
     * What has become of the reports. Each is in one of the figures, also while it is being sent.
     *
     * @return a consistent copy
     */
    public PushCounts counts() {
        synchronized (lock) {
            return new PushCounts(sent, retries, refused, dropped, unsent, queue.size(), queue.bytes());
        }
    }

    /**
     * Sends what waits, for as long as that is allowed, and forgets the rest. An interrupt does not shorten it, and is
     * there afterwards.
     *
     * @param millis the limit
     * @return how many reports were forgotten
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
                late.interrupt(); // it counts the report that it has
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

    /* Called with the lock. @return true: the caller was interrupted */
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

    // ---- the thread that sends ----

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

    /* After an OutOfMemoryError outside of an attempt. The next report starts another thread. */
    private void abandon() {
        synchronized (lock) {
            unsent += queue.done();
            thread = null;
            lock.notifyAll();
        }
    }

    /* Null: this thread ends; add() starts another one from now on. */
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

    /* @return true: it is done with, sent or refused; false: a wait was made */
    private boolean attempt(PushBody body) {
        Answer answer = null;
        String problem;
        try {
            answer = transport().send(body, limits.get().timeoutMillis());
            problem = answer.status() + (answer.text().isEmpty() ? "" : " " + answer.text());
        } catch (InterruptedException e) {
            problem = "interrupted";
        } catch (IOException | RuntimeException | Error e) { // the report stays, whatever has happened
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

    /* While close() waits, closingMillis at most. */
    private void pause(long millis, long closingMillis) {
        synchronized (lock) {
            long begin = clock.millis();
            try {
                for (long left = millis(millis, closingMillis, begin); left > 0; ) {
                    clock.await(lock, left);
                    left = begin + millis(millis, closingMillis, begin) - clock.millis();
                }
            } catch (InterruptedException e) {
                // by close(), which has no more time
            }
        }
    }

    /* Called with the lock. */
    private long millis(long wanted, long closingMillis, long begin) {
        return closing ? Math.min(wanted, Math.min(closingMillis, closeAt - begin)) : wanted;
    }

    /* close() has no more time. */
    private boolean isOver() {
        synchronized (lock) {
            return closing && clock.millis() >= closeAt;
        }
    }

    /* Without a password. */
    private static String shown(PushBody body) {
        return Endpoint.shown(body.uri());
    }
}
