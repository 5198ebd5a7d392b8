// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.io.IOException;
import one.profiler.AsyncProfiler;

/** async-profiler's method events: a stack at the entry of chosen methods, for each call or for every n-th one. */
public final class AsyncMethodsPeer {

    private final String event;
    private final long interval;

    /**
     * Creates one.
     *
     * @param event {@code class.method}, each may end with *
     * @param interval one stack for this many calls
     */
    public AsyncMethodsPeer(String event, long interval) {
        this.event = event;
        this.interval = interval;
    }

    /** Starts. */
    public void start() throws Exception {
        AsyncProfiler.getInstance().execute("start,event=" + event + ",interval=" + interval);
    }

    /**
     * The number of stacks taken.
     *
     * @return since the start
     */
    public long stacks() {
        return AsyncProfiler.getInstance().getSamples();
    }

    /**
     * Executes a command of async-profiler.
     *
     * @param command in the form that its agent takes
     */
    public static void execute(String command) throws IOException {
        AsyncProfiler.getInstance().execute(command);
    }

    /** Ends. */
    public void stop() {
        AsyncProfiler.getInstance().stop();
    }
}
