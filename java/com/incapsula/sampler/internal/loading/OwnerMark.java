// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A system property that says which copy of the library samples this JVM. All class loaders see it. Two copies that
 * sampled at the same time would each have their threads, their handlers and their JVMTI events.
 *
 * <p>A copy has the mark from the start of its first sampler to the end of its last one. Until then another copy is
 * refused; afterwards the next one may sample, whether the first copy's class loader was collected or not. A copy that
 * samples for an agent gives way: it knows nothing of the application, which may bring a copy of its own.
 *
 * <p>Threads: any.
 */
final class OwnerMark {

    static final String PROPERTY = "com.incapsula.sampler.owner";

    /** Stands in the mark where the JVM loaded the library itself. */
    static final String AGENT = "-agentpath";

    /* Set for good: the copy of the library that the JVM loads as an agent serves the classes of one class loader. */
    private static final String AGENT_PROPERTY = "com.incapsula.sampler.agentOwner";

    /* Set while the owner gives way, and while another copy waits for that. */
    private static final String YIELDS_PROPERTY = "com.incapsula.sampler.ownerYields";
    private static final String WANTED_PROPERTY = "com.incapsula.sampler.ownerWanted";

    private static final long YIELD_NANOS = 5_000_000_000L; // for an agent's last report

    private final Properties properties;
    private int sessions; // of this copy; guarded by lock()
    private int yielding; // threads in awaitRival(): an old one may still be there; guarded by lock()

    /**
     * Marks in these properties.
     *
     * @param properties the system properties
     */
    OwnerMark(Properties properties) {
        this.properties = properties;
    }

    /** @return a string constant, which is the same object in all class loaders: a lock for the whole JVM */
    static Object lock() {
        return PROPERTY;
    }

    /** @return why this copy must not sample now, or null: there is no other one, or it gives way */
    @Nullable
    UnsupportedOperationException refusal() {
        synchronized (lock()) {
            return properties.getProperty(YIELDS_PROPERTY) != null ? null : finalRefusal();
        }
    }

    private @Nullable UnsupportedOperationException finalRefusal() {
        synchronized (lock()) {
            String other = properties.getProperty(PROPERTY);
            return sessions > 0 || other == null
                    ? null
                    : new UnsupportedOperationException("another copy of"
                            + " threads-sampler runs in this JVM, in another class loader, from " + other
                            + ": keep one copy,"
                            + " in a class loader that all its users share, or close the samplers of that one first");
        }
    }

    /**
     * A sampler of this copy starts. Waits up to five seconds for a copy that gives way.
     *
     * @param library the copy's file, or {@link #AGENT}
     * @throws UnsupportedOperationException if another copy samples
     */
    void open(String library) {
        synchronized (lock()) {
            if (sessions == 0 && properties.getProperty(YIELDS_PROPERTY) != null) {
                awaitYield(library);
            }
            UnsupportedOperationException refusal = finalRefusal();
            if (refusal != null) {
                throw refusal;
            }
            sessions++;
            properties.setProperty(PROPERTY, library);
            showYielding();
        }
    }

    /* An interrupt does not end the waiting: an interrupted thread starts a sampler as any other. */
    private void awaitYield(String library) {
        properties.setProperty(WANTED_PROPERTY, library);
        long end = System.nanoTime() + YIELD_NANOS;
        boolean interrupted = false;
        synchronized (lock()) {
            lock().notifyAll();
            for (long left = YIELD_NANOS;
                    left > 0 && properties.getProperty(PROPERTY) != null;
                    left = end - System.nanoTime()) {
                try {
                    TimeUnit.NANOSECONDS.timedWait(lock(), left);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            properties.remove(WANTED_PROPERTY);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Gives way from now on: waits until another copy wants to sample. The caller then ends its sampler. A copy with more
     * samplers than one does not give way.
     *
     * @param ready called when it gives way
     * @return false: the last sampler of this copy has ended before
     */
    boolean awaitRival(Runnable ready) throws InterruptedException {
        synchronized (lock()) {
            yielding++;
            showYielding();
            ready.run();
            try {
                while (sessions > 0 && properties.getProperty(WANTED_PROPERTY) == null) {
                    lock().wait();
                }
                return sessions > 0;
            } finally {
                yielding--;
                showYielding();
            }
        }
    }

    /* The lock is held. Without a sampler the mark is another copy's. */
    private void showYielding() {
        if (yielding > 0 && sessions == 1) {
            properties.setProperty(YIELDS_PROPERTY, "true");
        } else if (sessions > 0) {
            properties.remove(YIELDS_PROPERTY);
        }
    }

    /** A sampler that was opened has ended. */
    void close() {
        synchronized (lock()) {
            sessions--;
            if (sessions == 0) {
                properties.remove(PROPERTY);
                properties.remove(YIELDS_PROPERTY);
            }
            showYielding();
            lock().notifyAll();
        }
    }

    /** @return true: the library that the JVM loaded itself serves the classes of a class loader */
    boolean isAgentClaimed() {
        return properties.getProperty(AGENT_PROPERTY) != null;
    }

    /** The library that the JVM loaded itself, or is going to, serves this copy from now on. */
    void claimAgent() {
        properties.setProperty(AGENT_PROPERTY, AGENT);
    }
}
