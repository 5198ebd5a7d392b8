// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Starts samplers that other code closes when the JVM exits, such as a framework with a shutdown hook of its own. They
 * have no hook: it would end them while the framework still ends what they sample.
 *
 * <p>Threads: any.
 */
public final class ExitOwner {

    private static final ThreadLocal<Boolean> STARTING = new ThreadLocal<>();

    private ExitOwner() {}

    /**
     * Does something that starts samplers in the calling thread. They have no hook from then on, also where they are
     * started again.
     *
     * @param init the start
     */
    public static void start(Runnable init) {
        STARTING.set(true);
        try {
            init.run();
        } finally {
            STARTING.remove();
        }
    }

    /** @return true: the calling thread is in {@link #start} */
    static boolean isStarting() {
        return STARTING.get() != null;
    }
}
