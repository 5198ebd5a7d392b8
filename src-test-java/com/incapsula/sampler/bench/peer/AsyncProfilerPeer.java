// SPDX-License-Identifier: Apache-2.0
package com.incapsula.sampler.bench.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import one.profiler.AsyncProfiler;

/** async-profiler. Weights are numbers of samples. */
public final class AsyncProfilerPeer implements GroupedPeer {

    private final String event;
    private final long intervalMillis;
    private Path file;

    /**
     * Makes a profiler.
     *
     * @param event cpu or wall
     */
    public AsyncProfilerPeer(String event) {
        this(event, 1);
    }

    /**
     * Makes a profiler.
     *
     * @param event cpu or wall
     * @param intervalMillis between two samples of a thread
     */
    public AsyncProfilerPeer(String event, long intervalMillis) {
        this.event = event;
        this.intervalMillis = intervalMillis;
    }

    /**
     * The version in use.
     *
     * @return as the library says
     */
    public static String version() {
        return AsyncProfiler.getInstance().getVersion();
    }

    @Override
    public void start() throws Exception {
        file = Files.createTempFile("bench", ".jfr");
        AsyncProfiler.getInstance()
                .execute("start,event=" + event + ",interval=" + intervalMillis + "ms,jstackdepth=2048,jfr,file="
                        + file);
    }

    @Override
    public Map<String, Profile> stopByGroup(Function<String, String> group) throws Exception {
        AsyncProfiler.getInstance().execute("stop,jfr,file=" + file);
        try {
            return Recordings.read(file, group);
        } finally {
            Files.delete(file);
        }
    }

    /**
     * Starts a mode as its users run it, in order to measure its cost.
     *
     * @param event wall or ctimer, for example
     * @param intervalMillis between two samples of a thread
     */
    public static void start(String event, long intervalMillis) throws Exception {
        AsyncProfiler.getInstance().execute("start,event=" + event + ",interval=" + intervalMillis + "ms");
    }

    /**
     * Stops the running mode.
     *
     * @return its samples
     */
    public static long end() {
        AsyncProfiler.getInstance().stop();
        return AsyncProfiler.getInstance().getSamples();
    }
}
