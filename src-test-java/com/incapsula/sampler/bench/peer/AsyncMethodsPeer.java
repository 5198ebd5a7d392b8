// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.io.IOException;
import one.profiler.AsyncProfiler;

/** async-profiler's method events: a stack at the entry of chosen methods, at each call or at some. */
public final class AsyncMethodsPeer {

    private final String event;
    private final long interval;

    /**
     * Prepares one.
     *
     * @param event {@code class.method}, each may end with *
     * @param interval a stack of each so many calls
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
     * How many stacks it has taken.
     *
     * @return since the start
     */
    public long stacks() {
        return AsyncProfiler.getInstance().getSamples();
    }

    /**
     * Carries out a command of async-profiler's.
     *
     * @param command as its agent takes it
     */
    public static void execute(String command) throws IOException {
        AsyncProfiler.getInstance().execute(command);
    }

    /** Ends. */
    public void stop() {
        AsyncProfiler.getInstance().stop();
    }
}
