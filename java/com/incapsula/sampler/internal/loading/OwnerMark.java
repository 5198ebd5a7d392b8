// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.loading;

import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * A system property that says which copy of the library samples this JVM. All class loaders see it. Two copies that
 * sampled at the same time would each have their threads, their handlers and their JVMTI events.
 *
 * <p>A copy has the mark from the start of its first sampler to the end of its last one. Until then another copy is
 * refused; afterwards the next one may sample, whether the first copy's class loader was collected or not.
 *
 * <p>Threads: any.
 */
final class OwnerMark {

    static final String PROPERTY = "com.incapsula.sampler.owner";

    /** Stands in the mark where the JVM loaded the library itself. */
    static final String AGENT = "-agentpath";

    /* Set for good: the JVM's own copy of the library serves the classes of one class loader. */
    private static final String AGENT_PROPERTY = "com.incapsula.sampler.agentOwner";

    private final Properties properties;
    private int sessions; // of this copy; guarded by lock()

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

    /** @return why this copy must not sample now, or null */
    @Nullable
    UnsupportedOperationException refusal() {
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
     * A sampler of this copy starts.
     *
     * @param library the copy's file, or {@link #AGENT}
     * @throws UnsupportedOperationException if another copy samples
     */
    void open(String library) {
        synchronized (lock()) {
            UnsupportedOperationException refusal = refusal();
            if (refusal != null) {
                throw refusal;
            }
            sessions++;
            properties.setProperty(PROPERTY, library);
        }
    }

    /** A sampler that was opened has ended. */
    void close() {
        synchronized (lock()) {
            sessions--;
            if (sessions == 0) {
                properties.remove(PROPERTY);
            }
        }
    }

    /**
     * The library is the one the JVM loaded itself.
     *
     * @throws UnsupportedOperationException if the classes of another class loader have it
     */
    void claimAgent() {
        synchronized (lock()) {
            if (properties.getProperty(AGENT_PROPERTY) != null) {
                throw new UnsupportedOperationException("the library loaded by -agentpath serves the copy of"
                        + " threads-sampler in another class loader: keep one copy, in a class loader that all its"
                        + " users share");
            }
            properties.setProperty(AGENT_PROPERTY, AGENT);
        }
    }
}
