// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.internal.engine;

/**
 * Starts samplers that other code closes when the JVM exits, such as a framework with its own shutdown hook. They get
 * no shutdown hook, because it would end them while the framework still shuts down the sampled application.
 *
 * <p>Threads: any.
 */
public final class ExitOwner {

    private static final ThreadLocal<Boolean> STARTING = new ThreadLocal<>();

    private ExitOwner() {}

    /**
     * Runs code that starts samplers in the calling thread. They get no shutdown hook, also when they are started
     * again.
     */
    public static void start(Runnable init) {
        STARTING.set(true);
        try {
            init.run();
        } finally {
            STARTING.remove();
        }
    }

    /** @return true if the calling thread is in {@link #start} */
    static boolean isStarting() {
        return STARTING.get() != null;
    }
}
